// The way to one sink, step by step, on a real outbox: what is attempted, when, and what is written down.
import { expect, test } from 'vitest';
import { openLane } from '../../src/agent/lane.ts';
import type { MeasuredAttempt, MeasuredSettlement } from '../../src/agent/meters.ts';
import {
  discardDeliveries,
  listDeliveries,
  openOutboxForCare,
  retryDeliveries,
} from '../../src/agent/outbox/care.ts';
import { chatPolicy, type Outcome } from '../../src/core/delivery.ts';
import { emptyWatch } from '../../src/core/watch.ts';
import { openTestLane, run } from '../support/lanes.ts';
import { announce, announcement } from '../support/outboxes.ts';
import { delivered } from '../support/scripted-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const busy: Outcome = { status: 'retryable', reason: 'http-503' };
const revoked: Outcome = { status: 'unavailable', reason: 'http-410' };
const missing: Outcome = { status: 'unavailable', reason: 'http-404', passing: true };
const throttled: Outcome = { status: 'retryable', reason: 'throttled', retryAfterMs: hour };

/** What the file says of every delivery: `1 dead expired`. */
function written(directory: string): string[] {
  using database = openOutboxForCare(directory);
  if (database === null) return [];
  return listDeliveries(database, {}).map(({ sequence, state, reason }) =>
    [sequence, state, reason ?? ''].join(' ').trim(),
  );
}

/** Announces events of different ids, so that none overtakes another. */
function announceEach(outbox: Parameters<typeof announce>[0], ids: readonly string[], urgent = false): void {
  for (const eventId of ids) {
    const { watch, draft } = announcement({ eventId }, emptyWatch('boot'), urgent);
    if (!outbox.commit(watch, [draft]).ok) throw new Error('the commit failed');
  }
}

test('a chat message that failed is not sent an hour later: it is dead, and the next one is tried', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(lane.outbox, ['A']);
  lane.sink.answer(busy);
  await lane.run();
  lane.clock.advance(hour);
  announceEach(lane.outbox, ['B']);
  lane.sink.answer(delivered);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [2]]);
  expect(written(directory.path)).toEqual(['1 dead expired', '2 delivered']);
});

test('what was never tried because the VM was off gets its one attempt, however old it is', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(lane.outbox, ['A', 'B']);
  lane.clock.advance(30 * hour);
  lane.sink.answer((sequence) => (sequence === 1 ? busy : delivered));
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [2]]);
  expect(written(directory.path)).toEqual(['1 dead expired', '2 delivered']);
});

test('the queue of a suspended chat ages out into the dead letters while the sink rests on', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(lane.outbox, ['A', 'B', 'C']);
  lane.clock.advance(5 * minute);
  lane.sink.answer(revoked);
  await lane.pass(45 * minute);
  announceEach(lane.outbox, ['D']);
  await lane.pass(10 * minute);
  // Probed every quarter of an hour, and not because others died in between.
  expect(lane.sink.attempts).toEqual([[1], [1], [1], [1]]);
  expect(written(directory.path)).toEqual([
    '1 dead expired',
    '2 dead expired',
    '3 dead expired',
    '4 suspended http-410',
  ]);
});

test('a lane that rests looks again when its head grows too old, not only when it is due', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(lane.outbox, ['A']);
  lane.sink.answer({ ...throttled, retryAfterMs: 3 * hour });
  await lane.run();
  lane.clock.advance(hour - second);
  expect(await lane.run()).toBe(second);
});

test('what a person asks for again is as if new: its age and its attempts begin again', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(lane.outbox, ['A']);
  lane.sink.answer(busy);
  await lane.pass(2 * hour);
  expect(written(directory.path)).toEqual(['1 dead expired']);
  using database = openOutboxForCare(directory.path);
  if (database !== null) retryDeliveries(database, {}, lane.clock.now());
  // Half of the ceiling of a first backoff, not of a second one.
  expect(await lane.run()).toBe(500);
  await lane.pass(30 * minute);
  lane.sink.answer(delivered);
  await lane.pass(minute);
  expect(written(directory.path)).toEqual(['1 delivered']);
});

