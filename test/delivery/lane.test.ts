// What others learn of the way to a sink, and how they may step in.
import { expect, test } from 'vitest';
import { chatPolicy } from '../../src/core/delivery.ts';
import type { MeasuredAttempt, MeasuredSettlement } from '../../src/delivery/meters.ts';
import { discardDeliveries, openOutboxForCare, retryDeliveries } from '../../src/delivery/outbox/care.ts';
import { announceEach, openTestLane, revoked, written } from '../support/lanes.ts';
import { delivered } from '../support/scripted-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [second, minute] = [1_000, 60_000];

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
    discardDeliveries(database, {}, lane.clock.now());
    return revoked;
  });
  await lane.run();
  expect(written(directory.path)).toEqual(['1 discarded discarded', '2 discarded discarded']);
  announceEach(lane.outbox, ['C']);
  lane.sink.answer(() => {
    discardDeliveries(database, {}, lane.clock.now());
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
