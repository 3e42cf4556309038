// Whether the published bundle works, and whether its agent loads no more than an agent needs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../scripts/build.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { version } from '../../src/version.ts';
import { issueCertificate } from '../support/certificate.ts';
import { openInbox } from '../support/inbox.ts';
import { runNode, startNode } from '../support/process.ts';
import { readPrometheusPage } from '../support/prometheus-text.ts';
import { recordsIn } from '../support/running-agent.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const announcement = new URL('../fixtures/imds/04-livemigration-2-scheduled.json', import.meta.url);
const preload = fileURLToPath(new URL('../support/loaded-files.cjs', import.meta.url));
// One bundle serves all tests: it takes a second or two to make.
let directory: TemporaryDirectory;
let metafile: Metafile;
let seb: string;

beforeAll(async () => {
  directory = temporaryDirectory();
  const dist = join(directory.path, 'dist');
  metafile = await bundle(dist);
  seb = join(dist, 'seb.cjs');
}, 60_000);

afterAll(() => directory[Symbol.dispose]());

/** The source files whose code is in one of these files of the bundle. */
function sourcesOf(files: readonly string[]): string[] {
  const outputs = Object.entries(metafile.outputs).filter(([path]) => files.includes(basename(path)));
  return outputs.flatMap(([, { inputs }]) => Object.keys(inputs));
}

const loadedIn = (stderr: string): string[] =>
  [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, file]) => file ?? '');

it('prints its version, its help and its schema', async () => {
  expect(await runNode([seb, '--version'])).toMatchObject({
    exitCode: 0,
    stdout: `${version}\n`,
    stderr: '',
  });
  expect((await runNode([seb, '--help'])).stdout).toContain('emulate imds');
  const schema = await runNode([seb, 'config', 'schema']);
  expect(JSON.parse(schema.stdout)).toMatchObject({ additionalProperties: false });
});

it('can be started by its name', () => {
  expect(readFileSync(seb, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});

it('knows its own errors across its files: a wrong file is a sentence and exit code 2', async () => {
  const file = join(directory.path, 'wrong.yaml');
  writeFileSync(file, 'stateDirr: /x');
  const run = await runNode([seb, 'agent', '-c', file]);
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.stderr).toBe(
    `seb: ${file} cannot be used:\n  (top level): there is no setting "stateDirr" here; did you mean "stateDir"?\n`,
  );
  expect(await runNode([seb, 'check', '--program', 'x'])).toMatchObject({ exitCode: 2 });
});

it('holds the library of scenarios', async () => {
  const listed = await runNode([seb, 'emulate', 'imds', '--list']);
  const names = readdirSync(new URL('../../src/emulators/imds/scenarios/', import.meta.url));
  expect(listed.exitCode).toBe(0);
  expect(listed.stdout.trim().split('\n')).toHaveLength(names.length);
});

it('runs an agent that has loaded no SDK, HTTP client, metrics, service manager or emulator while nothing needed them', async () => {
  await using imds = await startImdsEmulator();
  const events = join(directory.path, 'events.jsonl');
  const file = join(directory.path, 'agent.yaml');
  const settings = {
    stateDir: join(directory.path, 'state'),
    imds: { endpoint: imds.url },
    sinks: { local: { type: 'file', path: events }, hook: { type: 'webhook', url: 'https://127.0.0.1:9/' } },
  };
  writeFileSync(file, JSON.stringify(settings));
  await using running = startNode(['--require', preload, seb, 'agent', '-c', file]);
  await until('the agent introduces itself', () => recordsIn(events).length > 0);
  running.child.kill('SIGTERM');
  expect(await running.ended()).toBe(0);
  const sources = sourcesOf(loadedIn(running.output().stderr));
  expect(sources).toContain('src/agent/agent.ts');
  const heavy =
    /node_modules\/(@azure|undici|rhea|ws|thread-stream|prom-client|@opentelemetry)\/|zod\/.*\/locales\/(?!en\.)|^src\/(emulators\/|consumer\/|audit\/|status\/|service-|agent\/service-)/;
  expect(sources.filter((source) => heavy.test(source))).toEqual([]);
});

it('serves the status of an agent that asks for it, with no more of the metrics library than it uses', async () => {
  await using imds = await startImdsEmulator();
  const file = join(directory.path, 'status.yaml');
  const stateDir = join(directory.path, 'status');
  writeFileSync(file, JSON.stringify({ stateDir, imds: { endpoint: imds.url }, status: { listen: 0 } }));
  await using agent = startNode(['--require', preload, seb, 'agent', '-c', file]);
  await agent.until('the status is served');
  const address = /"address":"([^"]+)"/.exec(agent.output().stderr)?.[1];
  const page = await (await fetch(`http://${address}/metrics`)).text();
  expect(readPrometheusPage(page).value('seb_document_age_seconds')).toBeGreaterThanOrEqual(0);
  agent.child.kill('SIGTERM');
  expect(await agent.ended()).toBe(0);
  const sources = sourcesOf(loadedIn(agent.output().stderr));
  expect(sources.filter((source) => source.endsWith('prom-client/lib/registry.js'))).toHaveLength(1);
  const unused =
    /node_modules\/(@opentelemetry|tdigest|prom-client\/lib\/(metrics|cluster|pushgateway|defaultMetrics))/;
  expect(sources.filter((source) => unused.test(source))).toEqual([]);
});

