// Whether a secret stays one: every kind of sink, every kind of failure, and everything the bridge writes or says.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { type EveryFailure, marker, openEveryFailure, tells } from '../support/every-failure.ts';
import { type RunningProcess, runNode, startNode } from '../support/process.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const announced = new URL('../fixtures/imds/04-livemigration-2-scheduled.json', import.meta.url);
const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

let failures: EveryFailure;
let directory: TemporaryDirectory;
let file: string;
let agent: RunningProcess;
let statusUrl: string;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  failures = resources.use(await openEveryFailure());
  directory = resources.use(temporaryDirectory());
  const imds = resources.use(await startImdsEmulator());
  imds.show(readFileSync(announced, 'utf8'));
  const hub = resources.use(await startEventHubsEmulator());
  const stranger = hub.connectionString.replace(/SharedAccessKey=[^;]*/, `SharedAccessKey=${marker}`);
  const hubs = {
    'hub-unauthorized': { type: 'eventhubs', connectionString: stranger, eventHubName: hub.eventHubName },
    'hub-unreadable': { type: 'eventhubs', connectionString: `Endpoint=${marker}`, eventHubName: 'hub' },
  };
  file = join(directory.path, 'agent.yaml');
  writeFileSync(
    file,
    JSON.stringify({
      stateDir: join(directory.path, 'state'),
      imds: { endpoint: imds.url, pollInterval: '250ms' },
      sinks: { ...failures.sinks, ...hubs },
      status: { listen: '127.0.0.1:0' },
      log: { level: 'trace' },
    }),
  );
  agent = resources.use(startNode([cli, 'agent', '-c', file]));
  const address = await until(
    'the status page',
    () => /"address":"([^"]+)"/.exec(agent.output().stderr)?.[1],
  );
  statusUrl = `http://${address}`;
  await until('every sink was tried', everySinkWasTried, 60_000);
}, 90_000);

afterAll(() => resources.disposeAsync());

interface Row {
  readonly sink: string;
  readonly state: string;
  readonly attempts: number;
  readonly reason: string | null;
}

async function seb(...words: readonly string[]) {
  const { stdout, stderr } = await runNode([cli, ...words, '-c', file]);
  return { stdout, stderr };
}

async function deliveries(): Promise<readonly Row[]> {
  return JSON.parse((await seb('outbox', 'list', '--all', '-o', 'json')).stdout) as Row[];
}

async function everySinkWasTried(): Promise<boolean> {
  const rows = await deliveries();
  const tried = new Set(rows.filter(({ attempts }) => attempts > 0).map(({ sink }) => sink));
  const told = rows.filter(({ sink, state }) => sink === 'bot-echo' && state === 'delivered');
  // The bot has then kept what it was answered about the event.
  return tried.size === Object.keys(failures.sinks).length + 2 && told.length === 2;
}

describe('a secret', () => {
  it('meets every failure there is, so that what follows means something', async () => {
    const rows = await deliveries();
    expect(new Set(rows.map(({ sink }) => sink)).size).toBe(Object.keys(failures.sinks).length + 2);
    const reasons = new Set(rows.map(({ reason }) => reason));
    const expected = [
      ...['http-302', 'http-400', 'http-401', 'http-404', 'http-410', 'http-429', 'http-500'],
      ...['connection-refused', 'connection-reset', 'protocol', 'timeout', 'tls-untrusted', 'proxy-refused'],
      ...[
        'invalid-url',
        'unexpected-answer',
        'unauthorized',
        'invalid-connection-string',
        'tls-file-invalid',
      ],
    ];
    expect(expected.filter((reason) => !reasons.has(reason))).toEqual([]);
  });

  it('stands in no line of the log, not even at the level trace', () => {
    const { stdout, stderr } = agent.output();
    expect(stderr).toContain('"level":"debug"');
    expect(lying(stdout + stderr)).toEqual([]);
  });

  it.each(['/healthz', '/readyz', '/metrics', '/nowhere'])('stands not on the page %s', async (path) => {
    const answer = await fetch(`${statusUrl}${path}`);
    expect(lying(await answer.text())).toEqual([]);
  });

  it('stands in no file of the state directory', () => {
    const files = filesBelow(join(directory.path, 'state'));
    expect(files.length).toBeGreaterThan(1);
    expect(files.filter((path) => tells(readFileSync(path, 'latin1')))).toEqual([]);
  });

  it.each([
    [['config', 'show']],
    [['outbox', 'list', '--all', '-o', 'json']],
    [['outbox', 'retry', '--all']],
  ])('is not told by seb %j', async (words) => {
    const { stdout, stderr } = await seb(...words);
    expect(stdout).not.toBe('');
    expect(lying(stdout + stderr)).toEqual([]);
  });

  it('is not told by seb check, whatever the receivers answer', async () => {
    const { stdout, stderr } = await seb('check', '-o', 'json');
    expect(stdout).toContain('the token is that of the bot');
    expect(lying(stdout + stderr)).toEqual([]);
  });

  it('is not told when SIGHUP finds a file that is wrong in its secrets', async () => {
    const good = readFileSync(file, 'utf8');
    const before = agent.output().stderr.length;
    writeFileSync(file, JSON.stringify({ sinks: wrongSinks }));
    agent.child.kill('SIGHUP');
    const said = () => agent.output().stderr.slice(before);
    await until('the agent refuses the file', () => said().includes('the configuration file cannot be used'));
    writeFileSync(file, `{ "url": "${marker}`);
    agent.child.kill('SIGHUP');
    await until('the agent refuses the file', () => said().includes('not valid YAML'));
    writeFileSync(file, good);
    expect(lying(said())).toEqual([]);
  });

  it('is not told by seb outbox show', async () => {
    const { stdout: list } = await seb('outbox', 'list', '--all', '-o', 'json');
    const [{ id }] = JSON.parse(list) as [{ id: string }];
    const { stdout, stderr } = await seb('outbox', 'show', id);
    expect(stdout).toContain('"deliveries"');
    expect(lying(stdout + stderr)).toEqual([]);
  });

  it('is not told by a test of any kind of sink, before receivers that quote it', async () => {
    const names = Object.keys(failures.sinks).filter((name) =>
      /-(odd|moved|unknown|invalid|proxied)$/.test(name),
    );
    const said: string[] = [];
    const others = ['bot-echo', 'webhook-locked', 'hub-unauthorized', 'hub-unreadable'];
    for (const name of [...names.filter((_, index) => index % 4 === 0), ...others]) {
      const { stdout, stderr } = await seb('sink', 'test', name);
      said.push(stdout, stderr);
    }
    expect(said.filter((text) => text !== '').length).toBeGreaterThan(10);
    expect(said.filter(tells)).toEqual([]);
  }, 180_000);
});

