// What changed between two documents: every kind of transition, and what holds for any two documents.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Absence, diff, isOver, type Transition } from '../../src/core/diff.ts';
import { contentOf, eventKey, isStarted, type ScheduledEvent } from '../../src/core/document.ts';
import { shuffledTwice, wireEvents } from '../support/arbitraries.ts';
import { documentOf, freeze, freezeStarted, type WireEvent } from '../support/documents.ts';

const due = Date.parse('2026-11-10T22:26:58Z');
const watched: Absence = { at: due - 60_000, pollGapMs: 1000, rebooted: false, approved: false };

const between = (before: readonly unknown[], after: readonly unknown[], absence = watched): Transition[] =>
  diff(documentOf(before), documentOf(after), () => absence);

describe('an event that', () => {
  test('appears is scheduled', () => {
    const [event] = documentOf([freeze]).events;
    expect(between([], [freeze])).toEqual([
      { kind: 'scheduled', event, previous: {}, inferred: false, reason: 'status' },
    ]);
  });

  test('begins is started, keeps what did not change, and no word is lost about its blank NotBefore', () => {
    const [event] = documentOf([freezeStarted]).events;
    expect(between([freeze], [freezeStarted])).toEqual([
      { kind: 'started', event, previous: {}, inferred: false, reason: 'status' },
    ]);
  });

  test('appears when it has already begun, as after a hardware failure, is started', () => {
    expect(between([], [freezeStarted])).toMatchObject([{ kind: 'started', inferred: false, previous: {} }]);
  });

  test('begins and changes at once is started, and says what it was', () => {
    const changed = { ...freezeStarted, Description: 'Now.', DurationInSeconds: 9 };
    expect(between([freeze], [changed])).toMatchObject([
      { kind: 'started', previous: { description: freeze['Description'], durationSeconds: 5 } },
    ]);
  });

  test.each<[string, WireEvent, object]>([
    ['type', { EventType: 'Reboot' }, { eventType: 'Freeze' }],
    ['status', { EventStatus: 'Waiting' }, { eventStatus: 'Scheduled' }],
    ['source', { EventSource: 'User' }, { eventSource: 'Platform' }],
    ['VMs', { Resources: ['WestNO_0'] }, { resources: ['WestNO_0', 'WestNO_1'] }],
    ['NotBefore', { NotBefore: 'Tue, 10 Nov 2026 23:00:00 GMT' }, { notBefore: '2026-11-10T22:26:58Z' }],
    ['NotBefore to a blank while it is scheduled', { NotBefore: '' }, { notBefore: '2026-11-10T22:26:58Z' }],
    ['NotBefore to what is no time', { NotBefore: 'soon' }, { notBefore: '2026-11-10T22:26:58Z' }],
    ['description', { Description: '' }, { description: freeze['Description'] }],
    ['duration', { DurationInSeconds: -1 }, { durationSeconds: 5 }],
  ])('changes its %s is updated, and says what it was', (_field, change, previous) => {
    const transitions = between([freeze], [{ ...freeze, ...change }]);
    expect(transitions).toMatchObject([{ kind: 'updated', inferred: false, reason: 'status' }]);
    expect(transitions[0]?.previous).toEqual(previous);
  });

  test('says of what kind its VMs were, when that changed along with something else', () => {
    const [transition] = between([freeze], [{ ...freeze, ResourceType: 'Disk', Description: '' }]);
    expect(transition?.previous).toEqual({
      resourceType: 'VirtualMachine',
      description: freeze['Description'],
    });
  });

  test('tells another garbled NotBefore than before is updated', () => {
    expect(between([{ ...freeze, NotBefore: 'soon' }], [{ ...freeze, NotBefore: 'later' }])).toHaveLength(1);
  });

  test('is Started in another spelling does not start twice', () => {
    expect(between([freezeStarted], [{ ...freezeStarted, EventStatus: 'started' }])).toMatchObject([
      { kind: 'updated' },
    ]);
  });

  test('has its NotBefore blanked some time after its start is no news', () => {
    expect(between([{ ...freeze, EventStatus: 'Started' }], [freezeStarted])).toEqual([]);
  });

  test('goes back from Started to Scheduled is updated', () => {
    expect(between([freezeStarted], [freeze])).toMatchObject([
      { kind: 'updated', previous: { eventStatus: 'Started', notBefore: null } },
    ]);
  });

  test.each<[string, WireEvent]>([
    ['the order of its VMs', { Resources: ['WestNO_1', 'WestNO_0'] }],
    ['the case of its id', { EventId: 'c7061bac-afdc-4513-b24b-aa5f13a16123' }],
    ['the spelling of its NotBefore', { NotBefore: '2026-11-10T22:26:58.000Z' }],
    ['the type of its duration', { DurationInSeconds: '5' }],
    ['its resource type, which has only ever had one value', { ResourceType: 'Disk' }],
  ])('changes nothing but %s is no news', (_what, change) => {
    expect(between([freeze], [{ ...freeze, ...change }])).toEqual([]);
  });

  test.each([
    ['Completed', 'completed'],
    ['Canceled', 'canceled'],
    ['Cancelled', 'canceled'],
  ])(
    'Azure itself calls %s is %s, said and not inferred, and its leaving says nothing more',
    (word, kind) => {
      const over = { ...freezeStarted, EventStatus: word };
      expect(between([freezeStarted], [over])).toMatchObject([
        { kind, inferred: false, reason: 'status', previous: {} },
      ]);
      expect(between([], [over])).toMatchObject([{ kind }]);
      expect(between([over], [{ ...over, Description: 'Over.' }])).toEqual([]);
      expect(between([over], [])).toEqual([]);
    },
  );

  test('Azure called over and that goes on begins anew', () => {
    const over = { ...freeze, EventStatus: 'Completed' };
    expect(between([over], [freeze])).toMatchObject([{ kind: 'scheduled', previous: {} }]);
    expect(between([over], [freezeStarted])).toMatchObject([{ kind: 'started', previous: {} }]);
  });
});

