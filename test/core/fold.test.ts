// The folds of the projections: order and repetition never matter, and the life of an event reads right.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AgentState,
  agentStateOf,
  joinAgents,
  joinWitnesses,
  summarizeAgent,
  witnessStateOf,
} from '../../src/core/agent-fold.ts';
import type { HookOutcome } from '../../src/core/deed.ts';
import { type DeedState, deedStateOf, joinDeeds } from '../../src/core/deed-fold.ts';
import {
  type EventState,
  eventStateOf,
  joinEvents,
  summarizeEvent,
  unknownEvent,
} from '../../src/core/event-fold.ts';
import { joinRanges, type Ranges } from '../../src/core/join.ts';
import { readRecord, type TrailRecord } from '../../src/core/read-record.ts';
import { type BridgeRecord, encodeRecord } from '../../src/core/record.ts';
import { freeze, liveMigration, observerOf, type Saying, saying, synthesisAt } from '../support/synthetic.ts';
import { beating, hooking } from '../support/synthetic-deeds.ts';

const read = (options: Saying): TrailRecord => readOf(saying(options));

function readOf(record: BridgeRecord): TrailRecord {
  const reading = readRecord(encodeRecord(record));
  if (reading.status !== 'record') throw new Error(reading.reason);
  return reading.record;
}

const stateOf = (record: TrailRecord): EventState =>
  record.event === null ? unknownEvent : eventStateOf(record, record.event);

const summaryOf = (...sayings: readonly Saying[]) =>
  summarizeEvent(sayings.map((said) => stateOf(read(said))).reduce(joinEvents, unknownEvent));

const minute = 60_000;
const started = freeze(0, { eventStatus: 'Started' });

// Few values, so that equal times, equal values and repeats are frequent.
const sayings: fc.Arbitrary<Saying> = fc.record({
  kind: fc.constantFrom('scheduled', 'updated', 'started', 'completed', 'canceled'),
  vm: fc.integer({ min: 0, max: 3 }),
  after: fc.integer({ min: 0, max: 5 }).map((step) => step * minute),
  sequence: fc.integer({ min: 0, max: 6 }),
  reason: fc.constantFrom(
    'status',
    'removed-after-started',
    'removed-before-not-before',
    'start-not-observed',
  ),
  event: fc
    .record({
      description: fc.constantFrom(null, 'a', 'b'),
      durationSeconds: fc.constantFrom(null, 5, 30),
      notBefore: fc.constantFrom(null, '2026-11-10T22:15:00Z', '2026-11-10T23:00:00Z'),
    })
    .map((change) => freeze(0, change)),
});

const shuffled = fc.array(sayings, { minLength: 1, maxLength: 12 }).chain((list) =>
  fc.record({
    list: fc.constant(list),
    mixed: fc.array(fc.nat({ max: list.length - 1 }), { maxLength: 12 }).chain((repeats) =>
      fc.shuffledSubarray([...list.keys(), ...repeats], {
        minLength: list.length + repeats.length,
        maxLength: list.length + repeats.length,
      }),
    ),
    cut: fc.nat({ max: 12 }),
  }),
);

/** Folds the same records one by one, and shuffled with repeats in two parts that are joined at the end. */
function bothWays<State>(
  { list, mixed, cut }: { list: Saying[]; mixed: number[]; cut: number },
  stateFrom: (record: TrailRecord) => State,
  join: (one: State, other: State) => State,
): [State, State] {
  const records = list.map(read);
  const other = mixed.flatMap((index) => records[index] ?? []);
  const fold = (part: TrailRecord[]): State[] => {
    const [first, ...rest] = part.map(stateFrom);
    return first === undefined ? [] : [rest.reduce(join, first)];
  };
  const [one] = fold(records);
  const [left, right] = [...fold(other.slice(0, cut)), ...fold(other.slice(cut))];
  if (one === undefined || left === undefined) throw new Error('nothing to fold');
  return [one, right === undefined ? left : join(left, right)];
}

test('the fold of an event does not depend on order, grouping or repetition', () => {
  return fc.assert(
    fc.property(shuffled, (input) => {
      const [one, other] = bothWays(input, stateOf, joinEvents);
      expect(JSON.stringify(other)).toBe(JSON.stringify(one));
    }),
    { numRuns: 300 },
  );
});

test('the fold of an agent does not depend on order, grouping or repetition', () => {
  return fc.assert(
    fc.property(shuffled, (input) => {
      const [one, other] = bothWays<AgentState>(input, agentStateOf, joinAgents);
      expect(JSON.stringify(other)).toBe(JSON.stringify(one));
    }),
    { numRuns: 300 },
  );
});

