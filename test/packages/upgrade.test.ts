// docs/upgrade.md: its commands, run as they stand between two versions of the program, and what it says of the outbox.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
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
  const path = join(source, 'src/agent/outbox/schema.ts');
  const before = readFileSync(path, 'utf8');
  const after = before.replace('schemaVersion = 2;', 'schemaVersion = 3;');
  if (after === before)
    throw new Error('the version of the outbox is not where it was, nor is that in docs/upgrade.md');
  writeFileSync(path, after);
}

const state = '/var/lib/scheduled-events-bridge';
const installed = async ({ run }: PrivateMachine): Promise<string> =>
  (await run('seb --version')).stdout.trim();
const waiting = async ({ run }: PrivateMachine): Promise<number> =>
  Number((await run('seb outbox list -o tsv | grep -c pending')).stdout);
/** As a person types it, where the packages are. `sudo` is for a person: the tests are root already. */
const type = ({ run }: PrivateMachine, block = ''): Promise<Ended> =>
  run(`set -e; sudo() { "$@"; }; cd ${packages}; PLACE=${packages}\n${block}`);

/** A machine with a configured agent, an emulated metadata service, and a receiver that is never there. */
async function configured(): Promise<PrivateMachine> {
  const machine = await openPrivateMachine(directory.path);
  const emulate = [node, join(project, 'src/cli.ts'), 'emulate', 'imds', '--port', '0'];
  const { url } = JSON.parse(await machine.start(emulate)) as { url: string };
  const configuration = `# agent.yaml
imds: { endpoint: "${url}" }
sinks: { hook: { type: webhook, url: "https://127.0.0.1:9/", allowHttp: true, filter: { records: [agent] } } }
status: { listen: "127.0.0.1:9464" }
`;
  await machine.run(
    'mkdir -p /etc/scheduled-events-bridge; cat > /etc/scheduled-events-bridge/agent.yaml',
    configuration,
  );
  return machine;
}

/** Runs the installed agent until `proof` holds, and stops it as systemd does. */
async function runAgentUntil(
  machine: PrivateMachine,
  what: string,
  proof: () => Promise<boolean>,
): Promise<Ended> {
  const agent = machine.run('seb agent & echo $! > /run/agent.pid; wait $!');
  await until(what, proof);
  await machine.run('kill -TERM "$(cat /run/agent.pid)"');
  return agent;
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
  await runAgentUntil(machine, 'a delivery that waits', async () => (await waiting(machine)) > 0);
  const before = await waiting(machine);
  await type(machine, 'sh install.sh --from "$PLACE" --version 1.1.0');
  await runAgentUntil(machine, 'one more', async () => (await waiting(machine)) > before);
  const after = await waiting(machine);

  const asked = await type(machine, ask);
  expect(asked.stderr).toContain('it is of another version of the agent');
  const refused = await type(machine, 'sh install.sh --rollback');
  expect(refused.stderr).toMatch(
    /the agent of version 1\.0\.0 cannot use what version 1\.1\.0 wrote; nothing was changed/,
  );
  expect(await installed(machine)).toBe('1.1.0');

  expect((await type(machine, setAside)).exitCode).toBe(0);
  expect(await installed(machine)).toBe('1.0.0');
  await runAgentUntil(machine, 'a new outbox', async () => (await waiting(machine)) > 0);
  expect((await type(machine, putBack)).exitCode).toBe(0);
  expect(await installed(machine)).toBe('1.1.0');
  expect(await waiting(machine)).toBe(after);
});

test('forced back, the older agent watches, delivers nothing, leaves the file alone, and says so on every page', async () => {
  await using machine = await configured();
  await type(machine, 'sh install.sh --from "$PLACE" --version 1.1.0');
  await runAgentUntil(machine, 'a delivery that waits', async () => (await waiting(machine)) > 0);
  const content = `node -e 'const { DatabaseSync } = require("node:sqlite");
    const file = new DatabaseSync("${state}/outbox.db", { readOnly: true });
    console.log(JSON.stringify([file.prepare("PRAGMA user_version").get(), file.prepare("SELECT * FROM delivery").all()]))'`.replace(
    'node',
    node,
  );
  const before = (await machine.run(content)).stdout;
  expect(before).toContain('"user_version":3');
  await type(machine, deb?.split('\n')[1]);
  const at = (path: string) => machine.run(`curl -s -w ' %{http_code}' http://127.0.0.1:9464${path}`);
  let ready = '';
  let metrics = '';
  const ended = await runAgentUntil(machine, 'the fault', async () => {
    ready = (await at('/readyz')).stdout;
    metrics = (await at('/metrics')).stdout;
    return ready.includes('outbox-unwritable');
  });
  expect(ready).toMatch(/ 503$/);
  expect(metrics).toContain('seb_outbox_fault{fault="unavailable"} 1');
  expect(ended.stderr).toContain('the outbox cannot be used: what happens is kept in memory');
  expect((await machine.run(content)).stdout).toBe(before);
});
