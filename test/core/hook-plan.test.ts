// Which hook is due, for how long, and what that makes of an event's preparation: every state, with no process run.
import { describe, expect, test } from 'vitest';
import type { ScheduledEvent } from '../../src/core/document.ts';
import {
  foreseen,
  freshEntry,
  type HookEntry,
  type HookState,
  readEntry,
  reconciled,
  withState,
} from '../../src/core/hook-ledger.ts';
import {
  fits,
  type Hook,
  type HookMoment,
  hooksOf,
  isDone,
  nextStep,
  preparation,
  preparedOf,
  timeoutOf,
} from '../../src/core/hook-plan.ts';
import { observerFrom, unknownObserver } from '../../src/core/observer.ts';
import type { Observation, Sighting } from '../../src/core/watch.ts';
import { eventOf, freeze } from '../support/documents.ts';

const event: ScheduledEvent = eventOf(freeze);
const notBefore = Date.parse('2026-11-10T22:26:58Z');
const announcedAt = notBefore - 900_000;
const observer = observerFrom({ compute: { name: 'WestNO_0', vmId: 'vm' } });

const hook = (change: Partial<Hook> = {}): Hook => ({
  ...{ id: 'prepare a', phase: 'prepare', command: ['/a'], affected: 'own', timeoutMs: null, refusal: null },
  ...change,
});
const prepare = hook();
const recover = hook({ id: 'recover r', phase: 'recover', command: ['/r'] });

const sighting = (change: Partial<Sighting> = {}, status = 'Scheduled'): Sighting => ({
  event: { ...event, eventStatus: status },
  firstSeenAt: announcedAt,
  timeline: {},
  notBefore: event.notBefore,
  ...{ initial: false, approved: false },
  ...change,
});
const doubt = { at: 0, pollGapMs: null, rebooted: false, approved: false };

const state = (outcome: HookState['outcome'], phase: 'prepare' | 'recover' = 'prepare'): HookState => ({
  ...{ phase, hook: '/a', outcome, startedAt: null, timeoutMs: null },
});
const entryWith = (outcomes: Readonly<Record<string, HookState['outcome']>>, change = {}): HookEntry => {
  const entries = Object.entries(outcomes);
  const entry = entries.reduce(
    (before, [id, outcome]) =>
      withState(before, id, state(outcome, id.startsWith('recover') ? 'recover' : 'prepare')),
    freshEntry(event),
  );
  return { ...entry, ...change };
};
const moment = (change: Partial<HookMoment> = {}): HookMoment => ({
  ...{
    entry: freshEntry(event),
    sighting: sighting(),
    hooks: [prepare, recover],
    observer,
    now: announcedAt,
  },
  ...change,
});
/** In short: `start prepare a`, `refuse prepare a: no-time-left`. */
function stepOf(change: Partial<HookMoment>): string | null {
  const step = nextStep(moment(change));
  if (step === null) return null;
  return step.do === 'start' ? `start ${step.hook.id}` : `refuse ${step.hook.id}: ${step.reason}`;
}

const ended = { ending: 'completed' } as const;
const started = sighting({}, 'Started');
const unsafe = hook({ refusal: 'unsafe' });
const away = hook({ refusal: 'missing' });
const awayToo = { ...recover, refusal: 'missing' } as const;

