// Whether the .deb holds what it should, is the same whenever it is built, and treats a machine with respect.
import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathsOf, planOf } from '../../scripts/package/artefacts.ts';
import { buildDeb } from '../../scripts/package/deb.ts';
import { manual } from '../../scripts/package/manual.ts';
import { layOut } from '../../scripts/package/payload.ts';
import { registry } from '../../src/commands/registry.ts';
import { version } from '../../src/version.ts';
import { projectRoot } from '../support/source-files.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { sha256 } from './stand-in-packages.ts';
import { built, planElsewhere, sharedPlan } from './support/built.ts';
import { type Machine, openMachine } from './support/installed.ts';

const configuration = '/etc/scheduled-events-bridge';
const state = '/var/lib/scheduled-events-bridge';
const services = ['scheduled-events-bridge-agent.service', 'scheduled-events-bridge-consumer.service'];
let directory: TemporaryDirectory;
let deb: string;
let contents: string;

const ask = (tool: string, ...words: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(tool, words, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
};

beforeAll(async () => {
  directory = temporaryDirectory();
  deb = await built('deb');
  contents = ask('dpkg-deb', '-c', deb);
});

afterAll(() => directory[Symbol.dispose]());

describe('the package', () => {
  it('says what it is and what it needs', () => {
    expect(basename(deb)).toBe(`scheduled-events-bridge_${version}_amd64.deb`);
    const field = (name: string): string => ask('dpkg-deb', '-f', deb, name).trim();
    expect(field('Package')).toBe('scheduled-events-bridge');
    expect(field('Version')).toBe(version);
    expect(field('Architecture')).toBe('amd64');
    expect(field('Depends')).toMatch(/^libc6 \(>= 2\.28\), .*libstdc\+\+6/);
    expect(Number(field('Installed-Size'))).toBeGreaterThan(100_000);
  });

  it('needs no newer C library than it says', () => {
    const { stdout } = spawnSync('objdump', ['-T', pathsOf(sharedPlan()).executable], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    const versions = [...stdout.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
    expect(versions.length).toBeGreaterThan(100);
    expect(Math.max(...versions)).toBe(28);
  });

  it('holds the program, its units and its papers, each with its owner and its mode', () => {
    const lines = contents.trim().split('\n');
    const found = lines.map((line) => line.split(/\s+/));
    const rights = new Map(found.map(([mode, owner, , , , path]) => [path, `${mode} ${owner}`]));
    expect([...rights.values()].every((right) => right.endsWith(' root/root'))).toBe(true);
    const program = './usr/lib/scheduled-events-bridge/bin/seb';
    expect(rights.get(program)).toBe('-rwxr-xr-x root/root');
    expect(lines.at(-1)).toMatch(/ \.\/usr\/bin\/seb -> \.\.\/lib\/scheduled-events-bridge\/bin\/seb$/);
    expect(rights.get('./etc/scheduled-events-bridge/credentials/')).toBe('drwx------ root/root');
    const others = [...rights].filter(([path]) => path !== program && !path?.includes('/bin/seb'));
    const odd = others.filter(
      ([path, right]) => !right.startsWith(path?.endsWith('/') ? 'drwx' : '-rw-r--r--'),
    );
    expect(odd).toEqual([]);
    const units = readdirSync(join(projectRoot, 'infra/systemd')).filter((name) => name.includes('.'));
    expect(units).toEqual(expect.arrayContaining(services));
    for (const unit of units) expect(rights.has(`./usr/lib/systemd/system/${unit}`)).toBe(true);
  });

  it('ships no live configuration: no file below /etc', () => {
    expect(contents).not.toMatch(/^-.* \.\/etc\//m);
    expect(ask('dpkg-deb', '-I', deb)).not.toContain('conffiles');
  });

  it('carries the time of the newest changelog entry, which is of this version', () => {
    const [, told, date] =
      /^scheduled-events-bridge \((.*)\)[\s\S]*?> {2}(.*)$/m.exec(
        readFileSync(join(projectRoot, 'infra/packages/changelog'), 'utf8'),
      ) ?? [];
    expect(told).toBe(version);
    const day = new Date(date ?? '').toISOString().slice(0, 10);
    const others = contents.split('\n').filter((line) => line !== '' && !line.includes(` ${day} `));
    expect(others).toEqual([]);
  });

  it('is the same byte for byte when it is built again elsewhere', async () => {
    const plan = planElsewhere(directory.path);
    const umask = process.umask(0o077);
    const again = await buildDeb(plan).finally(() => process.umask(umask));
    expect(sha256(again)).toBe(sha256(deb));
  });

  it('gives every file the time of the sources, even where that has yet to come', () => {
    const root = join(directory.path, 'laid-out');
    const bytes = Buffer.from('x');
    const plan = planOf({ epochSeconds: Date.UTC(2040, 0, 1) / 1000 });
    const entries = [
      { path: 'some/file', mode: 0o640, kind: 'file' as const, source: { bytes } },
      { path: 'some/link', mode: 0o777, kind: 'link' as const, source: { target: 'nowhere' } },
    ];
    layOut(entries, root, plan);
    const times = ['', 'some', 'some/file', 'some/link'].map((path) => lstatSync(join(root, path)).mtime);
    expect(times.map((time) => time.getUTCFullYear())).toEqual([2040, 2040, 2040, 2040]);
  });

  it('has a page of the manual that names every command', async () => {
    const page = await manual();
    for (const { name } of registry)
      expect(page).toMatch(new RegExp(`^\\.SS "seb ${name.replaceAll('-', '\\\\-')}`, 'm'));
  });

  it('is as Debian wants it', () => {
    // It leaves files of its own where temporary ones go.
    const env = { ...process.env, TMPDIR: directory.path };
    const { status, stdout } = spawnSync('lintian', ['--no-cfg', '--allow-root', '--fail-on', 'none', deb], {
      encoding: 'utf8',
      env,
      timeout: 110_000,
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });
});

describe('a machine', () => {
  let machine: Machine;
  const install = `dpkg --force-depends -i ${'scheduled-events-bridge_*.deb'}`;
  const dropIn = '/usr/lib/systemd/system/scheduled-events-bridge-agent.service.d/older-systemd.conf';

  beforeAll(async () => {
    machine = await openMachine(directory.path, deb);
  });

  afterAll(() => machine[Symbol.asyncDispose]());

  it('has the program afterwards, and nothing was enabled or started', async () => {
    expect(await machine.run(install)).toContain('nothing was started');
    expect(await machine.asked()).toBe('--system daemon-reload\n');
    expect(await machine.run('seb --version')).toBe(`${version}\n`);
    expect(await machine.run('dpkg --verify scheduled-events-bridge')).toBe('');
    expect(
      await machine.run(`ls -l /etc/systemd/system/multi-user.target.wants | grep -c bridge || true`),
    ).toBe('0\n');
    expect(await machine.run(`stat -c '%a %U' ${configuration}/credentials`)).toBe('700 root\n');
  });

  it('finds examples there that need only their names changed', async () => {
    for (const program of ['agent', 'consumer']) {
      const example = `/usr/share/doc/scheduled-events-bridge/examples/${program}.yaml`;
      const shown = await machine.run(`seb config show --program ${program} -c ${example}`);
      expect(shown).toContain(program === 'agent' ? 'hook.url' : 'trail.db');
    }
  });

  it('goes on running with the new program after an upgrade, without a word more', async () => {
    await machine.run(`touch ${configuration}/agent.yaml`);
    expect(await machine.run(install)).not.toContain('nothing was started');
    const asked = await machine.asked();
    for (const unit of services) expect(asked).toMatch(new RegExp(`^(?:--\\S+ )*try-restart ${unit}$`, 'm'));
    expect(asked).not.toMatch(/\b(enable|start|stop|restart)\b(?<!try-restart)/);
  });

  it('gets the drop-in that an older systemd needs, and loses it with a newer one', async () => {
    const pretend = (systemd: string) =>
      machine.run(`sed -i '/^Package: systemd$/,/^$/s/^Version: .*/Version: ${systemd}/' /var/lib/dpkg/status
        dpkg-reconfigure scheduled-events-bridge 2>/dev/null || ${install}`);
    await pretend('249.11-0ubuntu3');
    expect(await machine.run(`cat ${dropIn}`)).toContain('CREDENTIALS_DIRECTORY');
    await pretend('252.39-1');
    expect(await machine.run(`ls ${dirname(dropIn)} 2>&1 || true`)).toContain('No such file');
  });

  it('keeps outbox and configuration when the package goes, and stops what runs before', async () => {
    await machine.run(`mkdir -p /var/lib/private && chmod 0700 /var/lib/private
      mkdir /var/lib/private${state.slice('/var/lib'.length)} && ln -s private/scheduled-events-bridge ${state}
      mkdir ${state}/notify
      for name in outbox.db outbox.db-wal ballast; do touch ${state}/$name ${state}/notify/$name; done
      touch ${state}/agent.lock ${state}/last-tick ${state}/notify/notify.lock; : > /var/log/asked`);
    await machine.run('dpkg -r scheduled-events-bridge');
    expect(await machine.asked()).toMatch(/stop .*scheduled-events-bridge-agent.service[\s\S]*daemon-reload/);
    expect(await machine.run(`ls ${state} ${configuration}`)).toMatch(/agent\.yaml[\s\S]*outbox\.db/);
    expect((await machine.attempt('ls /usr/lib/scheduled-events-bridge')).exitCode).not.toBe(0);
  });

  it('keeps the trail and what its people wrote even when the package is purged, and nothing else', async () => {
    await machine.run(`touch ${state}/trail.db`);
    expect(await machine.run('dpkg -P scheduled-events-bridge')).toContain('audit trail, and stays');
    expect(await machine.run(`ls ${state}`)).toBe('trail.db\n');
    expect(await machine.run(`ls ${configuration}`)).toBe('agent.yaml\n');
  });

  it('keeps nothing at all where there is nothing to keep', async () => {
    await machine.run(
      `rm ${state}/trail.db ${configuration}/agent.yaml; ${install}; touch ${state}/outbox.db`,
    );
    await machine.run('dpkg -P scheduled-events-bridge');
    const left = await machine.run(
      'find /etc /usr/bin /usr/lib /usr/share /var -xdev -name "*scheduled-events-bridge*"',
    );
    expect(left).toBe('');
  });
});