it('signs in with the identity of the VM and delivers to a hub and to a webhook', async () => {
  const tls = issueCertificate();
  const authority = join(directory.path, 'authority.pem');
  writeFileSync(authority, tls.cert);
  await using imds = await startImdsEmulator();
  await using hub = await startEventHubsEmulator({ tls, acceptAnyJwt: true });
  await using inbox = await openInbox();
  const { fullyQualifiedNamespace, eventHubName } = hub;
  const sinks = {
    fleet: { type: 'eventhubs', fullyQualifiedNamespace, eventHubName },
    hook: { type: 'webhook', url: inbox.url, allowHttp: true },
  };
  const file = join(directory.path, 'delivers.yaml');
  const stateDir = join(directory.path, 'delivers');
  writeFileSync(
    file,
    JSON.stringify({ stateDir, imds: { endpoint: imds.url, pollInterval: '250ms' }, sinks }),
  );
  await using running = startNode([seb, 'agent', '-c', file], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: authority },
  });
  await running.until('this VM is known');
  imds.show(readFileSync(announcement, 'utf8'));
  await until('the notice at the webhook', () => inbox.requests.length > 0);
  await until('the notice at the hub', () => hub.events().length > 1);
  running.child.kill('SIGTERM');
  expect(await running.ended()).toBe(0);
  expect(hub.tokens.map(({ type }) => type)).toContain('jwt');
});

it('shows the demo: every part of it is in the bundle', async () => {
  const run = await runNode([seb, 'demo', '--vms', '1', '--scenario', 'live-migration', '--speed', '1000']);
  expect(run).toMatchObject({ exitCode: 0 });
  expect(run.stdout).toContain('Nothing is missing and nothing came twice.');
}, 60_000);

it('keeps each SDK in files of its own', () => {
  const holding = (pattern: RegExp) =>
    Object.entries(metafile.outputs)
      .filter(([, { inputs }]) => Object.keys(inputs).some((input) => pattern.test(input)))
      .map(([path]) => basename(path));
  const hubs = holding(/node_modules\/@azure\/event-hubs\//);
  expect(holding(/node_modules\/@azure\/identity\//).filter((file) => hubs.includes(file))).toEqual([]);
  expect(holding(/^src\/emulators\/eventhubs\//).filter((file) => hubs.includes(file))).toEqual([]);
});

it('carries the licences of what it contains', () => {
  const text = readFileSync(join(directory.path, 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  for (const name of ['zod', 'yaml', 'pino', 'undici']) expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
});
