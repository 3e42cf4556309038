// Whether systemd itself can read the units and every drop-in, and how exposed it finds the services.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { dropInNames, lastValueOf, unitFolder, unitNames, wordsOf } from '../infra/unit-file.ts';
import { projectRoot } from '../support/source-files.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { built } from './support/built.ts';
import { startProgram } from './support/program.ts';

const agent = 'scheduled-events-bridge-agent.service';
const consumer = 'scheduled-events-bridge-consumer.service';
const services = [agent, consumer];
const exposureMax = 1.5;

let tree: TemporaryDirectory;

beforeAll(() => {
  tree = temporaryDirectory();
  cpSync('/usr/lib/systemd/system', join(tree.path, 'usr/lib/systemd/system'), { recursive: true });
  for (const name of unitNames())
    copyFileSync(join(unitFolder, name), join(tree.path, 'usr/lib/systemd/system', name));
  const programs = [
    '/usr/lib/scheduled-events-bridge/bin/seb',
    '/bin/kill',
    '/bin/sh',
    '/bin/sleep',
    '/bin/systemctl',
  ];
  for (const path of programs) {
    writeInTree(path, '');
    chmodSync(join(tree.path, path), 0o755);
  }
});

afterAll(() => tree[Symbol.dispose]());

function writeInTree(path: string, text: string): void {
  mkdirSync(dirname(join(tree.path, path)), { recursive: true });
  writeFileSync(join(tree.path, path), text);
}

interface Judged {
  readonly status: number | null;
  readonly output: string;
}

function analyze(...words: readonly string[]): Judged {
  const all = [...words.slice(0, 1), `--root=${tree.path}`, ...words.slice(1)];
  const { status, stdout, stderr } = spawnSync('systemd-analyze', all, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
  });
  return { status, output: `${stdout}${stderr}` };
}

/** Does something with drop-ins of a service in place. */
function withDropIns<Result>(unit: string, names: readonly string[], work: () => Result): Result {
  const folder = join('/etc/systemd/system', `${unit}.d`);
  for (const name of names)
    writeInTree(join(folder, name.replace('drop-ins/', '')), readFileSync(join(unitFolder, name), 'utf8'));
  try {
    return work();
  } finally {
    rmSync(join(tree.path, folder), { recursive: true, force: true });
  }
}

/** How exposed a service is, from 0 to 10. */
function exposureOf(unit: string): number {
  const { output } = analyze('security', '--offline=true', '--no-pager', unit);
  return Number(/Overall exposure level for \S+: ([\d.]+)/.exec(output)?.[1] ?? Number.NaN);
}

/** What systemd complains of; a key of a newer systemd is no fault, because an older one passes over it. */
const complaints = ({ output }: Judged): string[] =>
  output.split('\n').filter((line) => line !== '' && !/Unknown key (name )?'OpenFile'/.test(line));

const setups = [[], ...dropInNames().map((name) => [name])];
const setupsOf = services.flatMap((unit) =>
  setups.map((names) => ({ unit, names, title: names.join(', ') || 'no drop-in' })),
);

describe('systemd', () => {
  it('finds no fault in the units', () => {
    expect(complaints(analyze('verify', '--man=no', ...unitNames()))).toEqual([]);
  });

  it.each(setupsOf)('finds no fault in $unit with $title', ({ unit, names }) => {
    const judged = withDropIns(unit, names, () => analyze('verify', '--man=no', unit));
    expect(complaints(judged)).toEqual([]);
  });

  it('would find one', () => {
    const folder = `/etc/systemd/system/${agent}.d`;
    writeInTree(`${folder}/fault.conf`, '[Service]\nNoNewPrivilege=yes\n');
    const judged = analyze('verify', '--man=no', agent);
    rmSync(join(tree.path, folder), { recursive: true });
    expect(complaints(judged).join()).toContain('NoNewPrivilege');
  });

  it.each(setupsOf)(`finds $unit exposed to at most ${exposureMax} with $title`, ({ unit, names }) => {
    expect(withDropIns(unit, names, () => exposureOf(unit))).toBeLessThanOrEqual(exposureMax);
  });

  it.each(['credentials', 'verify', 'prune'])(
    `finds what %s runs exposed to at most ${exposureMax}`,
    (name) => {
      expect(exposureOf(`scheduled-events-bridge-${name}.service`)).toBeLessThanOrEqual(exposureMax);
    },
  );

  it.each(['verify', 'prune'])('finds no fault in what %s runs where systemd is older', (name) => {
    const unit = `scheduled-events-bridge-${name}.service`;
    const judged = withDropIns(unit, ['drop-ins/older-systemd.conf'], () =>
      analyze('verify', '--man=no', unit),
    );
    expect(complaints(judged)).toEqual([]);
  });

  it('starts a workload after the agent, and so stops it before, where a drop-in says so', () => {
    writeInTree('/usr/lib/systemd/system/app.service', '[Service]\nExecStart=/bin/sleep infinity\n');
    const opposite = '[Unit]\nAfter=app.service\nWants=app.service\n';
    const judged = withDropIns(agent, ['drop-ins/before-workload.conf'], () => {
      // The opposite order besides: if the drop-in orders at all, that is a cycle.
      writeInTree(`/etc/systemd/system/${agent}.d/opposite.conf`, opposite);
      return analyze('verify', '--man=no', agent);
    });
    expect(judged.output).toContain('ordering cycle');
  });
});

