// What a VM felt of an event, from ticks: the bounds must hold whatever the clocks and the machine do.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Boot,
  type Felt,
  feelGap,
  feelRestart,
  impactOf,
  isNear,
  isSurelyFelt,
  joinFelt,
  type LastTick,
  nothingFelt,
  ordinaryDelayMs,
  summaryOf,
  type Tick,
  tickIntervalMs,
} from '../../src/core/impact.ts';
import type { Sighting } from '../../src/core/watch.ts';
import { eventOf, freeze, freezeStarted } from '../support/documents.ts';

const at = Date.UTC(2026, 10, 20, 3);
const planned = tickIntervalMs.near;
const tick = (wallMs: number, monotonicMs = wallMs): Tick => ({ at: at + wallMs, monotonicMs });
const gap = (wallMs: number, monotonicMs = wallMs): Felt =>
  feelGap(nothingFelt, tick(0), tick(wallMs, monotonicMs), planned);

describe('the time between two ticks', () => {
  test.each([
    ['as long as planned', 250, 250, { kind: 'none', measured: { lowerMs: 0, upperMs: 250 } }],
    ['a little late', 700, 700, { kind: 'none', measured: { lowerMs: 0, upperMs: 700 } }],
    ['far too long', 3_200, 3_200, { kind: 'pause', measured: { lowerMs: 2_450, upperMs: 3_200 } }],
    [
      'by a clock that was set forward',
      60_250,
      250,
      { kind: 'pause', measured: { lowerMs: 0, upperMs: 60_250 } },
    ],
    ['by a clock that was set back', -59_750, 250, { kind: 'none', measured: { lowerMs: 0, upperMs: 250 } }],
    [
      'too long, and the clock was set back',
      -10,
      3_200,
      { kind: 'pause', measured: { lowerMs: 2_450, upperMs: 3_200 } },
    ],
    [
      'too long by both, by one more',
      9_000,
      3_200,
      { kind: 'pause', measured: { lowerMs: 2_450, upperMs: 9_000 } },
    ],
  ] as const)('%s', (_, wallMs, monotonicMs, expected) => {
    expect(summaryOf(gap(wallMs, monotonicMs))).toEqual(expected);
  });

  test('a clock that somebody sets is never felt for sure, in whatever direction and by however much', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e9, max: 1e9 }),
        fc.nat(planned + ordinaryDelayMs),
        (setMs, spentMs) => {
          const felt = gap(spentMs + setMs, spentMs);
          expect(isSurelyFelt(felt)).toBe(false);
          if (setMs <= 0) expect(felt.pauses).toEqual([]);
        },
      ),
    );
  });
});

/** One sleep of the agent, in a VM that may stand still meanwhile. */
interface Nap {
  /** Of the sleep, before the VM stands still. */
  readonly sleptMs: number;
  readonly stillMs: number;
  /** By how much the tick is late for reasons of every day. */
  readonly lateMs: number;
  /** Whether the clock that nobody sets goes on while the VM stands still. */
  readonly monotonicGoesOn: boolean;
}

const nap: fc.Arbitrary<Nap> = fc.record({
  sleptMs: fc.nat(planned),
  stillMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(60_000) }),
  lateMs: fc.oneof({ weight: 3, arbitrary: fc.nat(5) }, { weight: 1, arbitrary: fc.nat(ordinaryDelayMs) }),
  monotonicGoesOn: fc.boolean(),
});

/** The wall clock is right again by the next tick, as Azure promises of a VM that stood still. */
function live(naps: readonly Nap[]): Felt {
  let felt = nothingFelt;
  let last = tick(0);
  for (const { sleptMs, stillMs, lateMs, monotonicGoesOn } of naps) {
    // A timer that fell due meanwhile goes off at once.
    const restMs = monotonicGoesOn ? Math.max(planned - sleptMs - stillMs, 0) : planned - sleptMs;
    const ranMs = sleptMs + restMs + lateMs;
    const next = {
      at: last.at + ranMs + stillMs,
      monotonicMs: last.monotonicMs + ranMs + (monotonicGoesOn ? stillMs : 0),
    };
    felt = feelGap(felt, last, next, planned);
    last = next;
  }
  return felt;
}