test('the fold of a witness does not depend on order, grouping or repetition', () => {
  return fc.assert(
    fc.property(shuffled, (input) => {
      const witness = (record: TrailRecord) => witnessStateOf(record) ?? expect.unreachable();
      const [one, other] = bothWays(input, witness, joinWitnesses);
      expect(JSON.stringify(other)).toBe(JSON.stringify(one));
    }),
    { numRuns: 300 },
  );
});

test('the fold of a deed does not depend on order, grouping or repetition', () => {
  const words = fc.record({
    outcome: fc.constantFrom('started', 'failed', 'succeeded'),
    after: fc.integer({ min: -2, max: 2 }),
    sequence: fc.integer({ min: 0, max: 3 }),
  });
  const deed = ({ outcome, after, sequence }: { outcome: HookOutcome; after: number; sequence: number }) =>
    readOf(hooking({ outcome }, { after, sequence }));
  const stateOfDeed = (record: TrailRecord): DeedState =>
    record.deed === null ? expect.unreachable() : deedStateOf(record, record.deed);
  return fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 8 }), fc.nat(), (list, turn) => {
      const states = list.map((word) => stateOfDeed(deed(word as never)));
      const cut = turn % states.length;
      const turned = [...states.slice(cut), ...states.slice(0, cut)];
      const [left, right] = [turned.slice(0, 3).reduce(joinDeeds), turned.slice(3)];
      const other = [...right, left, ...turned.slice(0, 2)].reduce(joinDeeds);
      expect(JSON.stringify(other)).toBe(JSON.stringify(states.reduce(joinDeeds)));
    }),
    { numRuns: 300 },
  );
});

test('of a deed the last word counts by the number of its record, whatever the clock said', () => {
  const [began, ended] = [
    readOf(hooking({ outcome: 'started' }, { sequence: 4, after: 900 })),
    readOf(hooking({ outcome: 'succeeded' }, { sequence: 5, after: -minute })),
  ].map((record) => (record.deed === null ? expect.unreachable() : deedStateOf(record, record.deed)));
  if (began === undefined || ended === undefined) throw new Error('two words');
  expect(joinDeeds(began, ended)).toMatchObject({
    ...{ firstAt: synthesisAt - minute, at: synthesisAt - minute },
    deed: { outcome: 'succeeded' },
  });
});

test('an agent is known by what it says of itself, each as said last', () => {
  const states = [
    beating({ heartbeatIntervalMs: 5 }, { sequence: 1 }),
    beating({ source: { state: 'failing', lastDocumentAt: null } }, { sequence: 2, after: 9 }),
  ].map((record) => agentStateOf(readOf(record)));
  expect(summarizeAgent('a', states.reduce(joinAgents))).toMatchObject({
    ...{ sourceState: 'failing', sourceAt: synthesisAt + 9, lastDocumentAt: synthesisAt },
    ...{ heartbeatIntervalMs: 3_600_000, pollIntervalMs: 1_000, seen: [], seenAt: synthesisAt + 9 },
  });
});

test('an event is first seen late when every agent that was first began with it', () => {
  const initial = (saidOf: Saying) => {
    const record = saying(saidOf);
    return stateOf(readOf({ ...record, data: { ...record.data, initial: true } }));
  };
  const [late, watched] = [
    initial({ kind: 'scheduled' }),
    stateOf(read({ kind: 'scheduled', vm: 1, after: 5 })),
  ];
  expect(summarizeEvent(late).firstSeenInitial).toBe(true);
  expect(summarizeEvent(joinEvents(late, watched)).firstSeenInitial).toBe(true);
  const earlier = stateOf(read({ kind: 'scheduled', vm: 2, after: -5 }));
  expect(summarizeEvent(joinEvents(late, earlier)).firstSeenInitial).toBe(false);
});

test('joined ranges hold every number of both and nothing else', () => {
  const numbers = fc.array(fc.nat({ max: 30 }), { maxLength: 20 });
  const rangesOf = (list: number[]): Ranges => list.reduce<Ranges>((all, n) => joinRanges(all, [[n, n]]), []);
  return fc.assert(
    fc.property(numbers, numbers, (one, other) => {
      const ranges = joinRanges(rangesOf(one), rangesOf(other));
      const held = ranges.flatMap(([from, to]) =>
        Array.from({ length: to - from + 1 }, (_, at) => from + at),
      );
      expect(held).toEqual([...new Set([...one, ...other])].sort((a, b) => a - b));
      expect(ranges.every(([from], at) => at === 0 || from > (ranges[at - 1]?.[1] ?? 0) + 1)).toBe(true);
    }),
  );
});

