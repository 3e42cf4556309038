// What the agent remembers from document to document: phases, times, notice, and how an event ends.
import { describe, expect, test } from 'vitest';
import { emptyWatch, markApproved } from '../../src/core/watch.ts';
import { eventOf, freeze, freezeStarted } from '../support/documents.ts';
import { type Step, said, storyBeginsAt, tell } from '../support/story.ts';

const scheduled: Step = { events: [freeze] };
const started: Step = { events: [freezeStarted] };
const gone: Step = { events: [] };
const dueMs = Date.parse('2026-11-10T22:26:58Z') - storyBeginsAt;
const time = (afterMs: number): string => new Date(storyBeginsAt + afterMs).toISOString();
const justBefore: Step = { ...scheduled, afterMs: dueMs - 5000 };

describe('what a disappearance means', () => {
  const unknown = 'completed (start-not-observed)';
  const early = 'canceled (removed-before-not-before)';
  test.each<[string, readonly Step[], string]>([
    ['Started', [scheduled, started, gone], 'completed (removed-after-started)'],
    [
      'Started, after a long gap',
      [started, { ...gone, afterMs: 60_000 }],
      'completed (removed-after-started)',
    ],
    ['Scheduled, and NotBefore passed', [justBefore, { ...gone, afterMs: 5000 }], unknown],
    ['Scheduled, and NotBefore is near', [justBefore, { ...gone, afterMs: 4999 }], early],
    ['Scheduled, after a gap of 10 s', [scheduled, { ...gone, afterMs: 10_000 }], early],
    ['Scheduled, after a longer gap', [scheduled, { ...gone, afterMs: 10_001 }], unknown],
    ['Scheduled, after a gap of unknown length', [scheduled, { ...gone, pollGapMs: null }], unknown],
    ['Scheduled, after a boot', [scheduled, { ...gone, reboot: true }, gone], unknown],
    ['Scheduled, seen again after a boot', [scheduled, { ...scheduled, reboot: true }, gone], early],
  ])('%s', (_lastSeen, steps, ending) => {
    expect(said(steps).at(-1)).toEqual([ending]);
  });

  test('Scheduled and approved by this agent', () => {
    const before = tell([scheduled]).at(-1)?.watch ?? emptyWatch('none');
    const approved = markApproved(before, 'c7061bac-AFDC-4513-b24b-aa5f13a16123');
    expect(said([scheduled, scheduled, gone], approved)).toEqual([[], [], [unknown]]);
    expect(said([scheduled, gone], before)).toEqual([[], [early]]);
  });

  test('an approval outlives a restart, and changes nothing of an event that nobody knows', () => {
    const before = tell([scheduled]).at(-1)?.watch ?? emptyWatch('none');
    const approved = markApproved(before, 'C7061BAC-AFDC-4513-B24B-AA5F13A16123');
    expect(said([{ ...scheduled, restart: true }, gone], approved)).toEqual([[], [unknown]]);
    for (const stranger of ['x', 'constructor', '__proto__']) {
      expect(markApproved(before, stranger)).toBe(before);
    }
  });

  test('a NotBefore that was blanked still tells whether it has passed', () => {
    const blank: Step = { events: [{ ...freeze, NotBefore: '' }], afterMs: dueMs - 5000 };
    expect(said([scheduled, blank, { ...gone, afterMs: 1000 }]).at(-1)).toEqual([early]);
    expect(said([scheduled, blank, { ...gone, afterMs: 5000 }]).at(-1)).toEqual([unknown]);
  });

  test('Azure said it was over: its leaving is no second ending', () => {
    const over: Step = { events: [{ ...freezeStarted, EventStatus: 'Completed' }] };
    expect(said([scheduled, started, over, gone, gone])).toEqual([
      ['scheduled'],
      ['started'],
      ['completed'],
      [],
      [],
    ]);
    expect(said([over, { ...gone, restart: true }, over, gone])).toEqual([['completed'], [], [], []]);
  });

  test('an event that comes back begins a new life', () => {
    expect(said([scheduled, gone, scheduled])).toEqual([['scheduled'], [early], ['scheduled']]);
    const [, , again] = tell([scheduled, gone, scheduled]);
    expect(again?.observations[0]?.sighting).toMatchObject({
      firstSeenAt: storyBeginsAt + 3000,
      timeline: { scheduled: time(3000) },
    });
  });

  test('an event that Azure called over and that goes on begins a new life', () => {
    const over: Step = { events: [{ ...freeze, EventStatus: 'Canceled' }] };
    const [, , again] = tell([scheduled, over, scheduled]);
    expect(again?.observations).toMatchObject([
      {
        kind: 'scheduled',
        sighting: { firstSeenAt: storyBeginsAt + 3000, timeline: { scheduled: time(3000) } },
      },
    ]);
    expect(again?.observations[0]?.sighting.timeline).not.toHaveProperty('canceled');
  });
});