describe('whatever a VM goes through', () => {
  test('the bounds hold its longest pause', () => {
    fc.assert(
      fc.property(fc.array(nap, { minLength: 1, maxLength: 40 }), (naps) => {
        const longestMs = Math.max(...naps.map(({ stillMs }) => stillMs));
        const { kind, measured } = summaryOf(live(naps));
        expect(measured?.lowerMs).toBeLessThanOrEqual(longestMs);
        expect(measured?.upperMs).toBeGreaterThanOrEqual(longestMs);
        if (longestMs > planned + ordinaryDelayMs) expect(kind).toBe('pause');
        if (longestMs === 0) expect(kind).toBe('none');
      }),
    );
  });

  test('a pause by both clocks is known to within 750 ms', () => {
    fc.assert(
      fc.property(fc.array(nap, { minLength: 1, maxLength: 40 }), (naps) => {
        const { pauses } = live(naps.map((each) => ({ ...each, monotonicGoesOn: true })));
        for (const { lowerMs, upperMs } of pauses) expect(upperMs - lowerMs).toBe(planned + ordinaryDelayMs);
      }),
    );
  });

  test('it comes to the same when it is measured in two parts', () => {
    fc.assert(
      fc.property(fc.array(nap, { maxLength: 20 }), fc.array(nap, { maxLength: 40 }), (one, other) => {
        expect(summaryOf(joinFelt(live(one), live(other)))).toEqual(summaryOf(live([...one, ...other])));
      }),
    );
  });

  test('of a thousand pauses the record tells the longest 20, and none of the others was longer than the bound', () => {
    const naps = Array.from({ length: 1_000 }, (_, index) => ({
      ...{ sleptMs: 0, lateMs: 0, monotonicGoesOn: index % 2 === 0, stillMs: 1_000 + ((index * 7) % 1_000) },
    }));
    const felt = live(naps);
    expect(felt.pauses).toHaveLength(20);
    expect(felt.pauses.map((pause) => pause.at)).toEqual(felt.pauses.map((pause) => pause.at).toSorted());
    expect(summaryOf(felt).measured?.upperMs).toBeGreaterThanOrEqual(1_999);
  });
});

const last: LastTick = { at, plannedMs: 250, staleMs: 3_000, orderly: false };
const bootOf = (id: string, startedMs: number, told = true): Boot => ({
  id,
  startedAt: at + startedMs,
  told,
});
const again = (boot: Boot, firstMs: number, more: Partial<LastTick> = {}) =>
  summaryOf(feelRestart(nothingFelt, { ...last, ...more }, at + firstMs, { bootIdBefore: 'one', boot }));

describe('the time between two runs', () => {
  test.each([
    [
      'a reboot that ended the agent with the VM',
      bootOf('two', 40_000),
      55_000,
      {},
      'reboot',
      [36_250, 55_000],
    ],
    [
      'one that stopped it in good order',
      bootOf('two', 40_000),
      55_000,
      { orderly: true },
      'reboot',
      [0, 55_000],
    ],
    ['a quick one, less than the disk may be behind', bootOf('two', 3_000), 8_000, {}, 'reboot', [0, 8_000]],
    [
      'a kernel that seems to begin after the agent',
      bootOf('two', 90_000),
      55_000,
      {},
      'reboot',
      [55_000, 55_000],
    ],
    ['a clock that contradicts the one before', bootOf('two', -900_000), -500_000, {}, 'reboot', null],
    ['no reboot, and away for a moment', bootOf('one', -9e6), 1_800, {}, 'none', [0, 1_800]],
    ['no reboot, and away for long', bootOf('one', -9e6), 600_000, {}, 'unknown', null],
    ['no reboot, and a clock that went back', bootOf('one', -9e6), -600_000, {}, 'unknown', null],
    ['an id that wavered, of the same kernel', bootOf('two', -9e6, false), 1_800, {}, 'none', [0, 1_800]],
    [
      'an id made of a new kernel’s moment',
      bootOf('two', 40_000, false),
      55_000,
      {},
      'reboot',
      [36_250, 55_000],
    ],
  ] as const)('%s', (_, boot, firstMs, more, kind, bounds) => {
    const measured = bounds && { lowerMs: bounds[0], upperMs: bounds[1] };
    expect(again(boot, firstMs, more)).toEqual({ kind, measured });
  });

  test('a VM that was down for some time was so between the bounds', () => {
    const times = fc.record({
      tickedMs: fc.nat(250),
      staleMs: fc.nat(3_000),
      downMs: fc.nat(600_000),
      bootMs: fc.nat(90_000),
    });
    fc.assert(
      fc.property(times, ({ tickedMs, staleMs, downMs, bootMs }) => {
        const startedMs = staleMs + tickedMs + downMs;
        const { measured } = again(bootOf('two', startedMs), startedMs + bootMs);
        expect(measured?.lowerMs).toBeLessThanOrEqual(downMs);
        expect(measured?.upperMs).toBeGreaterThanOrEqual(downMs + bootMs);
      }),
    );
  });

  test('a pause that was felt stays felt when the agent was away for long, and the upper bound says so', () => {
    const felt = feelRestart(gap(3_200), last, at + 60_000, {
      bootIdBefore: 'one',
      boot: bootOf('one', -9e6),
    });
    expect(summaryOf(felt)).toEqual({ kind: 'pause', measured: { lowerMs: 2_450, upperMs: 60_000 } });
  });
});