test('a missing receiver is probed soon at first, said as a warning, and as an error once it lasts', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A']);
  lane.sink.answer(missing);
  let probes = 0;
  for (let elapsed = 0; elapsed < 60 * minute; ) {
    const ms = await lane.run();
    probes = lane.sink.attempts.length;
    lane.clock.advance(ms);
    elapsed += ms;
  }
  const said = lane.log.lines.filter(({ message }) => message.startsWith('the sink is suspended'));
  expect(said.map(({ level }) => level)).toEqual(['warn', 'error']);
  expect(said.map(({ fields }) => fields)).toMatchObject([
    { reason: 'http-404', advice: expect.stringContaining('check the URL') },
    { reason: 'http-404', advice: expect.stringContaining('check the URL') },
  ]);
  // Half a second, one, two, four … until 2.5 minutes at a time; then three times in three quarters of an hour.
  expect(probes).toBeGreaterThan(12);
  expect(probes).toBeLessThan(18);
});

test('another answer in between begins the patience with a missing receiver anew', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A']);
  lane.sink.answer(missing);
  await lane.run();
  lane.sink.answer(busy);
  await lane.pass(2 * minute);
  lane.sink.answer(missing);
  await lane.pass(14 * minute);
  const said = lane.log.lines.filter(({ message }) => message.startsWith('the sink is suspended'));
  expect(said.map(({ level }) => level)).toEqual(['warn', 'warn']);
});

test('an urgent record goes past backoff and suspension, and past what waits there', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A', 'B']);
  lane.sink.answer(revoked);
  await lane.run();
  announceEach(lane.outbox, ['C'], true);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [3]]);
});

test('an urgent record goes past the floor that no receiver asked for, but not past a pause that one did', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A']);
  lane.sink.answer({ status: 'retryable', reason: 'tls-untrusted', delayMsMin: 5 * minute });
  await lane.run();
  announceEach(lane.outbox, ['B'], true);
  lane.sink.answer({ ...revoked, retryAfterMs: minute });
  await lane.run();
  announceEach(lane.outbox, ['C'], true);
  expect(lane.sink.attempts).toEqual([[1], [2]]);
  lane.clock.advance(minute - 1);
  await lane.run();
  expect(lane.sink.attempts).toHaveLength(2);
  lane.clock.advance(1);
  await lane.run();
  expect(lane.sink.attempts.slice(2)).toEqual([[3]]);
});

test('an urgent record does not wait behind a long queue that is on its way, and keeps its place in a short one', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  const names = Array.from({ length: 11 }, (_, index) => `E${index}`);
  announceEach(lane.outbox, names.slice(0, 10));
  announceEach(lane.outbox, ['U'], true);
  await lane.run();
  expect(lane.sink.attempts.map(([sequence]) => sequence)).toEqual(names.map((_, index) => index + 1));
  announceEach(lane.outbox, names);
  announceEach(lane.outbox, ['U'], true);
  await lane.run();
  expect(lane.sink.attempts.slice(11).map(([sequence]) => sequence)).toEqual([
    23,
    ...names.map((_, index) => index + 12),
  ]);
});

test('a pause that a receiver asked for outlasts a restart, and a suspension does not', async () => {
  using directory = temporaryDirectory();
  {
    using lane = openTestLane(directory.path);
    announceEach(lane.outbox, ['A']);
    lane.sink.answer(throttled);
    await lane.run();
    // The delivery that was answered is let go: only the sink's own rest can hold up the next one.
    using database = openOutboxForCare(directory.path);
    if (database !== null) discardDeliveries(database, {}, lane.clock.now());
    announceEach(lane.outbox, ['B']);
  }
  {
    using lane = openTestLane(directory.path);
    await lane.run();
    expect(lane.sink.attempts).toEqual([]);
    lane.clock.advance(hour);
    lane.sink.answer(revoked);
    await lane.run();
    expect(lane.sink.attempts).toEqual([[2]]);
  }
  using lane = openTestLane(directory.path);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[2]]);
});