describe('an event that is gone', () => {
  const reboot = { ...freeze, EventId: 'b', NotBefore: 'soon' };
  test.each<[string, WireEvent, Partial<Absence>, string, string]>([
    ['Started', freezeStarted, {}, 'completed', 'removed-after-started'],
    [
      'Started, whatever else happened',
      freezeStarted,
      { approved: true },
      'completed',
      'removed-after-started',
    ],
    ['Scheduled, at its NotBefore', freeze, { at: due }, 'completed', 'start-not-observed'],
    ['Scheduled, a moment before it', freeze, { at: due - 1 }, 'canceled', 'removed-before-not-before'],
    ['Scheduled and approved', freeze, { approved: true }, 'completed', 'start-not-observed'],
    ['Scheduled, after a boot', freeze, { rebooted: true }, 'completed', 'start-not-observed'],
    ['Scheduled, after 10 s', freeze, { pollGapMs: 10_000 }, 'canceled', 'removed-before-not-before'],
    ['Scheduled, after more', freeze, { pollGapMs: 10_001 }, 'completed', 'start-not-observed'],
    [
      'Scheduled, after nobody knows how long',
      freeze,
      { pollGapMs: null },
      'completed',
      'start-not-observed',
    ],
    ['Scheduled for no time that can be read', reboot, { at: due }, 'canceled', 'removed-before-not-before'],
    ['of an unknown status', { ...freeze, EventStatus: '?' }, {}, 'canceled', 'removed-before-not-before'],
  ])('%s', (_last, entry, known, kind, reason) => {
    const transitions = between([entry], [], { ...watched, ...known });
    const [event] = documentOf([entry]).events;
    expect(transitions).toEqual([{ kind, event, previous: {}, inferred: true, reason }]);
  });

  test('is judged by the NotBefore known before it was blanked', () => {
    const absence = { ...watched, at: due, notBefore: '2026-11-10T22:26:58Z' };
    const blank = { ...freeze, NotBefore: '' };
    expect(between([blank], [], absence)).toMatchObject([{ reason: 'start-not-observed' }]);
    const early = { ...absence, at: due - 1 };
    expect(between([blank], [], early)).toMatchObject([{ reason: 'removed-before-not-before' }]);
    const later = { ...freeze, NotBefore: 'Tue, 10 Nov 2026 22:30:00 GMT' };
    expect(between([later], [], absence)).toMatchObject([{ reason: 'removed-before-not-before' }]);
  });

  test('is not gone while a document could not be read in full', () => {
    expect(between([freeze], [{ EventType: 'Reboot' }])).toEqual([]);
    expect(between([freeze], [{ EventType: 'Reboot' }, freezeStarted])).toMatchObject([{ kind: 'started' }]);
  });
});