const sighting = (change: Partial<Sighting> = {}): Sighting => ({
  ...{
    event: eventOf(freeze),
    firstSeenAt: at,
    timeline: {},
  },
  ...{ notBefore: '2026-11-10T22:26:58Z', initial: false, approved: false },
  ...change,
});
const due = Date.parse('2026-11-10T22:26:58Z');

describe('an event is near', () => {
  test.each([
    ['no, 2 minutes and a moment before it is due', sighting(), due - 120_001, false],
    ['2 minutes before it is due', sighting(), due - 120_000, true],
    ['when it is overdue', sighting(), due + 9e9, true],
    ['when this agent approved it', sighting({ approved: true }), due - 9e6, true],
    ['when it began', sighting({ event: eventOf(freezeStarted) }), due - 9e6, true],
    ['when nobody knows when it is due', sighting({ notBefore: null }), due - 9e6, true],
    ['when a document left it out that was not whole', sighting({ hidden: true }), due - 9e6, true],
    [
      'when a document left it out',
      sighting({ absence: { at: due, pollGapMs: 1, rebooted: false, approved: false } }),
      due - 9e6,
      true,
    ],
  ] as const)('%s', (_, seen, now, expected) => {
    expect(isNear(seen, now)).toBe(expected);
  });
});

describe('the record', () => {
  const place = { faultDomain: '1', temporaryDisk: '17-2' };
  const told = (felt: Felt, after = place) =>
    impactOf(sighting().event, { from: at, felt, place }, { at: at + 600_000, place: after });

  test('says what was measured beside what was announced, and when this VM was watched', () => {
    expect(told(gap(3_200))).toMatchObject({
      kind: 'pause',
      measured: { lowerMs: 2_450, upperMs: 3_200 },
      advertisedSeconds: 5,
      window: { from: '2026-11-20T03:00:00.000Z', to: '2026-11-20T03:10:00.000Z' },
      pauses: [{ at: '2026-11-20T03:00:00.000Z', lowerMs: 2_450, upperMs: 3_200 }],
      reboot: null,
      moved: { temporaryDisk: 'kept', faultDomain: { before: '1', after: '1' } },
    });
  });

  test('says which boots a reboot lay between', () => {
    const felt = feelRestart(nothingFelt, last, at + 55_000, {
      bootIdBefore: 'one',
      boot: bootOf('two', 40_000),
    });
    expect(told(felt).reboot).toEqual({
      lastTickAt: '2026-11-20T03:00:00.000Z',
      firstTickAt: '2026-11-20T03:00:55.000Z',
      bootIdBefore: 'one',
      bootIdAfter: 'two',
    });
  });

  test.each([
    ['17-2', '17-2', 'kept'],
    ['17-2', '99-2', 'gone'],
    ['17-2', null, 'unknown'],
    [null, '17-2', 'unknown'],
  ] as const)('says of the temporary disk %s that is %s: %s', (before, temporaryDisk, expected) => {
    const end = { at, place: { faultDomain: null, temporaryDisk } };
    const start = { faultDomain: '1', temporaryDisk: before };
    const { moved } = impactOf(sighting().event, { from: at, felt: nothingFelt, place: start }, end);
    expect(moved).toEqual({ temporaryDisk: expected, faultDomain: { before: '1', after: null } });
  });
});
