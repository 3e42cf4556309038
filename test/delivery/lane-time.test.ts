// Distances between attempts, a VM that was frozen, and clocks that are set.
import { expect, test } from 'vitest';
import { discardDeliveries, openOutboxForCare } from '../../src/delivery/outbox/care.ts';
import { announceEach, busy, openTestLane, revoked, throttled } from '../support/lanes.ts';
import { delivered } from '../support/scripted-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

test('attempts keep the distance that the receiver can bear, and only urgent records do not', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { spacingMs: 2 * second });
  announceEach(lane.outbox, ['A', 'B']);
  expect(await lane.run()).toBe(2 * second);
  expect(lane.sink.attempts).toEqual([[1]]);
  lane.clock.advance(2 * second - 1);
  expect(await lane.run()).toBe(1);
  lane.clock.advance(1);
  expect(await lane.run()).toBe(minute);
  announceEach(lane.outbox, ['C'], true);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [2], [3]]);
});

test('after a long freeze what waited for a backoff or a probe draws its time anew, once', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A', 'B']);
  for (const answer of [busy, revoked]) {
    lane.sink.answer(answer);
    await lane.run();
    const before = lane.sink.attempts.length;
    lane.clock.advance(hour);
    const ms = await lane.run();
    expect(ms).toBeGreaterThan(0);
    expect(lane.sink.attempts).toHaveLength(before);
    lane.clock.advance(ms);
    await lane.run();
    expect(lane.sink.attempts).toHaveLength(before + 1);
  }
});

test('after a long freeze neither a short wait, a first attempt nor an urgent record is put off', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  await lane.run();
  lane.clock.advance(hour);
  announceEach(lane.outbox, ['A']);
  lane.sink.answer(busy);
  const ms = await lane.run();
  expect(lane.sink.attempts).toEqual([[1]]);
  lane.clock.advance(ms + 4 * minute);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [1]]);
  lane.clock.advance(hour);
  announceEach(lane.outbox, ['U'], true);
  await lane.run();
  expect(lane.sink.attempts.slice(2)).toEqual([[2]]);
});

test('an urgent record that waits for its second attempt is not put off by a freeze either', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['U'], true);
  lane.sink.answer(busy);
  await lane.run();
  lane.clock.advance(hour);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [1]]);
});

test('a probe is drawn anew after a freeze with whatever record it is made', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A', 'B']);
  lane.sink.answer(revoked);
  await lane.run();
  using database = openOutboxForCare(directory.path);
  if (database !== null) discardDeliveries(database, { states: ['suspended'] }, lane.clock.now());
  announceEach(lane.outbox, ['C']);
  lane.clock.advance(hour);
  expect(await lane.run()).toBe(500);
  expect(lane.sink.attempts).toEqual([[1]]);
});

test('a clock that ran years ahead when a record was written or put off keeps nothing waiting', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A', 'B']);
  lane.sink.answer(throttled);
  await lane.run();
  lane.clock.set(-100_000 * hour);
  lane.sink.answer(delivered);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [1], [2]]);
});
