// What becomes of a queue once its sink works again, and what never has to wait until it does.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { chatPolicy, type Outcome } from '../../src/core/delivery.ts';
import { deliver } from '../../src/delivery/deliver.ts';
import { discardDeliveries, openOutboxForCare } from '../../src/delivery/outbox/care.ts';
import { openWake } from '../../src/delivery/wake.ts';
import { announceEach, busy, openTestLane, throttled, written } from '../support/lanes.ts';
import { delivered } from '../support/scripted-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const forbidden: Outcome = { status: 'unavailable', reason: 'http-401' };

test('once what suspended a sink is mended, the whole batch that failed goes out, and not its head alone', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { batchMax: { records: 9, bytes: 1_000_000 } });
  announceEach(lane.outbox, ['A', 'B', 'C']);
  lane.sink.answer(forbidden);
  await lane.run();
  lane.outbox.wake('a');
  lane.sink.answer(delivered);
  await lane.run();
  expect(lane.sink.attempts).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
});

test('a new start sends at once all of a batch that a suspended sink did not take', async () => {
  using directory = temporaryDirectory();
  const batchMax = { records: 9, bytes: 1_000_000 };
  {
    using lane = openTestLane(directory.path, { batchMax });
    announceEach(lane.outbox, ['A', 'B', 'C']);
    lane.sink.answer(forbidden);
    await lane.run();
  }
  using lane = openTestLane(directory.path, { batchMax });
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1, 2, 3]]);
});

test('a suspended sink that takes an urgent record is taken at its word: its queue does not wait for the probe', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A', 'B']);
  lane.sink.answer(forbidden);
  await lane.run();
  lane.sink.answer(delivered);
  announceEach(lane.outbox, ['C'], true);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [3], [1], [2]]);
});

test('an urgent record goes past a suspension at once, also where nothing before it was tried yet', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A']);
  lane.sink.answer(forbidden);
  await lane.run();
  using database = openOutboxForCare(directory.path);
  if (database !== null) discardDeliveries(database, {}, lane.clock.now());
  announceEach(lane.outbox, ['B']);
  announceEach(lane.outbox, ['C'], true);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [3]]);
});

test('an urgent record does not wait while a sink keeps its distance from one attempt to the next', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { spacingMs: 10 * second });
  announceEach(lane.outbox, ['A', 'B', 'C']);
  await lane.run();
  announceEach(lane.outbox, ['D'], true);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [4]]);
});

test('an urgent record waits for one attempt of a slow sink, and not for one of each record before it', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  lane.sink.answer(() => {
    lane.clock.advance(14 * second);
    return delivered;
  });
  announceEach(lane.outbox, ['A', 'B', 'C']);
  announceEach(lane.outbox, ['D'], true);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [4], [2], [3]]);
});

test('a newer phase that is damaged overtakes nothing: the older one is still said', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(lane.outbox, ['A', 'A']);
  using database = openOutboxForCare(directory.path);
  database?.exec('UPDATE record SET committed_at = committed_at + 1 WHERE sequence = 2');
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1]]);
  expect(written(directory.path)).toEqual(['1 delivered', '2 dead damaged']);
});

test('a sink that answers without waiting for anything leaves everybody else their turn', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(
    lane.outbox,
    Array.from({ length: 50 }, (_, index) => `E${index}`),
  );
  const loop = deliver(lane.sink.open, { ...lane.runtime, wake: openWake() });
  await setImmediate();
  const meanwhile = lane.sink.attempts.length;
  lane.stop.abort();
  await loop;
  expect(meanwhile).toBeLessThan(50);
});

test('a sink that was suspended for a quarter of an hour is probed with one record, and then gets its batches', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { batchMax: { records: 9, bytes: 1_000_000 } });
  announceEach(lane.outbox, ['A', 'B', 'C']);
  lane.sink.answer(forbidden);
  await lane.pass(14 * minute);
  expect(lane.sink.attempts).toEqual([[1, 2, 3]]);
  lane.sink.answer(delivered);
  await lane.pass(minute);
  expect(lane.sink.attempts.slice(1)).toEqual([[1], [2, 3]]);
});

test('a clock that ran hours ahead until it was set keeps nobody waiting for hours, unless a receiver asked for them', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A']);
  for (const answer of [busy, forbidden, throttled]) {
    lane.sink.answer(answer);
    await lane.run();
    lane.clock.set(-9 * hour);
  }
  expect(lane.sink.attempts).toHaveLength(3);
  lane.sink.answer(delivered);
  await lane.run();
  // What a receiver asked for cannot be told from what the clock did.
  expect(lane.sink.attempts).toHaveLength(3);
  await lane.pass(10 * hour + minute);
  expect(lane.sink.attempts).toHaveLength(4);
});

test('a clock that is set back by a little makes no probe come early', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A']);
  lane.sink.answer(forbidden);
  await lane.run();
  lane.clock.set(-minute);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1]]);
});

test('a pause that only a clock set years back makes last keeps no urgent record behind a head in trouble', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A']);
  lane.sink.answer(throttled);
  await lane.run();
  lane.clock.set(-100_000 * hour);
  announceEach(lane.outbox, ['B'], true);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [2]]);
});