describe('the next step', () => {
  test.each<[string, Partial<HookMoment>, string | null]>([
    ['of an event that is announced is its prepare', {}, 'start prepare a'],
    ['is nothing while the event may be gone', { sighting: sighting({ absence: doubt }) }, null],
    ['of an event that was first seen started is none', { sighting: started }, null],
    [
      'is a refusal when the start came before the prepare',
      { sighting: started, entry: entryWith({ 'prepare a': 'due' }) },
      'refuse prepare a: event-started',
    ],
    [
      'is a refusal when the end came before the prepare',
      { sighting: undefined, entry: entryWith({ 'prepare a': 'due' }, ended) },
      'refuse prepare a: event-over',
    ],
    [
      'passes over a prepare that is no longer configured',
      { sighting: started, entry: entryWith({ 'prepare old': 'due' }) },
      null,
    ],
    ['is nothing when the prepare has run', { entry: entryWith({ 'prepare a': 'succeeded' }) }, null],
    [
      'is nothing when the prepare was lost with an agent',
      { entry: entryWith({ 'prepare a': 'unknown' }) },
      null,
    ],
    [
      'is the second prepare when the first has failed',
      { hooks: [prepare, hook({ id: 'prepare b' })], entry: entryWith({ 'prepare a': 'failed' }) },
      'start prepare b',
    ],
    ['refuses what is not safe', { hooks: [unsafe] }, 'refuse prepare a: unsafe'],
    ['waits for a folder that is not there', { hooks: [away] }, null],
    [
      'refuses a folder that is not there when no time is left',
      { hooks: [away], now: notBefore - 3_500 },
      'refuse prepare a: missing',
    ],
    [
      'waits for a folder that is not there, to recover, too',
      { sighting: undefined, hooks: [awayToo], entry: entryWith({}, { ...ended, endedAt: announcedAt }) },
      null,
    ],
    [
      'is a refusal when the folder was not there for ten minutes',
      {
        ...{ sighting: undefined, hooks: [awayToo], now: announcedAt + 600_000 },
        entry: entryWith({}, { ...ended, endedAt: announcedAt }),
      },
      'refuse recover r: missing',
    ],
    ['refuses what has no time left', { now: notBefore - 3_500 }, 'refuse prepare a: no-time-left'],
    ['refuses what is overdue', { now: notBefore + 60_000 }, 'refuse prepare a: no-time-left'],
    [
      'is a prepare that was configured later',
      { entry: entryWith({ 'prepare old': 'succeeded' }) },
      'start prepare a',
    ],
    [
      'of an event that is over is its recover',
      { sighting: undefined, entry: entryWith({}, ended) },
      'start recover r',
    ],
    [
      'is the recover also after a failed prepare',
      { sighting: undefined, entry: entryWith({ 'prepare a': 'failed' }, ended) },
      'start recover r',
    ],
    [
      'is the recover of an event that Azure calls over',
      { sighting: sighting({}, 'Completed'), entry: entryWith({}, ended) },
      'start recover r',
    ],
    [
      'is nothing when the recover has run',
      { sighting: undefined, entry: entryWith({ 'recover r': 'succeeded' }, ended) },
      null,
    ],
    [
      'is nothing when the recover was interrupted',
      { sighting: undefined, entry: entryWith({ 'recover r': 'interrupted' }, ended) },
      null,
    ],
    ['waits while the VM does not know its name', { observer: unknownObserver }, null],
    [
      'does not wait where the name does not matter',
      { observer: unknownObserver, hooks: [hook({ affected: 'all' })] },
      'start prepare a',
    ],
  ])('%s', (_, change, expected) => {
    expect(stepOf(change)).toBe(expected);
  });
});

