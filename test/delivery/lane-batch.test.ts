// Several records in one attempt, and outcomes that are not those of the receiver.
import { expect, test } from 'vitest';
import { openLane } from '../../src/delivery/lane.ts';
import { listDeliveries, openOutboxForCare } from '../../src/delivery/outbox/care.ts';
import { announceEach, openTestLane, run, throttled, written } from '../support/lanes.ts';
import { announce } from '../support/outboxes.ts';
import { delivered } from '../support/scripted-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [second, hour] = [1_000, 3_600_000];

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