/** A secret in every place where a person may put one by mistake. */
const wrongSinks = {
  a: { type: 'slack', webhook: marker, [`https://hooks.slack.test/${marker}`]: null },
  b: { type: 'webhook', url: [marker], bearer: { [marker]: null }, headers: { [`Bearer ${marker}`]: '' } },
  c: { type: 'webhook', url: marker, secrets: [marker], timeout: marker, mode: marker, filter: marker },
  d: { type: 'webhook', url: marker, template: { [`${marker} `]: `{{ ${marker}` }, templateSecrets: marker },
  e: {
    type: 'teams',
    url: `https://x.webhook.office.test/${marker}`,
    tls: { passphrase: marker, key: marker },
  },
  f: { type: 'eventgrid', endpoint: marker, key: [marker] },
  g: { type: 'eventhubs', connectionString: { value: marker }, eventHubName: [marker], proxy: marker },
  h: { type: marker },
  [`https://x.test/${marker}`]: { type: 'slack', url: 'x' },
};

describe('a secret in a file that is wrong', () => {
  it.each([[['agent']], [['config', 'show']], [['check']], [['outbox', 'list']], [['sink', 'test', 'a']]])(
    'is not told by seb %j',
    async (words) => {
      const path = join(directory.path, 'wrong.yaml');
      writeFileSync(path, JSON.stringify({ sinks: wrongSinks }));
      const run = await runNode([cli, ...words, '-c', path]);
      expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('sinks.a: there is no') });
      expect(lying(run.stdout + run.stderr)).toEqual([]);
    },
  );

  it.each([
    [
      'as the value of a setting that does not exist',
      `{ "sinks": { "x": { "type": "slack", "webhook": "${marker}" } } }`,
    ],
    ['as a value of the wrong kind', `{ "sinks": { "x": { "type": "webhook", "url": ["${marker}"] } } }`],
    [
      'as a key that signs nothing',
      `{ "sinks": { "x": { "type": "webhook", "url": "https://x.test", "secrets": ["${marker}"] } } }`,
    ],
    [
      'as a name of a retired connector',
      `{ "sinks": { "x": { "type": "teams", "url": "https://x.webhook.office.com/${marker}" } } }`,
    ],
    ['in a line that is no YAML', `sinks:\n  x: { type: slack, url: "${marker}\n`],
  ])('%s is not told when the file is refused', async (_, text) => {
    const path = join(directory.path, 'wrong.yaml');
    writeFileSync(path, text);
    const run = await runNode([cli, 'agent', '-c', path]);
    expect(run.exitCode).toBe(2);
    expect(lying(run.stdout + run.stderr)).toEqual([]);
  });
});

describe('a crash', () => {
  const bugs = {
    thrown: `new URL('https://exa mple/?sig=${marker}')`,
    rejected: `Promise.reject(Object.assign(new TypeError('cannot reach https://x/${marker}'), { input: '${marker}' }))`,
    caused: `throw new Error('x', { cause: new AggregateError([new Error('${marker}')], '${marker}') })`,
    listed: `throw Object.assign(new Error('${marker}\\n    at ${marker}:1:1'), { input: '${marker}' })`,
    text: `(() => { throw '${marker}' })()`,
  };

  it.each(Object.entries(bugs))('that quotes a secret (%s) tells its kind and place only', async (_, bug) => {
    const preload = join(directory.path, 'crash.mjs');
    writeFileSync(preload, `setTimeout(() => { ${bug} }, 1500);`);
    const other = file.replace('agent.yaml', 'crash.yaml');
    writeFileSync(other, readFileSync(file, 'utf8').replace('/state"', '/crash-state"'));
    const run = await runNode(['--import', preload, cli, 'agent', '-c', other]);
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toMatch(/seb: unexpected .*this is a bug, please report it/);
    expect(lying(run.stdout + run.stderr)).toEqual([]);
  });
});

/** The lines that tell the secret. */
const lying = (text: string): string[] => text.split('\n').filter(tells);

const filesBelow = (path: string): string[] =>
  readdirSync(path)
    .map((name) => join(path, name))
    .flatMap((each) => (statSync(each).isDirectory() ? filesBelow(each) : [each]));
