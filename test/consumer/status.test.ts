// The status of a running consumer over HTTP: whether it lives, whether it is ready, and what it counts.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Health, Readiness } from '../../src/consumer/readiness.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { version } from '../../src/version.ts';
import { stuckClock } from '../support/clocks.ts';
import { listeningPorts } from '../support/kernel-view.ts';
import { readPrometheusPage } from '../support/prometheus-text.ts';
import { entriesIn, openSender, type RunningConsumer, startConsumer } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const settings = { status: { listen: 0 } };

async function ask<Body>(consumer: RunningConsumer, path: string) {
  const answer = await fetch(`${await consumer.statusUrl()}${path}`);
  return { code: answer.status, body: (await answer.json()) as Body };
}
const health = (consumer: RunningConsumer) => ask<Health>(consumer, '/healthz');
const readiness = (consumer: RunningConsumer) => ask<Readiness>(consumer, '/readyz');
const page = async (consumer: RunningConsumer) =>
  readPrometheusPage(await (await fetch(`${await consumer.statusUrl()}/metrics`)).text());

/** A consumer with a status page, a hub of two partitions, and a clock that the test may set forward. */
async function openWorld(more: { readonly gone?: boolean } = {}) {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  const path = join(directory.path, 'trail.db');
  const open = (port = 0): Promise<EventHubsEmulator> =>
    startEventHubsEmulator({ port, hubs: [{ name: 'fleet', partitions: 2 }] });
  const hub = resources.use(await open());
  if (more.gone) await hub[Symbol.asyncDispose]();
  const clock = stuckClock();
  const consumer = resources.use(startConsumer(path, hub, { clock, watchIntervalMs: 200, settings }));
  const state = async (wanted: string) =>
    until(`the state ${wanted}`, async () => {
      const found = await readiness(consumer);
      return found.body.hub.state === wanted && found;
    });
  return {
    ...{ path, open, hub, clock, consumer, state },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

test.concurrent('a consumer that reads is healthy and ready, and says how each partition stands', async () => {
  await using world = await openWorld();
  const { code, body } = await world.state('reading');
  expect(code).toBe(200);
  const well = { owner: 'here', fault: null, advice: null };
  const partition = { lagEvents: 0, commitAgeSeconds: expect.any(Number), ...well };
  expect(body).toEqual({
    ready: true,
    reasons: [],
    hub: {
      ...{ state: 'reading', detail: 'all partitions are read', advice: null, since: expect.any(String) },
      ...{ namespace: '127.0.0.1', name: 'fleet', readAgeSeconds: expect.any(Number) },
    },
    warnings: [],
    trail: { fault: null, advice: null },
    seals: {
      ...{ signed: true, sealedAt: expect.any(String), waitingSeconds: expect.any(Number) },
      ...{ entries: expect.any(Number), unsealed: expect.any(Number) },
    },
    ...{ anchors: {}, archive: null },
    sharing: null,
    notices: null,
    partitions: { 0: partition, 1: partition },
  });
  expect(await health(world.consumer)).toEqual({
    code: 200,
    body: { healthy: true, lateSeconds: expect.any(Number) },
  });
});

test.concurrent('what was stored is counted by what it turned out to be', async () => {
  await using world = await openWorld();
  await using sender = openSender(world.hub);
  const [first, second, third] = liveMigration();
  if (!first || !second || !third) throw new Error('three records are needed');
  const changed = JSON.stringify({ ...third, time: '2026-01-01T00:00:00.000Z' });
  await sender.send([first, second, third, first, 'not a record']);
  await sender.send([changed], '0');
  await entriesIn(world.path, 6);
  await world.state('reading');
  const { value } = await until('all entries', async () => {
    const found = await page(world.consumer);
    return found.value('seb_trail_entries_total', { result: 'parked' }) === 1 && found;
  });
  const of = (result: string): number => value('seb_trail_entries_total', { result });
  expect([of('record'), of('repeat'), of('conflict'), of('parked')]).toEqual([3, 1, 1, 1]);
  expect(value('seb_hub_partitions')).toBe(2);
  expect(value('seb_hub_state', { state: 'reading' })).toBe(1);
  expect(value('seb_hub_state', { state: 'failing' })).toBe(0);
  expect(value('seb_hub_read_age_seconds')).toBeLessThan(10);
  expect(value('seb_read_late_seconds')).toBe(0);
  expect(value('seb_trail_fault', { fault: 'locked' })).toBe(0);
  expect(value('seb_partition_lag_events', { partition: '0' })).toBe(0);
  expect(value('seb_partition_stuck_seconds', { partition: '0' })).toBe(0);
  expect(value('seb_partition_commit_age_seconds', { partition: '0' })).toBeLessThan(10);
  expect(value('seb_hub_sessions_total', { end: 'failed' })).toBe(0);
  const build = { program: 'consumer', version, node_version: process.version };
  expect(value('seb_build_info', build)).toBe(1);
});

test.concurrent('a hub that is gone for more than a minute makes the consumer unready, and its return ready', async () => {
  await using world = await openWorld({ gone: true });
  const failing = await world.state('failing');
  expect([failing.code, failing.body.hub.detail]).toEqual([200, 'connection-refused']);
  expect(failing.body.hub.advice).toMatch(/\w/);
  world.clock.pass(61_000);
  const unread = await readiness(world.consumer);
  expect([unread.code, unread.body.reasons]).toEqual([503, ['hub-unread']]);
  // It tries again and again: that is life.
  await until('a promise kept', async () => (await health(world.consumer)).code === 200);
  const metrics = await page(world.consumer);
  expect(metrics.value('seb_hub_sessions_total', { end: 'failed' })).toBeGreaterThan(0);
  expect(metrics.value('seb_hub_read_age_seconds')).toBeGreaterThan(60);
  await using _again = await world.open(world.hub.port);
  expect((await world.state('reading')).code).toBe(200);
});

test.concurrent('a trail that takes nothing makes the consumer unready, with the lag that grows and the time that passes', async () => {
  await using world = await openWorld();
  await world.state('reading');
  await using sender = openSender(world.hub);
  {
    using database = new DatabaseSync(world.path);
    database.exec('BEGIN IMMEDIATE');
    await sender.send(liveMigration());
    const locked = await until('the fault', async () => {
      const found = await readiness(world.consumer);
      const lag = Object.values(found.body.partitions).map(({ lagEvents }) => lagEvents ?? 0);
      return found.body.trail.fault === 'locked' && Math.max(...lag) === 3 && found;
    });
    expect([locked.code, locked.body.reasons]).toEqual([503, ['trail-unwritable']]);
    world.clock.pass(125_000);
    const stuck = await until('a look', async () => {
      const found = await readiness(world.consumer);
      return !found.body.reasons.includes('hub-unread') && found;
    });
    expect(stuck.body.reasons).toEqual(['partition-stuck', 'trail-unwritable']);
    const { value } = await page(world.consumer);
    expect(value('seb_trail_fault', { fault: 'locked' })).toBe(1);
    const stuckSeconds = ['0', '1'].map((partition) => value('seb_partition_stuck_seconds', { partition }));
    expect(Math.max(...stuckSeconds)).toBeGreaterThan(120);
    expect(Math.min(...stuckSeconds)).toBe(0);
  }
  await until('it to be ready', async () => (await readiness(world.consumer)).code === 200);
  await entriesIn(world.path, 3);
});

test.concurrent('a loop that is stuck fails /healthz, and only when it is later than it may be', async () => {
  await using world = await openWorld();
  await world.state('reading');
  world.clock.stop();
  world.clock.pass(25_000);
  expect((await health(world.consumer)).code).toBe(200);
  // Long enough for a look that was under way when the clock stopped, and has promised anew since.
  world.clock.pass(60_000);
  const stuck = await health(world.consumer);
  expect([stuck.code, stuck.body.healthy]).toEqual([503, false]);
  expect(stuck.body.lateSeconds).toBeGreaterThan(30);
});

test('without the setting nothing listens', async () => {
  using directory = temporaryDirectory();
  await using hub = await startEventHubsEmulator();
  const before = listeningPorts(process.pid);
  await using consumer = startConsumer(join(directory.path, 'trail.db'), hub);
  await consumer.reading();
  expect(listeningPorts(process.pid)).toEqual(before);
});
