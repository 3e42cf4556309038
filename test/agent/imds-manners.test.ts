// The manners that IMDS asks for, and what its moods may not do to the events.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test as each, expect } from 'vitest';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import type { ImdsFault } from '../../src/emulators/imds/fault.ts';
import { openInbox } from '../support/inbox.ts';
import { type RunningAgent, startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

// Most of each test is waiting: they wait side by side.
const test = each.concurrent;

const scheduled = readFileSync(
  join(import.meta.dirname, '../fixtures/imds/04-livemigration-2-scheduled.json'),
  'utf8',
);

const polls = (imds: Pick<ImdsEmulator, 'requests'>) =>
  imds.requests.filter(({ path }) => path.includes('/scheduledevents'));

const sourceLines = (agent: RunningAgent) =>
  agent.log.lines.filter(({ message }) => message.startsWith('source')).map(({ fields }) => fields['state']);

test('every poll has the header, the version, and nothing that a proxy would add', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using _agent = startAgent(directory.path, imds.url);
  await until('five polls', () => polls(imds).length >= 5);
  for (const { path, headers } of polls(imds)) {
    expect(path).toBe('/metadata/scheduledevents?api-version=2020-07-01');
    expect(headers['metadata']).toBe('true');
    expect(headers).not.toHaveProperty('x-forwarded-for');
  }
});

test('polls keep their interval from start to start, and never overlap', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'slow', delayMs: 600 }, { times: 3 });
  await using _agent = startAgent(directory.path, imds.url, { imds: { pollInterval: '300ms' } });
  await until('eight polls', () => polls(imds).length >= 8);
  const starts = polls(imds).map(({ at }) => at);
  const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
  const slow = gaps.slice(0, 3);
  // The clocks that measure and that wait may differ by a millisecond or two.
  expect(Math.min(...slow)).toBeGreaterThanOrEqual(595);
  expect(Math.min(...slow)).toBeLessThan(850);
  // A busy machine may deliver one request late, and the next one on time: only all together tell the pace.
  const quickMs = (starts[7] ?? 0) - (starts[3] ?? 0);
  expect(quickMs).toBeGreaterThanOrEqual(4 * 300 - 250);
});

test('the first answer may take longer than a later one is allowed to', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.show(scheduled);
  imds.inject({ kind: 'slow', delayMs: 2_000 }, { times: 1 });
  const patience = { imds: { firstTimeout: '10s', timeout: '500ms' } };
  await using agent = startAgent(directory.path, imds.url, patience);
  await until('the event of the first, slow document', () => agent.eventRecords().length === 1);
  expect(sourceLines(agent)).toEqual(['fresh']);
  imds.inject({ kind: 'slow', delayMs: 2_000 }, { times: 1 });
  await until('a later slow answer to be a fault', () => sourceLines(agent).includes('failing'));
});

test.each([
  { status: 429, retryAfter: '2' },
  { status: 503, retryAfter: '2' },
])('after $status the agent waits as long as Retry-After says', async ({ status, retryAfter }) => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using _agent = startAgent(directory.path, imds.url);
  await until('a good poll', () => polls(imds).length >= 2);
  imds.inject({ kind: 'status', status, retryAfter }, { times: 1 });
  const at = await until(
    'the refusal',
    () => polls(imds).findIndex((poll) => poll.status === status) + 1 || null,
  );
  await until('the poll after it', () => polls(imds).length > at);
  const waited = (polls(imds)[at]?.at ?? 0) - (polls(imds)[at - 1]?.at ?? 0);
  expect(waited).toBeGreaterThanOrEqual(1_990);
});

test('a wait that IMDS asks for begins with its answer, however slow that was', async () => {
  using directory = temporaryDirectory();
  const times: number[] = [];
  const server = http.createServer((request, response) => {
    if (!request.url?.includes('/scheduledevents')) return response.end('{}');
    times.push(performance.now());
    if (times.length !== 2) return response.end('{"DocumentIncarnation":1,"Events":[]}');
    return setTimeout(() => {
      times.push(performance.now());
      response.writeHead(429, { 'Retry-After': '1' }).end();
    }, 800);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using closing = new AsyncDisposableStack();
  closing.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  await using _agent = startAgent(directory.path, `http://127.0.0.1:${port}`);
  await until('the poll after the wait', () => times.length >= 4);
  expect((times[3] ?? 0) - (times[2] ?? 0)).toBeGreaterThanOrEqual(990);
});

const moods: readonly [string, ImdsFault][] = [
  ['an empty 200', { kind: 'empty' }],
  ['truncated JSON', { kind: 'truncated' }],
  ['a body cut short', { kind: 'cut' }],
  ['500', { kind: 'status', status: 500 }],
  ['503', { kind: 'status', status: 503 }],
  ['410', { kind: 'status', status: 410 }],
  ['a reset connection', { kind: 'reset' }],
  ['no answer', { kind: 'hang' }],
];

test.each(moods)(
  '%s never makes an event disappear, ends nothing, and is said once',
  async (_name, fault) => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    imds.show(scheduled);
    await using agent = startAgent(directory.path, imds.url, { imds: { timeout: '300ms' } });
    await until('the event', () => agent.eventRecords().length === 1);
    imds.inject(fault, { times: 2 });
    await until(
      'the source to be well again',
      () => sourceLines(agent).at(-1) === 'fresh' && sourceLines(agent).length > 1,
    );
    expect(sourceLines(agent)).toEqual(['fresh', fault.kind === 'empty' ? 'silent' : 'failing', 'fresh']);
    expect(agent.eventRecords().map(({ data }) => data.transition)).toEqual(['scheduled']);
  },
);

test.each([400, 401, 403, 404, 405])(
  '%i is said with what to do about it, and polling goes on',
  async (status) => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    imds.inject({ kind: 'status', status }, { times: 1 });
    await using agent = startAgent(directory.path, imds.url);
    const line = await until('the refusal', () =>
      agent.log.lines.find(({ fields }) => fields['state'] === 'refused'),
    );
    expect(line.level).toBe('error');
    expect(String(line.fields['detail'])).toMatch(new RegExp(`^answers ${status}: .{20}`));
  },
);

test('an incarnation that starts over makes nothing disappear until a second document confirms it', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.show(scheduled.replace('"DocumentIncarnation": 2', '"DocumentIncarnation": 7'));
  await using agent = startAgent(directory.path, imds.url, { imds: { pollInterval: '400ms' } });
  await until('the event', () => agent.eventRecords().length === 1);
  const before = polls(imds).length;
  imds.show('{"DocumentIncarnation":1,"Events":[]}');
  await until('one document without it', () => polls(imds).length === before + 1);
  imds.show(scheduled.replace('"DocumentIncarnation": 2', '"DocumentIncarnation": 2'));
  await until('some more', () => polls(imds).length > before + 3);
  expect(agent.eventRecords().length).toBe(1);
  imds.show('{"DocumentIncarnation":1,"Events":[]}');
  await until('the end', () => agent.eventRecords().length === 2);
  expect(agent.eventRecords()[1]?.data).toMatchObject({
    transition: 'completed',
    reason: 'start-not-observed',
  });
});

test('the agent asks IMDS itself, whatever the environment says about proxies', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using proxy = await openInbox();
  imds.show(scheduled);
  const environment = {
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: proxy.url,
    http_proxy: proxy.url,
    NO_PROXY: '',
    no_proxy: '',
  };
  const child = fork(join(import.meta.dirname, '../support/agent-child.ts'), [directory.path, imds.url], {
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  await until('polls', () => polls(imds).length >= 3);
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(proxy.requests).toEqual([]);
});
