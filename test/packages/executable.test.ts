// Whether the one executable is the whole program, on a machine without Node, and nobody's way into it.
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pathsOf, planOf } from '../../scripts/package/artefacts.ts';
import { buildExecutable } from '../../scripts/package/executable.ts';
import { registry } from '../../src/commands/registry.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { version } from '../../src/version.ts';
import { issueCertificate } from '../support/certificate.ts';
import { recordsIn } from '../support/running-agent.ts';
import { projectRoot } from '../support/source-files.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { sha256 } from './stand-in-packages.ts';
import { built } from './support/built.ts';
import { runProgram, startProgram } from './support/program.ts';

let directory: TemporaryDirectory;
let seb: string;

beforeAll(async () => {
  directory = temporaryDirectory();
  seb = await built('executable');
});

afterAll(() => directory[Symbol.dispose]());

const at = (name: string): string => join(directory.path, name);

interface AgentFile {
  readonly endpoint: string;
  readonly sinks: object;
}

/** Writes the settings of an agent that talks to nobody but an emulator. */
function agentFile(name: string, { endpoint, sinks }: AgentFile): string {
  const settings = { stateDir: at(`${name}-state`), imds: { endpoint, pollInterval: '250ms' }, sinks };
  writeFileSync(at(`${name}.yaml`), JSON.stringify(settings));
  return at(`${name}.yaml`);
}

