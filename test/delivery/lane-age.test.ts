// How long deliveries live, and how patient a lane is with a sink that is at fault: on a real outbox, step by step.
import { expect, test } from 'vitest';
import { chatPolicy } from '../../src/core/delivery.ts';
import { openOutboxForCare, retryDeliveries } from '../../src/delivery/outbox/care.ts';
import { announceEach, busy, missing, openTestLane, revoked, throttled, written } from '../support/lanes.ts';
import { delivered } from '../support/scripted-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

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

test('what was never tried ages out behind a pause that its receiver asked for', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(lane.outbox, ['A', 'B']);
  lane.sink.answer({ ...throttled, retryAfterMs: 3 * hour });
  await lane.pass(hour + minute);
  expect(lane.sink.attempts).toEqual([[1]]);
  expect(written(directory.path)).toEqual(['1 dead expired', '2 dead expired']);
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
  await lane.pass(6 * minute);
  lane.sink.answer(missing);
  await lane.pass(14 * minute);
  const said = lane.log.lines.filter(({ message }) => message.startsWith('the sink is suspended'));
  expect(said.map(({ level }) => level)).toEqual(['warn', 'warn']);
});