test('a chat skips a phase of an event that a newer one overtook, and no record of anything else', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(lane.outbox, ['A', 'B', 'A', 'A'], true);
  announceEach(lane.outbox, ['AB', 'B']);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[4], [5], [6]]);
  expect(written(directory.path)).toEqual([
    '1 superseded',
    '2 superseded',
    '3 superseded',
    '4 delivered',
    '5 delivered',
    '6 delivered',
  ]);
});

test('a newer phase that is settled already supersedes nothing, and a data sink gets every phase', async () => {
  using directory = temporaryDirectory();
  using chat = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(chat.outbox, ['A']);
  chat.sink.answer(busy);
  await chat.run();
  announceEach(chat.outbox, ['A'], true);
  chat.sink.answer(delivered);
  await chat.run();
  chat.clock.advance(minute);
  await chat.run();
  expect(chat.sink.attempts).toEqual([[1], [2], [1]]);
  using other = temporaryDirectory();
  using data = openTestLane(other.path);
  announceEach(data.outbox, ['A', 'A', 'A']);
  await data.run();
  expect(data.sink.attempts).toEqual([[1], [2], [3]]);
});

test('a sink that takes batches drains its queue in them, in order, within records and bytes', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { batchMax: { records: 4, bytes: 1_000_000 } });
  announceEach(lane.outbox, ['A', 'B', 'C', 'D', 'E', 'F']);
  await lane.run();
  expect(lane.sink.attempts).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ]);
  const [record] = announce(lane.outbox, 4);
  const bytes = JSON.stringify(record).length;
  using small = openTestLane(directory.path, { batchMax: { records: 9, bytes: 2 * bytes + 100 } });
  await small.run();
  expect(small.sink.attempts).toEqual([
    [7, 8],
    [9, 10],
  ]);
});

test('a record too big for any batch goes alone', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { batchMax: { records: 9, bytes: 10 } });
  announceEach(lane.outbox, ['A', 'B']);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [2]]);
});

test('outcomes for the first part of a batch are written down, and the rest is tried again', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { batchMax: { records: 9, bytes: 1_000_000 } });
  announceEach(lane.outbox, ['A', 'B', 'C', 'D']);
  const { sink } = lane.sink.open;
  const takeTwo: typeof sink = { ...sink, sendMany: async () => [delivered, throttled] };
  await run(openLane({ ...lane.sink.open, sink: takeTwo }, lane.runtime));
  expect(written(directory.path)).toEqual([
    '1 delivered',
    '2 pending throttled',
    '3 pending throttled',
    '4 pending throttled',
  ]);
  lane.clock.advance(hour + second);
  await lane.run();
  // After a rest one record goes ahead; only what was tried counts as an attempt.
  expect(lane.sink.attempts).toEqual([[2], [3, 4]]);
});

test('a damaged record ends the batch before it, dies alone, and the batch goes on behind it', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { batchMax: { records: 9, bytes: 1_000_000 } });
  announceEach(lane.outbox, ['A', 'B', 'C', 'D']);
  using database = openOutboxForCare(directory.path);
  database?.exec('UPDATE record SET committed_at = committed_at + 1 WHERE sequence = 3');
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1, 2], [4]]);
  expect(written(directory.path)[2]).toBe('3 dead damaged');
});

test('a sink without an answer, which is a bug, costs no record and is said', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { batchMax: { records: 9, bytes: 1_000_000 } });
  announceEach(lane.outbox, ['A', 'B']);
  const { sink } = lane.sink.open;
  await run(openLane({ ...lane.sink.open, sink: { ...sink, sendMany: async () => [] } }, lane.runtime));
  expect(written(directory.path)).toEqual(['1 pending unexpected', '2 pending']);
  expect(lane.log.lines.filter(({ message }) => message.includes('bug'))).toHaveLength(1);
});

