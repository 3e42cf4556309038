// Who goes first at a sink: urgent records, pauses, and phases of an event that a newer one overtook.
import { expect, test } from 'vitest';
import { chatPolicy } from '../../src/core/delivery.ts';
import type { Speaker } from '../../src/core/fleet-fact.ts';
import { silenceRecord, waveRecord } from '../../src/core/fleet-record.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { discardDeliveries, openOutboxForCare, retryDeliveries } from '../../src/delivery/outbox/care.ts';
import type { Draft } from '../../src/delivery/outbox/draft.ts';
import { approvalOf, hookOf } from '../support/deed-records.ts';
import { fleetFact, fleetVm, folded, onlyWave, rollingFacts } from '../support/fleet-facts.ts';
import { announceEach, busy, openTestLane, revoked, throttled, written } from '../support/lanes.ts';
import { sampleObserver } from '../support/records.ts';
import { delivered } from '../support/scripted-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [minute, hour] = [60_000, 3_600_000];

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

test('a deed overtakes no phase of its event, and no phase and no other deed overtakes it', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  const doDeed = (deedOf: typeof hookOf | typeof approvalOf): void => {
    const make: Draft['make'] = (agent) =>
      deedOf({ event: { eventId: 'A' } }, { observer: sampleObserver, agent: { version: '0', ...agent } });
    lane.outbox.commit(null, [{ factId: null, urgent: false, make }]);
  };
  announceEach(lane.outbox, ['A']);
  for (const deedOf of [hookOf, hookOf, approvalOf]) doDeed(deedOf);
  await lane.run();
  doDeed(hookOf);
  announceEach(lane.outbox, ['A']);
  await lane.run();
  expect(lane.sink.attempts).toEqual([[1], [2], [3], [4], [5], [6]]);
});

test('a chat skips a record of a wave that a newer one of it overtook, and no word of anybody’s silence', async () => {
  using directory = temporaryDirectory();
  using lane = openTestLane(directory.path, { policy: chatPolicy });
  const facts = rollingFacts();
  const say = (make: (speaker: Speaker) => BridgeRecord): void => {
    const draft: Draft = {
      ...{ factId: null, urgent: false },
      make: (agent) => make({ source: 'urn:uuid:0', agent: { version: '0', ...agent } }),
    };
    lane.outbox.commit(null, [draft]);
  };
  const vms = [{ name: 'web-1', vmId: null, since: null, expectedBy: null }];
  const other = fleetFact({ kind: 'scheduled', vms: [fleetVm(1, { vmScaleSet: 'db' })] });
  say((speaker) => waveRecord(onlyWave(folded(facts.slice(0, 1))), 0, speaker));
  say((speaker) => silenceRecord({ state: 'silent', vms }, 1, speaker));
  say((speaker) => waveRecord(onlyWave(folded([other])), 2, speaker));
  say((speaker) => waveRecord(onlyWave(folded(facts)), 3, speaker));
  say((speaker) => silenceRecord({ state: 'silent', vms }, 4, speaker));
  await lane.run();
  expect(lane.sink.attempts).toEqual([[2], [3], [4], [5]]);
});

test('a chat does not go back to a phase once a newer one was said, unless a person asks for it', async () => {
  using directory = temporaryDirectory();
  using chat = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(chat.outbox, ['A']);
  chat.sink.answer(busy);
  await chat.run();
  announceEach(chat.outbox, ['A'], true);
  chat.sink.answer(delivered);
  await chat.pass(minute);
  expect(chat.sink.attempts).toEqual([[1], [2]]);
  expect(written(directory.path)).toEqual(['1 superseded', '2 delivered']);
  announceEach(chat.outbox, ['B']);
  chat.sink.answer({ status: 'rejected', reason: 'http-400' });
  await chat.run();
  announceEach(chat.outbox, ['B']);
  chat.sink.answer(delivered);
  await chat.pass(minute);
  using database = openOutboxForCare(directory.path);
  if (database !== null) retryDeliveries(database, { states: ['dead'] }, chat.clock.now());
  await chat.run();
  expect(chat.sink.attempts.slice(2)).toEqual([[3], [4], [3]]);
});

test('a newer phase that died supersedes nothing, and a data sink gets every phase', async () => {
  using directory = temporaryDirectory();
  using chat = openTestLane(directory.path, { policy: chatPolicy });
  announceEach(chat.outbox, ['A']);
  chat.sink.answer(busy);
  await chat.run();
  announceEach(chat.outbox, ['A'], true);
  chat.sink.answer({ status: 'rejected', reason: 'http-400' });
  await chat.run();
  chat.sink.answer(delivered);
  await chat.pass(minute);
  expect(chat.sink.attempts).toEqual([[1], [2], [1]]);
  using other = temporaryDirectory();
  using data = openTestLane(other.path);
  announceEach(data.outbox, ['A', 'A', 'A']);
  await data.run();
  expect(data.sink.attempts).toEqual([[1], [2], [3]]);
});