describe('the preparation', () => {
  const outcomes = (outcome: HookState['outcome']) => ({ entry: entryWith({ 'prepare a': outcome }) });
  test.each<[string, Partial<HookMoment>, string]>([
    ['none: no hook is for it', { hooks: [recover] }, 'none'],
    ['none: the hook is for another type', { hooks: [hook({ types: ['Reboot'] })] }, 'none'],
    ['none: first seen started', { sighting: started }, 'none'],
    ['pending: not begun', {}, 'pending'],
    ['pending: due', outcomes('due'), 'pending'],
    ['pending: it runs', outcomes('started'), 'pending'],
    [
      'pending: it runs on while the event has started',
      { ...outcomes('started'), sighting: started },
      'pending',
    ],
    ['pending: the folder of hooks is not there', { hooks: [away] }, 'pending'],
    ['pending: nobody knows the VM', { observer: unknownObserver }, 'pending'],
    [
      'pending: one of two',
      { hooks: [prepare, hook({ id: 'prepare b' })], ...outcomes('succeeded') },
      'pending',
    ],
    ['succeeded', outcomes('succeeded'), 'succeeded'],
    ['succeeded: its hook is gone since', { hooks: [], ...outcomes('succeeded') }, 'succeeded'],
    ...(['failed', 'timed-out', 'interrupted', 'unknown', 'not-started'] as const).map(
      (outcome): [string, Partial<HookMoment>, string] => [`failed: ${outcome}`, outcomes(outcome), 'failed'],
    ),
    [
      'failed: one of two, though the other still waits',
      { hooks: [prepare, hook({ id: 'prepare b' })], ...outcomes('failed') },
      'failed',
    ],
    ['failed: its hook is gone since', { hooks: [], ...outcomes('failed') }, 'failed'],
  ])('is %s', (_, change, expected) => {
    expect(preparation(moment(change))).toBe(expected);
  });
});

describe('the time of a hook', () => {
  const text = event.notBefore;
  test.each<[string, number | null, string | null, number, number | null]>([
    ['is up to 3 s before the event may start', null, text, notBefore - 900_000, 897_000],
    ['is what was given, where that is less', 60_000, text, notBefore - 900_000, 60_000],
    ['is what is left, where more was given', 3_600_000, text, notBefore - 900_000, 897_000],
    ['is what is left for the next one', null, text, notBefore - 10_000, 7_000],
    ['is a second at least', null, text, notBefore - 4_000, 1_000],
    ['is nothing where less than that is left', null, text, notBefore - 3_999, null],
    ['is nothing where the event is overdue', 60_000, text, notBefore + 1, null],
    ['is five minutes where nobody knows the start', null, null, notBefore, 300_000],
    ['is what was given where nobody knows the start', 2_000, null, notBefore, 2_000],
    ['is a day at most', null, text, notBefore - 40 * 86_400_000, 86_400_000],
  ])('%s', (_, timeoutMs, startsAt, now, expected) => {
    expect(timeoutOf(hook({ timeoutMs }), startsAt, now)).toBe(expected);
  });
});

describe('a hook is for an event', () => {
  const other = observerFrom({ compute: { name: 'WestNO_9' } });
  test.each([
    [{}, observer, true],
    [{}, other, false],
    [{}, unknownObserver, null],
    [{ affected: 'others' as const }, observer, false],
    [{ affected: 'others' as const }, other, true],
    [{ affected: 'others' as const }, unknownObserver, null],
    [{ affected: 'all' as const }, unknownObserver, true],
    [{ types: ['rEBOOT', 'freeZE'] }, observer, true],
    [{ types: ['Reboot'] }, observer, false],
    [{ types: ['Reboot'] }, unknownObserver, false],
  ])('%o', (change, who, expected) => {
    expect(fits(hook(change), event, who)).toBe(expected);
  });
});

test('a hook is known by its phase and its words, and one that stands twice is two', () => {
  const setting = { on: 'prepare' as const, affected: 'own' as const, command: ['/a', 'b'] };
  const all = hooksOf([
    setting,
    { ...setting, timeout: 1 },
    { ...setting, on: 'recover' },
    { ...setting, command: ['/a b'] },
  ]);
  expect(new Set(all.map(({ id }) => id)).size).toBe(4);
  expect(hooksOf([setting])[0]?.id).toBe(all[0]?.id);
});