describe('the deb', () => {
  it('holds what the units run and let be run', async () => {
    const unpacked = join(tree.path, 'deb');
    const { status } = spawnSync('dpkg-deb', ['--extract', await built('deb'), unpacked]);
    expect(status).toBe(0);
    for (const unit of services) {
      const [program = ''] = wordsOf('ExecStart', unit);
      expect(readdirSync(join(unpacked, dirname(program)))).toContain('seb');
      expect(wordsOf('ExecPaths', unit)).toContain(dirname(program));
    }
    for (const name of unitNames())
      expect(readFileSync(join(unpacked, 'usr/lib/systemd/system', name), 'utf8')).toBe(
        readFileSync(join(unitFolder, name), 'utf8'),
      );
    rmSync(unpacked, { recursive: true });
  });
});

describe('the script that boots machines', () => {
  const script = join(projectRoot, 'infra/test/boot.sh');
  const run = (...command: readonly string[]) => {
    const [program = '', ...words] = command;
    const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' });
    return { status, stdout, stderr };
  };

  it.each([
    [[], 'boot.sh: name the package with --deb FILE; "npm run package -- deb" builds it\n'],
    [['--deb', '/nowhere.deb'], 'boot.sh: /nowhere.deb is not there\n'],
    [['--speed', '9'], 'boot.sh: --speed is no option and no suite (bookworm, trixie, bullseye)\n'],
  ])('says in a sentence what is wrong with %j', (words, stderr) => {
    expect(run(script, ...words)).toEqual({ status: 2, stdout: '', stderr });
  });

  it('says in a sentence that it needs rights, where it has none', () => {
    // A copy, because a user without rights may not see the checkout.
    const copy = join(tree.path, 'boot');
    cpSync(dirname(script), copy, { recursive: true });
    chmodSync(tree.path, 0o755);
    const command = [join(copy, 'boot.sh'), '--deb', '/bin/sh', '--node', '/bin/sh'];
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const { status, stderr } = run(...(process.getuid?.() === 0 ? nobody : []), ...command);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^boot\.sh: (booting a machine needs root|\S+ is missing; on Debian: .+)\n$/);
  });
});

describe('the memory that a unit allows', () => {
  const kibibytesOf = (size = ''): number =>
    Number.parseInt(size, 10) * (size.endsWith('G') ? 1024 : 1) * 1024;

  /** What a process takes of physical memory, KiB. */
  const takenBy = (pid: number): number =>
    Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

  it('is more than the executable takes as an agent and as a consumer, once events have gone through both', async () => {
    const seb = await built('executable');
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    await using hub = await startEventHubsEmulator();
    const { connectionString } = hub;
    const sinks = { fleet: { type: 'eventhubs', connectionString, eventHubName: 'scheduled-events' } };
    const trail = { path: join(directory.path, 'trail.db') };
    const files = {
      agent: { stateDir: join(directory.path, 'state'), imds: { endpoint: imds.url }, sinks },
      consumer: { hub: { connectionString, eventHubName: 'scheduled-events' }, trail },
    };
    for (const [name, settings] of Object.entries(files))
      writeFileSync(join(directory.path, `${name}.yaml`), JSON.stringify(settings));
    const start = (name: string) => startProgram(seb, [name, '-c', join(directory.path, `${name}.yaml`)]);
    await using agentProgram = start('agent');
    await using consumerProgram = start('consumer');
    await until('the agent told of its start', () => hub.events().length > 0, 30_000);
    await until('the consumer reads', () => /reading|hub/.test(consumerProgram.stderr()), 30_000);
    for (const [unit, { pid }] of [[agent, agentProgram] as const, [consumer, consumerProgram] as const]) {
      const [high, max] = [lastValueOf('MemoryHigh', unit), lastValueOf('MemoryMax', unit)].map(kibibytesOf);
      expect(high).toBeGreaterThan(takenBy(pid) * 1.25);
      expect(max).toBeGreaterThan(Number(high));
    }
  });
});