test('transitions stand in the order of the document, and what is gone behind them', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((EventId) => ({ ...freeze, EventId }));
  const gone = { ...freeze, EventId: 'gone' };
  const kinds = between([gone, c, b], [{ ...b, Description: '' }, a, c]).map(
    ({ kind, event }) => `${event.eventId} ${kind}`,
  );
  expect(kinds).toEqual(['b updated', 'a scheduled', 'gone canceled']);
});

/** The document that is left when a reader applies the transitions to the one before. */
function replay(before: readonly ScheduledEvent[], transitions: readonly Transition[]) {
  const events = new Map(before.map((event) => [eventKey(event.eventId), event]));
  for (const { event, inferred } of transitions) {
    if (inferred) events.delete(eventKey(event.eventId));
    else events.set(eventKey(event.eventId), event);
  }
  return events;
}

describe('for any two documents', () => {
  test('a document does not differ from itself, in whatever order', () => {
    fc.assert(
      fc.property(shuffledTwice(wireEvents()), ([one, other]) => {
        expect(between(one, one)).toEqual([]);
        expect(between(one, other)).toEqual([]);
      }),
    );
  });

  test('the transitions, applied to the old one, give the new one', () => {
    fc.assert(
      fc.property(wireEvents(), wireEvents(), (before, after) => {
        const [old, current] = [documentOf(before), documentOf(after)];
        const replayed = replay(
          old.events,
          diff(old, current, () => watched),
        );
        for (const event of current.events) {
          const key = eventKey(event.eventId);
          const now = replayed.get(key);
          replayed.delete(key);
          if (now === undefined) throw new Error(`${key} was lost`);
          // Two things are no news: what is over stays over, and Azure blanks the NotBefore of what has begun.
          if (isOver(now)) expect(isOver(event)).toBe(true);
          else expect(settled(now, event)).toBe(contentOf(event));
        }
        const left = [...replayed.values()].filter((event) => !isOver(event));
        if (!current.partial) expect(left).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('there is at most one transition per event', () => {
    fc.assert(
      fc.property(wireEvents(), wireEvents(), (before, after) => {
        const keys = between(before, after).map(({ event }) => eventKey(event.eventId));
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  test('only what Azure did not say is inferred', () => {
    fc.assert(
      fc.property(wireEvents(), wireEvents(), (before, after) => {
        const present = new Set(documentOf(after).events.map((event) => eventKey(event.eventId)));
        for (const { event, inferred, reason } of between(before, after)) {
          expect(inferred).toBe(!present.has(eventKey(event.eventId)));
          expect(inferred).toBe(reason !== 'status');
        }
      }),
    );
  });
});

const settled = (now: ScheduledEvent, event: ScheduledEvent): string =>
  contentOf(isStarted(event) && event.notBefore === null ? { ...now, notBefore: event.notBefore } : now);
