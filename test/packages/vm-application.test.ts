// Runs the command lines of the VM Application as the extension of Azure runs them, with real packages.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { runAgentUntil, unheardConfiguration, waiting, waits } from './installed-agent.ts';
import { type Ended, openPrivateMachine, type PrivateMachine } from './private-machine.ts';
import { standInDeb, standInTree, writeSums } from './stand-in-packages.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(project, 'infra/vm-application/README.md'), 'utf8');

/** What the page's table says of a property of the gallery version. */
function said(property: string): string {
  const row = page.split('\n').find((line) => line.includes(`.${property}\` |`)) ?? '';
  const value = /` \| `(.+)` \|$/.exec(row)?.[1];
  if (value === undefined) throw new Error(`the page says nothing of ${property}`);
  return value.replaceAll('\\|', '|');
}

let directory: TemporaryDirectory;

beforeAll(() => {
  directory = temporaryDirectory();
  for (const version of ['1.0.0', '1.1.0']) archive(version);
});
afterAll(() => directory[Symbol.dispose]());

const archivePath = (version: string): string => join(directory.path, `${version}.tar.gz`);

/** As `npm run package -- vmapp` lays it out. */
function archive(version: string): void {
  const folder = join(directory.path, version);
  mkdirSync(folder);
  const deb = standInDeb(folder, standInTree(directory.path, { version }), version);
  writeSums(folder, [deb]);
  const scripts = ['infra/vm-application/manage.sh', 'infra/install.sh'].map((path) => join(project, path));
  for (const path of scripts) copyFileSync(path, join(folder, basename(path)));
  const names = [deb, 'SHA256SUMS', ...scripts.map((path) => basename(path))];
  execFileSync('tar', ['-czf', archivePath(version), '-C', folder, ...names]);
}

type Action = 'install' | 'update' | 'remove';

/**
 * Does what the extension does: downloads into a folder of the version's own, then `/bin/sh -c COMMAND` there; for
 * `remove` nothing is downloaded, and the folder is deleted afterwards.
 */
async function act(
  machine: PrivateMachine,
  action: Action,
  version: string,
  config?: string,
): Promise<Ended> {
  const folder = `/var/lib/waagent/Microsoft.CPlat.Core.VMApplicationManagerLinux/bridge/${version}`;
  const configFile = join(directory.path, 'config');
  if (config !== undefined) writeFileSync(configFile, config);
  const download = [
    `mkdir -p -m 700 ${folder}`,
    `cp ${archivePath(version)} ${folder}/${said('packageFileName')}`,
    ...(config === undefined ? [] : [`cp ${configFile} ${folder}/${said('configFileName')}`]),
  ];
  if (action !== 'remove') await machine.run(download.join('\n'));
  const command = `cd ${folder} && exec /bin/sh -c '${said(`manageActions.${action}`)}'`;
  const ended = await machine.run(command);
  if (action === 'remove') await machine.run(`rm -r ${folder}`);
  return ended;
}

const configuration = `# agent.yaml
sinks: { local: { type: file, path: /var/log/scheduled-events-bridge/events.jsonl } }
`;
const installed = async (machine: PrivateMachine): Promise<string> =>
  (await machine.run('seb --version 2>/dev/null')).stdout.trim();
const inPlace = async (machine: PrivateMachine): Promise<string> =>
  (await machine.run('cat /etc/scheduled-events-bridge/agent.yaml')).stdout;

test('install puts the package and the configuration in place and enables the agent; again it changes nothing', async () => {
  await using machine = await openPrivateMachine(directory.path);
  const first = await act(machine, 'install', '1.0.0', configuration);
  expect(first).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('the agent starts at the next boot'),
  });
  expect(await installed(machine)).toBe('1.0.0');
  expect(await inPlace(machine)).toBe(configuration);
  const enabled = await machine.run('systemctl is-enabled scheduled-events-bridge-agent.service');
  expect(enabled.stdout).toBe('enabled\n');
  const again = await act(machine, 'install', '1.0.0', configuration);
  expect(again.stdout).toMatch(/^scheduled-events-bridge_1\.0\.0_amd64\.deb is installed already\n/);
  expect(again.exitCode).toBe(0);
});

test('without a configuration the package is installed, nothing is enabled, and that is said', async () => {
  await using machine = await openPrivateMachine(directory.path);
  const ended = await act(machine, 'install', '1.0.0');
  expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('nothing will be started') });
  const enabled = await machine.run('systemctl is-enabled scheduled-events-bridge-agent.service');
  expect(enabled.stdout).toBe('disabled\n');
});

test('a configuration with a fault is refused before anything is touched, and Azure hears of a failure', async () => {
  await using machine = await openPrivateMachine(directory.path);
  await act(machine, 'install', '1.0.0', configuration);
  const ended = await act(machine, 'update', '1.1.0', 'sinks: { local: { type: fill } }\n');
  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toMatch(/the agent of .*1\.1\.0_amd64\.deb refuses agent\.yaml; nothing was changed/);
  expect(await installed(machine)).toBe('1.0.0');
  expect(await inPlace(machine)).toBe(configuration);
});

test('update goes forth and back, keeps the configuration where none came along, and keeps the one before a new one', async () => {
  await using machine = await openPrivateMachine(directory.path);
  await act(machine, 'install', '1.0.0', configuration);
  expect((await act(machine, 'update', '1.1.0')).exitCode).toBe(0);
  expect(await installed(machine)).toBe('1.1.0');
  expect(await inPlace(machine)).toBe(configuration);
  const other = `${configuration}log: { level: debug }\n`;
  expect((await act(machine, 'update', '1.0.0', other)).exitCode).toBe(0);
  expect(await installed(machine)).toBe('1.0.0');
  expect(await inPlace(machine)).toBe(other);
  const before = await machine.run('cat /etc/scheduled-events-bridge/agent.yaml.before');
  expect(before.stdout).toBe(configuration);
});

test('what was not delivered survives remove and install, and the configuration with it', async () => {
  await using machine = await openPrivateMachine(directory.path);
  const unreachable = await unheardConfiguration(machine);
  await act(machine, 'install', '1.0.0', unreachable);
  await runAgentUntil(machine, waits);
  const before = await waiting(machine);
  expect(before).toBeGreaterThan(0);
  const removed = await act(machine, 'remove', '1.0.0');
  expect(removed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('are kept') });
  expect(await installed(machine)).toBe('');
  await act(machine, 'install', '1.0.0');
  expect(await waiting(machine)).toBe(before);
  expect(await inPlace(machine)).toBe(unreachable);
  expect((await act(machine, 'remove', '1.0.0')).exitCode).toBe(0);
});

test('remove works after an install that ended before it unpacked anything', async () => {
  await using machine = await openPrivateMachine(directory.path);
  const folder = '/var/lib/waagent/Microsoft.CPlat.Core.VMApplicationManagerLinux/bridge/1.0.0';
  await machine.run(`mkdir -p ${folder} && cp ${archivePath('1.0.0')} ${folder}/${said('packageFileName')}`);
  const ended = await act(machine, 'remove', '1.0.0');
  expect(ended).toMatchObject({ exitCode: 0, stdout: 'scheduled-events-bridge is not installed\n' });
});