describe('a record knows', () => {
  const life = [scheduled, { ...started, afterMs: dueMs }, { ...gone, afterMs: 600_000 }];

  test('when each phase was first seen', () => {
    expect(tell(life).map(({ observations }) => observations[0]?.sighting.timeline)).toEqual([
      { scheduled: time(1000) },
      { scheduled: time(1000), started: time(1000 + dueMs) },
      { scheduled: time(1000), started: time(1000 + dueMs), completed: time(601_000 + dueMs) },
    ]);
  });

  test('the first start of an event that starts twice, and its latest update', () => {
    const slower: Step = { events: [{ ...freezeStarted, DurationInSeconds: 9 }] };
    const told = tell([started, scheduled, started, slower]);
    expect(told.map(({ observations }) => observations[0]?.sighting.timeline)).toEqual([
      { started: time(1000) },
      { started: time(1000), updated: time(2000) },
      { started: time(1000), updated: time(2000) },
      { started: time(1000), updated: time(4000) },
    ]);
  });

  test('how much notice there was, in whole seconds that are never too many', () => {
    const moved: Step = { events: [{ ...freeze, NotBefore: 'Tue, 10 Nov 2026 22:36:58 GMT' }] };
    const told = tell([scheduled, moved, { ...started, afterMs: 10_999 }, gone]);
    expect(told.map(({ observations }) => observations[0]?.noticeSeconds)).toEqual([925, 1525, 11, 11]);
  });

  test.each<[string, readonly Step[], number | null]>([
    ['is not known without a NotBefore', [{ events: [{ ...freeze, NotBefore: '' }] }], null],
    ['is not known when the NotBefore is garbled', [{ events: [{ ...freeze, NotBefore: 'soon' }] }], null],
    ['is below zero when the NotBefore is past', [{ ...scheduled, afterMs: dueMs + 1500 }], -2],
    ['is nothing when it begins at first sight', [started], 0],
    [
      'counts to the start for what changes later',
      [scheduled, started, { events: [{ ...freezeStarted, Description: '' }] }],
      1,
    ],
    ['is not known when the start was not seen', [justBefore, { ...gone, afterMs: 6000 }], null],
    ['is not known when it is called off', [scheduled, gone], null],
    ['is not known when it ran before the agent did', [{ ...started, restart: true }], null],
    [
      'counts from the start of the agent when it was scheduled before',
      [{ ...scheduled, restart: true }],
      925,
    ],
    ['counts to the start when only the onset is unknown', [{ ...scheduled, restart: true }, started], 1],
  ])('that the notice %s', (_when, steps, seconds) => {
    expect(tell(steps).at(-1)?.observations[0]?.noticeSeconds).toBe(seconds);
  });

  test('whether the agent began with the event there, for the whole of its life', () => {
    const inherited: readonly Step[] = [{ ...scheduled, restart: true }, started, gone];
    const witnessed: readonly Step[] = [scheduled, { ...started, restart: true }, gone];
    const initial = (steps: readonly Step[]) =>
      tell(steps).map(({ observations }) => observations[0]?.sighting.initial);
    expect(initial(inherited)).toEqual([true, true, true]);
    expect(initial(witnessed)).toEqual([false, false, false]);
  });

  test('when it was first missed, if it took a second document to be sure', () => {
    const [, , sure] = tell([scheduled, { ...gone, restart: true }, { ...gone, afterMs: 7000 }]);
    expect(sure?.observations).toMatchObject([
      { at: storyBeginsAt + 2000, sighting: { timeline: { canceled: time(2000) } } },
    ]);
  });
});

describe('what is remembered', () => {
  test('is one sighting per event, with the latest content and the last NotBefore that was not blank', () => {
    const [, now] = tell([scheduled, { events: [{ ...freezeStarted, EventId: freeze['EventId'] }] }]);
    expect(now?.watch).toEqual({
      incarnation: '3',
      bootId: 'boot-0',
      sightings: {
        'c7061bac-afdc-4513-b24b-aa5f13a16123': {
          event: eventOf(freezeStarted),
          firstSeenAt: storyBeginsAt + 1000,
          timeline: { scheduled: time(1000), started: time(2000) },
          notBefore: '2026-11-10T22:26:58Z',
          initial: false,
          approved: false,
        },
      },
    });
  });

  test('is forgotten with the end of an event', () => {
    expect(tell([scheduled, started, gone]).at(-1)?.watch.sightings).toEqual({});
  });

  test('changes only when a document says something else', () => {
    const same: Step = { ...scheduled, incarnation: 2 };
    const told = tell([
      same,
      same,
      same,
      { ...same, restart: true },
      { ...scheduled, incarnation: 3 },
      { ...scheduled, incarnation: 3, reboot: true },
    ]);
    expect(told.map(({ changed }) => changed)).toEqual([true, false, false, false, true, true]);
  });

  test('changes with what is no transition: the order of the VMs, the case of the id', () => {
    const same = { incarnation: 2 };
    const turned = { ...freeze, Resources: ['WestNO_1', 'WestNO_0'] };
    const [, now] = tell([
      { ...scheduled, ...same },
      { events: [turned], ...same },
    ]);
    expect(now).toMatchObject({ changed: true, observations: [] });
  });

  test.each(['__proto__', 'constructor', 'hasOwnProperty', '123'])(
    'holds an event that is called %s',
    (EventId) => {
      const strange: Step = { events: [{ ...freeze, EventId }] };
      const steps = [
        strange,
        strange,
        { ...strange, restart: true },
        { events: [{ ...freezeStarted, EventId }] },
        gone,
        gone,
      ];
      expect(said(steps)).toEqual([
        ['scheduled'],
        [],
        [],
        ['started'],
        ['completed (removed-after-started)'],
        [],
      ]);
    },
  );
});