test.each([
  [{}, 'no'],
  [{ a: 'not-started' }, 'no'],
  [{ a: 'succeeded' }, 'yes'],
  [{ a: 'succeeded', b: 'failed' }, 'failed'],
  [{ a: 'succeeded', b: 'not-started' }, 'failed'],
  [{ a: 'unknown' }, 'failed'],
  [{ a: 'interrupted' }, 'failed'],
  [{ a: 'succeeded', 'recover r': 'failed' }, 'yes'],
] as const)('a recover hears of %o: %s', (outcomes, expected) => {
  expect(preparedOf(entryWith(outcomes))).toBe(expected);
});

describe('an event is done', () => {
  const over = { sighting: undefined, entry: entryWith({ 'recover r': 'failed' }, ended) };
  test.each<[string, Partial<HookMoment>, boolean]>([
    ['when its recover has run', over, true],
    ['not while it goes on', { ...over, entry: entryWith({ 'prepare a': 'succeeded' }) }, false],
    ['not while a recover waits', { ...over, entry: entryWith({}, ended) }, false],
    [
      'not while nobody knows whether a recover is for this VM',
      { ...over, entry: entryWith({}, ended), observer: unknownObserver },
      false,
    ],
  ])('%s', (_, change, expected) => {
    expect(isDone(moment(change))).toBe(expected);
  });
});

describe('the ledger', () => {
  const observed = (kind: Observation['kind'], seen = sighting()): Observation => ({
    ...{
      kind,
      event: seen.event,
      previous: {},
      inferred: false,
      reason: 'status',
      at: 0,
      sighting: seen,
      noticeSeconds: null,
    },
  });

  test('notes how an event ended, with what was done for it', () => {
    const entry = entryWith({ 'prepare a': 'succeeded' });
    expect(foreseen(entry, observed('canceled'), false)).toEqual({
      ...entry,
      ending: 'canceled',
      endedAt: 0,
    });
    expect(foreseen(undefined, observed('completed'), true)).toEqual({
      ...freshEntry(event),
      ending: 'completed',
      endedAt: 0,
    });
    expect(foreseen(undefined, observed('completed'), false)).toBeUndefined();
  });

  test('keeps the first ending, and nothing of an event of which it knows nothing', () => {
    expect(foreseen(entryWith({}, ended), observed('canceled'), true)).toBeUndefined();
    expect(foreseen(undefined, observed('scheduled'), true)).toBeUndefined();
    expect(foreseen(entryWith({ 'prepare a': 'started' }), observed('started'), true)).toBeUndefined();
  });

  test('begins anew for an event that comes back after its end', () => {
    const back = foreseen(entryWith({ 'prepare a': 'succeeded' }, ended), observed('scheduled'), true);
    expect(back).toEqual({ ...freshEntry(event), life: 2 });
    expect(reconciled(entryWith({ 'prepare a': 'failed' }, ended), sighting(), 5)).toEqual(back);
  });

  test('takes an event that is gone unseen for over, and leaves the rest as it is', () => {
    const entry = entryWith({ 'prepare a': 'succeeded' });
    expect(reconciled(entry, undefined, 5)).toEqual({ ...entry, ending: 'unseen', endedAt: 5 });
    expect(reconciled(entry, sighting({ absence: doubt }), 5)).toBe(entry);
    const over = entryWith({}, ended);
    expect(reconciled(over, undefined, 5)).toBe(over);
    expect(reconciled(over, sighting({}, 'Completed'), 5)).toBe(over);
  });

  test('reads back what it wrote, and passes over what it cannot have written', () => {
    const entry = entryWith({ 'prepare a': 'unknown' }, ended);
    expect(readEntry(JSON.stringify(entry))).toEqual(entry);
    for (const text of ['null', '{}', '[]', '"x"', JSON.stringify({ ...entry, hooks: null })])
      expect(readEntry(text)).toBeNull();
  });

  test('keeps the time of an event whose own Azure has blanked', () => {
    const blank = { ...event, eventStatus: 'Started', notBefore: null };
    const kept = foreseen(undefined, observed('completed', sighting({ event: blank })), true);
    expect(kept?.event.notBefore).toBe(event.notBefore);
  });
});
