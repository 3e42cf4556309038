// The status of a running agent over HTTP: whether it lives, whether it is ready, and that nothing listens unasked.
import { mkdirSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Health, Readiness } from '../../src/agent/readiness.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { stuckClock } from '../support/clocks.ts';
import { openInbox } from '../support/inbox.ts';
import { type RunningAgent, startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const scheduled = readFileSync(
  new URL('../fixtures/imds/04-livemigration-2-scheduled.json', import.meta.url),
  'utf8',
);

const status = { listen: 0 };

async function ask<Body>(agent: RunningAgent, path: string) {
  const answer = await fetch(`${await agent.statusUrl()}${path}`);
  return { code: answer.status, body: (await answer.json()) as Body };
}
const health = (agent: RunningAgent) => ask<Health>(agent, '/healthz');
const readiness = (agent: RunningAgent) => ask<Readiness>(agent, '/readyz');

test('an agent that polls is healthy and ready, and says how its source and its sinks stand', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using agent = startAgent(directory.path, imds.url, { status });
  const ready = await until('documents', async () => {
    const found = await readiness(agent);
    return found.body.source.state === 'fresh' && found;
  });
  expect(ready.code).toBe(200);
  expect(ready.body).toMatchObject({
    ready: true,
    reasons: [],
    source: { detail: 'documents arrive', documentAgeSeconds: expect.any(Number) },
    outbox: { fault: null, discarded: 0 },
    sinks: { local: { state: 'active', dead: 0 } },
  });
  expect(await health(agent)).toEqual({
    code: 200,
    body: { healthy: true, pollLateSeconds: expect.any(Number) },
  });
});

test('while the first answer takes its time the agent is ready: it is warming', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'status', status: 500 });
  await using agent = startAgent(directory.path, imds.url, { status });
  const { code, body } = await readiness(agent);
  expect([code, body.source.state, body.source.documentAgeSeconds]).toEqual([200, 'warming', null]);
});

test('a poll loop that is stuck fails /healthz, and only when it is later than it may be', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const clock = stuckClock();
  await using agent = startAgent(directory.path, imds.url, { status }, { clock });
  await until('three polls', () => imds.requests.length > 3);
  expect((await health(agent)).code).toBe(200);
  clock.stop();
  await until('a poll that never comes', async () => (await health(agent)).body.pollLateSeconds > 0.3);
  expect((await health(agent)).code).toBe(200);
  clock.pass(40_000);
  const stuck = await health(agent);
  expect([stuck.code, stuck.body.healthy]).toEqual([503, false]);
  expect(stuck.body.pollLateSeconds).toBeGreaterThan(40);
});

test('a source that fails for more than a minute makes the agent unready, and a document ready again', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const clock = stuckClock();
  await using agent = startAgent(directory.path, imds.url, { status }, { clock });
  await until('a document', async () => (await readiness(agent)).body.source.state === 'fresh');
  imds.inject({ kind: 'status', status: 500 }, { times: 4 });
  await until('a fault', async () => (await readiness(agent)).body.source.state === 'failing');
  expect((await readiness(agent)).code).toBe(200);
  clock.pass(61_000);
  const stale = await readiness(agent);
  expect([stale.code, stale.body.reasons]).toEqual([503, ['source-stale']]);
  await until('it to be ready', async () => (await readiness(agent)).code === 200);
});

test('an outbox that cannot be used makes the agent unready from the start', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  mkdirSync(join(directory.path, 'outbox.db'));
  await using agent = startAgent(directory.path, imds.url, { status });
  const { code, body } = await readiness(agent);
  expect([code, body.reasons, body.outbox.fault]).toEqual([503, ['outbox-unwritable'], 'unavailable']);
});

test('a suspended sink is told with its reason, and leaves the agent ready', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox({ answer: { status: 403 } });
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  await using agent = startAgent(directory.path, imds.url, { status, sinks: { hook } });
  imds.show(scheduled);
  const { code, body } = await until('the suspension', async () => {
    const found = await readiness(agent);
    return found.body.sinks?.['hook']?.state === 'suspended' && found;
  });
  expect(code).toBe(200);
  expect(body.sinks?.['hook']).toMatchObject({ reason: 'http-403', pending: 1, until: expect.any(String) });
  expect(body.sinks?.['hook']?.oldestPendingSeconds).toBeGreaterThanOrEqual(0);
});

test('a port in use costs the status page and nothing else', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const listen = inbox.port;
  await using agent = startAgent(directory.path, imds.url, { status: { listen } });
  imds.show(scheduled);
  await until('the event', () => agent.eventRecords().length === 1);
  expect(agent.log.lines.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { address: `127.0.0.1:${listen}`, fault: 'EADDRINUSE' } },
  ]);
});

test('after the end of the agent its port is free, though readers hold connections to it', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const agent = startAgent(directory.path, imds.url, { status });
  const { port } = new URL(await agent.statusUrl());
  await health(agent);
  const holding = net.connect(Number(port), '127.0.0.1').on('error', () => undefined);
  await until('the connection', () => holding.readyState === 'open');
  await agent.stop();
  const again = startAgent(directory.path, imds.url, { status: { listen: Number(port) } });
  expect(await again.statusUrl()).toBe(`http://127.0.0.1:${port}`);
  await again.stop();
});

test('without the setting nothing listens', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using agent = startAgent(directory.path, imds.url);
  await until('polls', () => imds.requests.length > 3);
  expect(agent.log.lines.filter(({ message }) => message === 'the status is served')).toEqual([]);
});
