// Which step of the consumer may take how long before it counts as stuck: each promises, and is late beyond that.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { emptyStream, type TrailStore } from '../../src/audit/store.ts';
import type { HubConnection } from '../../src/consumer/hub.ts';
import { openPartitionFeed } from '../../src/consumer/partition-feed.ts';
import { openProgress } from '../../src/consumer/progress.ts';
import { runSession } from '../../src/consumer/session.ts';
import { silentLog } from '../../src/log.ts';
import { steppedClock } from '../support/clocks.ts';
import { alone } from '../support/lone-session.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

test('nothing is late before it promised, until its time is over, and when it is done', async () => {
  const clock = steppedClock();
  const progress = openProgress(clock);
  await clock.pass(100_000);
  expect(progress.lateMs()).toBe(0);
  progress.promise('a', 10_000);
  progress.promise('b', 50_000);
  await clock.pass(10_000);
  expect(progress.lateMs()).toBe(0);
  await clock.pass(7_000);
  expect(progress.lateMs()).toBe(7_000);
  progress.promise('a', 10_000);
  expect(progress.lateMs()).toBe(0);
  await clock.pass(40_000);
  // The latest of them counts.
  expect(progress.lateMs()).toBe(30_000);
  progress.done('a');
  expect(progress.lateMs()).toBe(7_000);
  progress.done('b');
  expect(progress.lateMs()).toBe(0);
});

test('a store that never answers is late after a minute', async () => {
  const clock = steppedClock();
  const progress = openProgress(clock);
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const over = new AbortController();
  const feed = openPartitionFeed({
    ...{ partition: '0', stream: 'ns/hub/0/epoch', start: emptyStream, holes: new Map(), clock, progress },
    ...{ log: silentLog, signal: over.signal, onStored: () => undefined, onHole: () => undefined },
    ...{ tail: null, onRefused: () => undefined },
    trail: { ...trail, append: () => new Promise(() => undefined) },
    onTrouble: () => undefined,
  });
  void feed.take(asHubEvents(liveMigration()));
  await clock.pass(60_000);
  expect(progress.lateMs()).toBe(0);
  await clock.pass(40_000);
  expect(progress.lateMs()).toBe(40_000);
});

test('a store that refuses again and again is not late, until one day it does not answer', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const clock = steppedClock();
  const progress = openProgress(clock);
  const over = new AbortController();
  let append: TrailStore['append'] = async () => ({ status: 'unavailable', reason: 'locked' });
  const troubles: unknown[] = [];
  const feed = openPartitionFeed({
    ...{ partition: '0', stream: 'ns/hub/0/epoch', start: emptyStream, holes: new Map(), clock, progress },
    ...{ log: silentLog, signal: over.signal, onStored: () => undefined, onHole: () => undefined },
    ...{ tail: null, onRefused: () => undefined },
    trail: { ...trail, append: (...args) => append(...args) },
    onTrouble: (trouble) => troubles.push(trouble),
  });
  const taken = feed.take(asHubEvents(liveMigration()));
  await clock.pass(600_000);
  expect(progress.lateMs()).toBe(0);
  expect(troubles).toEqual([{ partition: '0', reason: 'locked' }]);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  append = async (...args) => {
    await answered;
    return await trail.append(...args);
  };
  await clock.pass(5_000);
  await clock.pass(90_000);
  expect(progress.lateMs()).toBeGreaterThanOrEqual(30_000);
  answer();
  await taken;
  expect(progress.lateMs()).toBe(0);
  expect(troubles.at(-1)).toEqual({ partition: '0', reason: null });
});

test('a connection that is never made is late after half a minute, and one that is never let go sooner', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const clock = steppedClock();
  const progress = openProgress(clock);
  const stopping = new AbortController();
  const { promise: made, resolve: make } = Promise.withResolvers<HubConnection>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const connection: HubConnection = {
    describe: async () => ({ namespace: 'ns', name: 'fleet', createdAt: 1, partitions: ['0'] }),
    lastSequenceNumber: async () => -1,
    read: () => undefined,
    share: () => undefined,
    [Symbol.asyncDispose]: () => closed,
  };
  let looks = 0;
  const session = runSession({
    ...{ connect: () => made, trail, holes: new Map(), progress, clock, log: silentLog },
    ...{ watchIntervalMs: 10_000, creditMax: 100_000, signal: stopping.signal },
    ...{ ...alone, onStored: () => undefined },
    onLook: () => {
      looks += 1;
    },
  });
  await clock.pass(60_000);
  expect(progress.lateMs()).toBe(30_000);
  make(connection);
  await until('looks', async () => {
    await clock.pass(1_000);
    return looks > 2;
  });
  expect(progress.lateMs()).toBe(0);
  stopping.abort();
  await clock.pass(45_000);
  expect(progress.lateMs()).toBeGreaterThan(30_000);
  close();
  expect(await session).toEqual({ reason: 'stopped' });
});