it('says its version and knows every command, with no environment and no other file', async () => {
  mkdirSync(at('alone'));
  copyFileSync(seb, at('alone/seb'));
  const alone = at('alone/seb');
  expect(await runProgram(alone, ['--version'])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  for (const { name, summary } of registry) {
    const { exitCode, stdout } = await runProgram(alone, [...name.split(' '), '--help']);
    expect({ name, exitCode }).toEqual({ name, exitCode: 0 });
    expect(stdout.replace(/\s+/g, ' ')).toContain(summary);
  }
});

it('delivers what an emulated metadata service announces to a file, and stops when it is told to', async () => {
  await using imds = await startImdsEmulator();
  const events = at('events.jsonl');
  const file = agentFile('delivers', {
    endpoint: imds.url,
    sinks: { local: { type: 'file', path: events } },
  });
  await using agent = startProgram(seb, ['agent', '-c', file]);
  await until('this VM is known', () => agent.stderr().includes('this VM is known'));
  imds.show(readFileSync(join(projectRoot, 'test/fixtures/imds/04-livemigration-2-scheduled.json'), 'utf8'));
  await until('the event is in the file', () => recordsIn(events).some(({ type }) => type.includes('event')));
  agent.kill('SIGTERM');
  expect(await agent.ended()).toBe(0);
});

const trusting = [
  ['NODE_EXTRA_CA_CERTS names', (path: string) => ({ NODE_EXTRA_CA_CERTS: path })],
  [
    'the machine trusts, with NODE_USE_SYSTEM_CA',
    (path: string) => ({ NODE_USE_SYSTEM_CA: '1', SSL_CERT_FILE: path }),
  ],
] as const;

it.each(trusting)('delivers to a hub over TLS whose authority %s, and to no other', async (_, envOf) => {
  const tls = issueCertificate();
  writeFileSync(at('authority.pem'), tls.cert);
  await using imds = await startImdsEmulator();
  await using hub = await startEventHubsEmulator({ tls, acceptAnyJwt: true });
  const { fullyQualifiedNamespace, eventHubName } = hub;
  const sinks = { fleet: { type: 'eventhubs', fullyQualifiedNamespace, eventHubName } };
  const hubFile = () => agentFile(randomUUID(), { endpoint: imds.url, sinks });
  await using refusing = startProgram(seb, ['agent', '-c', hubFile()]);
  await until('it is refused', () => refusing.stderr().includes('tls-untrusted'));
  expect(hub.events()).toEqual([]);
  await using _agent = startProgram(seb, ['agent', '-c', hubFile()], envOf(at('authority.pem')));
  await until('a record is in the hub', () => hub.events().length > 0);
});

it('plays the whole bridge: consumer, trail, both emulators and the scenarios are inside', async () => {
  const words = ['demo', '--vms', '1', '--scenario', 'live-migration', '--speed', '1000'];
  const { exitCode, stdout } = await runProgram(seb, words, { TMPDIR: directory.path });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('Nothing is missing and nothing came twice.');
});

it('checks a file, and refuses a wrong one with exit code 2', async () => {
  await using imds = await startImdsEmulator();
  const sinks = { local: { type: 'file', path: at('checked.jsonl') } };
  const file = agentFile('checked', { endpoint: imds.url, sinks });
  expect(await runProgram(seb, ['check', '-c', file])).toMatchObject({ exitCode: 0 });
  writeFileSync(at('wrong.yaml'), 'stateDirr: /x');
  expect(await runProgram(seb, ['agent', '-c', at('wrong.yaml')])).toMatchObject({ exitCode: 2 });
});

it('lets nobody put code into it by NODE_OPTIONS or by its arguments', async () => {
  writeFileSync(at('intruder.cjs'), `require('node:fs').writeFileSync(${JSON.stringify(at('trace'))}, '');`);
  const intruder = at('intruder.cjs');
  const plain = { exitCode: 0, stdout: `${version}\n`, stderr: '' };
  expect(await runProgram(seb, ['--version'], { NODE_OPTIONS: `--require ${intruder}` })).toEqual(plain);
  expect(await runProgram(seb, ['--require', intruder, '--version'])).toMatchObject({ exitCode: 2 });
  expect(await runProgram(seb, [`--node-options=--require ${intruder}`, '--version'])).toMatchObject({
    exitCode: 2,
  });
  expect(existsSync(at('trace'))).toBe(false);
  // The same file in the same variable does run in a Node that listens to it.
  await runProgram(process.execPath, ['-e', ''], { NODE_OPTIONS: `--require ${intruder}` });
  expect(existsSync(at('trace'))).toBe(true);
});

it('opens no debugger when a signal asks for one', async () => {
  await using imds = await startImdsEmulator();
  const file = agentFile('signal', { endpoint: imds.url, sinks: {} });
  await using agent = startProgram(seb, ['agent', '-c', file]);
  await until('this VM is known', () => agent.stderr().includes('this VM is known'));
  agent.kill('SIGUSR1');
  agent.kill('SIGTERM');
  await agent.ended();
  expect(agent.stderr()).not.toMatch(/debugger|inspector/i);
});

it('is called seb by ps and top, with its arguments', async () => {
  await using imds = await startImdsEmulator();
  const file = agentFile('named', { endpoint: imds.url, sinks: {} });
  await using agent = startProgram(seb, ['agent', '-c', file]);
  await until('this VM is known', () => agent.stderr().includes('this VM is known'));
  expect(readFileSync(`/proc/${agent.pid}/comm`, 'utf8')).toBe('seb\n');
  expect(readFileSync(`/proc/${agent.pid}/cmdline`, 'utf8').split('\0')).toEqual([
    seb,
    'agent',
    '-c',
    file,
    '',
  ]);
});

it('is the same byte for byte when it is built again elsewhere', async () => {
  const plan = planOf({ outDirectory: at('again/deeper') });
  const before = process.cwd();
  process.chdir(directory.path);
  await buildExecutable('linux-x64', pathsOf(plan).executable, plan).finally(() => process.chdir(before));
  expect(sha256(pathsOf(plan).executable)).toBe(sha256(seb));
  expect(readdirSync(plan.outDirectory).toSorted()).toEqual(['LICENSES.txt', 'seb-linux-x64']);
});

it('tells nothing of the machine that built it', () => {
  const bytes = readFileSync(seb);
  expect(bytes.includes(projectRoot)).toBe(false);
  expect(bytes.includes('/seb-executable-')).toBe(false);
});

it('holds only the Node that was recorded: another one is refused', async () => {
  writeFileSync(at('other-node'), `#!/bin/sh\necho v99.0.0\n`, { mode: 0o755 });
  const plan = planOf({ outDirectory: at('refused'), nodePath: at('other-node') });
  await expect(buildExecutable('linux-x64', pathsOf(plan).executable, plan)).rejects.toThrow(
    `${at('other-node')} is not Node ${process.version}`,
  );
  const { version: recorded } = JSON.parse(
    readFileSync(join(projectRoot, 'infra/packages/node-binaries.json'), 'utf8'),
  );
  expect(process.version).toBe(`v${recorded}`);
});

it('carries the licences of the project, its packages and Node', () => {
  const text = readFileSync(pathsOf({ ...planOf(), outDirectory: join(seb, '..') }).licenses, 'utf8');
  for (const name of ['zod', 'yaml', 'pino', 'undici', '@azure/event-hubs'])
    expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
  expect(text).toContain(`Node.js ${process.versions.node}`);
  expect(text).toContain('OpenSSL, located at deps/openssl, is licensed as follows');
  expect(text).toContain(readFileSync(join(projectRoot, 'LICENSE'), 'utf8').trim());
});
