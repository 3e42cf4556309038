// Runs the commands of docs/upgrade.md as they stand, between two versions of the program, and proves what it says.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { runAgentUntil, unheardConfiguration, waiting, waits } from './installed-agent.ts';
import { type Ended, node, openPrivateMachine, type PrivateMachine } from './private-machine.ts';
import { standInDeb, standInRpm, standInTree, writeSums } from './stand-in-packages.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(project, 'docs/upgrade.md'), 'utf8');
const mark = /<!-- runs in test\/packages\/upgrade\.test\.ts -->\n```sh\n([\s\S]*?)```/g;
const [judge, deb, rpm, byInstaller, ask, setAside, putBack, ...more] = [...page.matchAll(mark)].map(
  ([, block = '']) => block,
);

let directory: TemporaryDirectory;
let packages: string;

beforeAll(() => {
  directory = temporaryDirectory();
  packages = join(directory.path, 'packages');
  mkdirSync(packages);
  const trees = [
    { version: '1.0.0', path: standInTree(directory.path, { version: '1.0.0' }) },
    { version: '1.1.0', path: standInTree(directory.path, { version: '1.1.0', change: nextOutbox }) },
  ];
  const rpms = trees.map(({ version, path }) => standInRpm(packages, path, version));
  const debs = trees.map(({ version, path }) => standInDeb(packages, path, version));
  writeSums(packages, [...rpms, ...debs]);
  copyFileSync(join(project, 'infra/install.sh'), join(packages, 'install.sh'));
});
afterAll(() => directory[Symbol.dispose]());

/** Makes a program whose outbox is of the version after this one's. */
function nextOutbox(source: string): void {
  const path = join(source, 'src/delivery/outbox/schema.ts');
  const before = readFileSync(path, 'utf8');
  const after = before.replace('schemaVersion = 2;', 'schemaVersion = 3;');
  if (after === before)
    throw new Error('the version of the outbox is not where it was, nor is that in docs/upgrade.md');
  writeFileSync(path, after);
}

const state = '/var/lib/scheduled-events-bridge';
const installed = async ({ run }: PrivateMachine): Promise<string> =>
  (await run('seb --version')).stdout.trim();
/** As a person types it, where the packages are. `sudo` is for a person: the tests are root already. */
const type = ({ run }: PrivateMachine, block = ''): Promise<Ended> =>
  run(`set -e; sudo() { "$@"; }; cd ${packages}; PLACE=${packages}\n${block}`);

/** A machine with a configuration, and no program yet. */
async function configured(): Promise<PrivateMachine> {
  const machine = await openPrivateMachine(directory.path);
  const configuration = await unheardConfiguration(machine);
  await machine.run(
    'mkdir -p /etc/scheduled-events-bridge; cat > /etc/scheduled-events-bridge/agent.yaml',
    configuration,
  );
  return machine;
}

test('every command of the page that can be run is run below', () => {
  expect(putBack).toContain('aside-outbox.db');
  expect(more).toEqual([]);
});

test('the packages go forth and back as the page says', async () => {
  await using machine = await configured();
  const steps: readonly [string | undefined, string][] = [
    [deb, '1.0.0'],
    [deb?.split('\n')[0], '1.1.0'],
    [byInstaller, '1.0.0'],
  ];
  await type(machine, 'sh install.sh --from "$PLACE" --version 1.0.0');
  for (const [block, version] of steps) {
    expect((await type(machine, block)).exitCode).toBe(0);
    expect(await installed(machine)).toBe(version);
  }
  expect((await type(machine, judge)).stdout).toContain('stateDir: /var/lib/scheduled-events-bridge');
});

test('and so do the packages of the other kind', async () => {
  await using machine = await configured();
  expect((await type(machine, rpm)).exitCode).toBe(0);
  expect((await machine.run('rpm -q scheduled-events-bridge')).stdout).toContain('1.0.0');
});

test('what waits is kept by an upgrade that changes the outbox, and an older program is kept from it', async () => {
  await using machine = await configured();
  await type(machine, 'sh install.sh --from "$PLACE" --version 1.0.0');
  await runAgentUntil(machine, waits);
  const before = await waiting(machine);
  await type(machine, 'sh install.sh --from "$PLACE" --version 1.1.0');
  await runAgentUntil(machine, waits);
  const after = await waiting(machine);
  expect(before).toBeGreaterThan(0);
  expect(after).toBeGreaterThan(before);

  const asked = await type(machine, ask);
  await machine.run(`rm -r ${packages}/older`); // of root, in a folder that this user shall be able to remove
  expect(asked.stderr).toContain('it is of another version of the program');
  const refused = await type(machine, 'sh install.sh --rollback');
  expect(refused.stderr).toMatch(
    /the agent of version 1\.0\.0 cannot use what version 1\.1\.0 wrote; nothing was changed/,
  );
  expect(await installed(machine)).toBe('1.1.0');

  expect((await type(machine, setAside)).exitCode).toBe(0);
  expect(await installed(machine)).toBe('1.0.0');
  await runAgentUntil(machine, waits);
  expect(await waiting(machine)).toBe(before);
  expect((await type(machine, putBack)).exitCode).toBe(0);
  expect(await installed(machine)).toBe('1.1.0');
  expect(await waiting(machine)).toBe(after);
});

test('forced back, the older agent watches, delivers nothing, leaves the file alone, and says so on every page', async () => {
  await using machine = await configured();
  await type(machine, 'sh install.sh --from "$PLACE" --version 1.1.0');
  await runAgentUntil(machine, waits);
  const content = `node -e 'const { DatabaseSync } = require("node:sqlite");
    const file = new DatabaseSync("${state}/outbox.db", { readOnly: true });
    console.log(JSON.stringify([file.prepare("PRAGMA user_version").get(), file.prepare("SELECT * FROM delivery").all()]))'`.replace(
    'node',
    node,
  );
  const before = (await machine.run(content)).stdout;
  expect(before).toContain('"user_version":3');
  await type(machine, deb?.split('\n')[1]);
  const address = 'http://127.0.0.1:9464';
  const meanwhile = `curl -s --retry 20 --retry-connrefused --retry-delay 1 ${address}/healthz
    curl -s -w ' %{http_code}\\n' ${address}/readyz; curl -s ${address}/metrics`;
  const { stdout, stderr } = await runAgentUntil(
    machine,
    'the outbox was written by a newer version',
    meanwhile,
  );
  expect(stdout).toMatch(/outbox-unwritable[\s\S]* 503\n/);
  expect(stdout).toContain('seb_outbox_fault{fault="unavailable"} 1');
  expect(stderr).toContain('what happens is kept in memory, and nothing is delivered');
  expect(stderr).not.toContain(waits);
  expect((await machine.run(content)).stdout).toBe(before);
});