test('an attempt that the end of the agent cut off does not count', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { batchMax: { records: 9, bytes: 1_000_000 } });
  announceEach(lane.outbox, ['A', 'B']);
  lane.sink.answer((sequence) => {
    lane.stop.abort();
    return sequence === 1 ? delivered : { status: 'retryable', reason: 'aborted' };
  });
  const sight = lane.lane.look();
  if (sight.status === 'due') await lane.lane.attempt(sight.due);
  using database = openOutboxForCare(directory.path);
  const rows = database === null ? [] : listDeliveries(database, {});
  expect(rows.map(({ state, attempts }) => [state, attempts])).toEqual([
    ['delivered', 1],
    ['pending', 0],
  ]);
});

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

test('a stale connection is tried once more at once, and not for ever, in batches too', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { batchMax: { records: 9, bytes: 1_000_000 } });
  announceEach(lane.outbox, ['A', 'B']);
  lane.sink.answer({ status: 'retryable', reason: 'connection-reset', stale: true });
  await lane.run();
  expect(lane.sink.attempts).toEqual([
    [1, 2],
    [1, 2],
  ]);
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

test('whoever measures is told each attempt and each end once', async () => {
  using directory = temporaryDirectory();
  const attempts: Partial<MeasuredAttempt>[] = [];
  const ends: MeasuredSettlement[] = [];
  const meters = {
    poll: () => undefined,
    records: () => undefined,
    attempt: ({ durationMs: _, ...measured }: MeasuredAttempt) => void attempts.push(measured),
    settled: (measured: MeasuredSettlement) => void ends.push(measured),
  };
  using lane = openTestLane(directory.path, { policy: chatPolicy, meters });
  announceEach(lane.outbox, ['A', 'A', 'B']);
  lane.clock.advance(2 * second);
  lane.sink.answer((sequence) => (sequence === 2 ? delivered : { status: 'rejected', reason: 'http-400' }));
  await lane.run();
  expect(attempts).toEqual([
    { sink: 'a', outcome: 'delivered', reason: null },
    { sink: 'a', outcome: 'rejected', reason: 'http-400' },
  ]);
  expect(ends).toEqual([
    { sink: 'a', state: 'superseded', endToEndMs: 2_000 },
    { sink: 'a', state: 'delivered', endToEndMs: 2_000 },
    { sink: 'a', state: 'dead', endToEndMs: 2_000 },
  ]);
});

test('a mended secret ends a rest and makes the head due', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A', 'B']);
  lane.sink.answer(revoked);
  await lane.run();
  lane.outbox.wake('a');
  lane.sink.answer(delivered);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [1], [2]]);
});

test('what a person says while an attempt is under way holds, unless it was delivered', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path);
  announceEach(lane.outbox, ['A', 'B']);
  using database = openOutboxForCare(directory.path);
  if (database === null) throw new Error('the outbox is there');
  lane.sink.answer(() => {
    discardDeliveries(database, { states: ['pending'] }, lane.clock.now());
    return revoked;
  });
  await lane.run();
  expect(written(directory.path)).toEqual(['1 discarded discarded', '2 discarded discarded']);
  announceEach(lane.outbox, ['C']);
  lane.sink.answer(() => {
    discardDeliveries(database, { states: ['pending'] }, lane.clock.now());
    return delivered;
  });
  await lane.pass(15 * minute);
  expect(written(directory.path)[2]).toBe('3 delivered');
  announceEach(lane.outbox, ['D']);
  lane.clock.advance(1);
  lane.sink.answer(() => {
    retryDeliveries(database, { states: ['pending'] }, lane.clock.now());
    lane.sink.answer(delivered);
    return revoked;
  });
  await lane.run();
  expect(written(directory.path)[3]).toBe('4 delivered');
});