test('a live migration seen by three VMs is one life with the first time of each phase', () => {
  const states = [2, 0, 1]
    .flatMap((vm) => liveMigration(0, vm))
    .map((record) => readRecord(encodeRecord(record)))
    .flatMap((reading) => (reading.status === 'record' ? [stateOf(reading.record)] : []));
  expect(summarizeEvent(states.reduce(joinEvents))).toEqual({
    status: 'completed',
    outcome: 'completed',
    outcomeInferred: true,
    eventType: 'Freeze',
    eventSource: 'Platform',
    notBefore: freeze().notBefore,
    durationSeconds: 5,
    description: freeze().description,
    firstSeenAt: synthesisAt,
    firstSeenInitial: false,
    lastSeenAt: synthesisAt + 960_002,
    scheduledAt: synthesisAt,
    updatedAt: null,
    startedAt: synthesisAt + 900_000,
    endedAt: synthesisAt + 960_000,
  });
});

test('an event stands where its furthest phase says while nobody saw it end', () => {
  expect(summaryOf({ kind: 'scheduled' })).toMatchObject({
    status: 'scheduled',
    outcome: null,
    endedAt: null,
  });
  expect(summaryOf({ kind: 'started', event: started }, { kind: 'scheduled', after: 5 })).toMatchObject({
    status: 'started',
    outcome: null,
  });
});

test('gone before its time is canceled, gone after it without a start is a missed start', () => {
  const gone = { kind: 'canceled', reason: 'removed-before-not-before', after: minute } as const;
  const missed = { kind: 'completed', reason: 'start-not-observed', after: minute } as const;
  expect(summaryOf({ kind: 'scheduled' }, gone)).toMatchObject({ status: 'canceled', outcome: 'canceled' });
  expect(summaryOf({ kind: 'scheduled' }, missed)).toMatchObject({
    status: 'completed',
    outcome: 'missed-start',
    outcomeInferred: true,
  });
});

test('the better founded ending wins over the observer that looked away', () => {
  const gone = { kind: 'canceled', reason: 'removed-before-not-before', vm: 0, after: minute } as const;
  const missed = { kind: 'completed', reason: 'start-not-observed', vm: 1, after: minute + 5 } as const;
  expect(summaryOf(missed, gone)).toMatchObject({ status: 'canceled', outcome: 'canceled' });
  const seen = { kind: 'started', event: started, vm: 2, after: 1 } as const;
  expect(summaryOf(missed, gone, seen)).toMatchObject({ status: 'completed', outcome: 'completed' });
});

test('an end that Azure said is not called inferred, whatever others inferred', () => {
  const said = { kind: 'completed', reason: 'status', after: minute } as const;
  const inferred = { kind: 'canceled', reason: 'removed-before-not-before', after: minute } as const;
  expect(summaryOf(said, inferred)).toMatchObject({ outcome: 'completed', outcomeInferred: false });
  expect(summaryOf({ kind: 'started', event: started }, said)).toMatchObject({
    outcome: 'completed',
    outcomeInferred: false,
  });
});

test('an event that comes back is open again, but a slow observer does not reopen it', () => {
  const gone = { kind: 'canceled', reason: 'removed-before-not-before', after: minute } as const;
  expect(summaryOf(gone, { kind: 'scheduled', after: 2 * minute })).toMatchObject({ status: 'canceled' });
  expect(summaryOf(gone, { kind: 'scheduled', after: 60 * minute })).toMatchObject({
    status: 'scheduled',
    outcome: null,
    endedAt: null,
  });
});

test('of two lives the last one tells how the event ended', () => {
  const first = { kind: 'canceled', reason: 'removed-before-not-before', after: minute } as const;
  const second = { kind: 'completed', reason: 'start-not-observed', after: 90 * minute } as const;
  expect(summaryOf(first, { kind: 'scheduled', after: 60 * minute }, second)).toMatchObject({
    status: 'completed',
    outcome: 'missed-start',
    endedAt: synthesisAt + 90 * minute,
  });
});

test('the latest content wins, and what an observer does not know takes nothing away', () => {
  const later = freeze(0, { durationSeconds: 30, notBefore: null, description: 'changed' });
  expect(summaryOf({ kind: 'updated', event: later, after: 9 }, { kind: 'scheduled' })).toMatchObject({
    durationSeconds: 30,
    description: 'changed',
    notBefore: freeze().notBefore,
  });
});

test('an agent is known by what it said last, and a hole in its count shows', () => {
  const late = { ...observerOf(0), zone: '2' };
  const early = { ...observerOf(0), zone: '1', vmId: null };
  const states = [
    read({ kind: 'started', sequence: 4, after: 9, observer: late }),
    read({ kind: 'scheduled', sequence: 1, observer: early }),
    read({ kind: 'updated', sequence: 2, after: 5, observer: early }),
  ].map(agentStateOf);
  const state = states.reduce(joinAgents);
  expect(state.sequences).toEqual([
    [1, 2],
    [4, 4],
  ]);
  expect(state.fields['zone']?.value).toBe('2');
  expect(state.fields['vmId']?.value).toBe(observerOf(0).vmId);
  expect(state.seen).toEqual({ first: synthesisAt, last: synthesisAt + 9 });
});
