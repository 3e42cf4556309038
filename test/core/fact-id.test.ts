// The id of a record names the fact: it depends on that alone, and tells it apart from every other.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TransitionKind } from '../../src/core/diff.ts';
import { contentOf } from '../../src/core/document.ts';
import { observerFrom } from '../../src/core/observer.ts';
import { eventPartOf, factId, repeatedId } from '../../src/core/record.ts';
import { wireEvent } from '../support/arbitraries.ts';
import { documentOf, eventOf, freeze, freezeStarted, type WireEvent } from '../support/documents.ts';
import { documentedLife, lastRecord, type Step, stamp } from '../support/story.ts';

const kinds: readonly TransitionKind[] = ['scheduled', 'updated', 'started', 'completed', 'canceled'];

describe('the id of a fact', () => {
  test('is spelled by kind, and hashed where a fact has a content', () => {
    const ids = kinds.map((kind) => factId(kind, eventOf(freeze)));
    const key = 'c7061bac-afdc-4513-b24b-aa5f13a16123';
    // Of the content in JSON, worked out with another program: ids must never change from version to version.
    expect(ids).toEqual([
      `${key}_scheduled_94fc53d266d8`,
      `${key}_updated_94fc53d266d8`,
      `${key}_started`,
      `${key}_completed`,
      `${key}_canceled`,
    ]);
  });

  test.each<[string, WireEvent]>([
    ['type', { EventType: 'Reboot' }],
    ['status', { EventStatus: 'Started' }],
    ['source', { EventSource: 'User' }],
    ['VMs', { Resources: ['WestNO_0'] }],
    ['NotBefore', { NotBefore: 'Tue, 10 Nov 2026 22:26:59 GMT' }],
    ['NotBefore that is no time', { NotBefore: 'soon' }],
    ['description', { Description: 'Virtual machine is being paused.' }],
    ['duration', { DurationInSeconds: 6 }],
  ])('is another when the event says another %s', (_field, change) => {
    const other = eventOf({ ...freeze, ...change });
    expect(factId('scheduled', other)).not.toBe(factId('scheduled', eventOf(freeze)));
    expect(factId('updated', other)).not.toBe(factId('updated', eventOf(freeze)));
  });

  test('depends on nothing but the fact', () => {
    const turns = fc.record({
      lower: fc.boolean(),
      reverse: fc.boolean(),
      incarnation: fc.nat(),
      type: fc.string(),
    });
    fc.assert(
      fc.property(wireEvent(), turns, (entry, { lower, reverse, incarnation, type }) => {
        const [event] = documentOf([entry]).events;
        if (event === undefined) return;
        const { EventId, Resources } = entry;
        const turned = {
          ...Object.fromEntries(Object.entries(entry).toReversed()),
          EventId: lower ? String(EventId).toLowerCase() : EventId,
          Resources: reverse && Array.isArray(Resources) ? Resources.toReversed() : Resources,
          ResourceType: type,
        };
        const [same] = documentOf([turned], incarnation).events;
        if (same === undefined) throw new Error('the entry was lost');
        for (const kind of kinds) expect(factId(kind, same)).toBe(factId(kind, event));
      }),
    );
  });

  test('does not depend on who sees it, or what that agent saw before', () => {
    const other = {
      observer: observerFrom({ compute: { name: 'WestNO_1', vmId: 'ffff' } }),
      agent: { ...stamp.agent, sequence: 7 },
    };
    const late: readonly Step[] = [
      { events: [], restart: true },
      { events: [freezeStarted], afterMs: 60_000 },
    ];
    const [mine, theirs] = [lastRecord(documentedLife), lastRecord(late, other)];
    expect(theirs.id).toBe(mine.id);
    expect(theirs.source).not.toBe(mine.source);
    expect(theirs.correlationid).toBe(mine.correlationid);
  });

  test('tells different events apart by their id alone', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const [a, b] = [one, other].map((EventId) => documentOf([{ ...freeze, EventId }]).events[0]);
        if (a === undefined || b === undefined) return;
        const same = a.eventId.toLowerCase() === b.eventId.toLowerCase();
        expect(contentOf(a)).toBe(contentOf(b));
        for (const kind of kinds) expect(factId(kind, a) === factId(kind, b)).toBe(same);
      }),
    );
  });

  test.each([
    ['x', 'x_started'],
    ['123', '123_started'],
    ['A.b_C/d', '0c0ef9f31269fb5db91ae962c8955b4e_started'],
    ['x'.repeat(64), `${'x'.repeat(64)}_started`],
  ])('of an event that is called %s is %s', (EventId, id) => {
    expect(factId('started', eventOf({ ...freeze, EventId }))).toBe(id);
  });

  test('has no dot and at most 128 characters, however the event is called and however often it comes back', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constant('a.b'),
      fc.constant('x'.repeat(65)),
      fc.constant('x'.repeat(64)),
    );
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 1_000_000_000 }), (EventId, count) => {
        const [event] = documentOf([{ ...freeze, EventId }]).events;
        if (event === undefined) return;
        for (const kind of kinds) {
          const id = repeatedId(factId(kind, event), count);
          expect(id).toMatch(/^[a-z0-9-]{1,64}_[a-z0-9_]+$/);
          expect(id.length).toBeLessThanOrEqual(128);
        }
      }),
    );
  });

  test('begins with the correlation id, whatever else it says', () => {
    const { id, correlationid } = lastRecord(documentedLife);
    expect(eventPartOf(id)).toBe(correlationid);
    for (const kind of kinds)
      expect(eventPartOf(repeatedId(factId(kind, eventOf(freeze)), 7))).toBe(correlationid);
    expect(eventPartOf('no-fact')).toBe('');
  });

  test.each([
    [0, 'x_started'],
    [1, 'x_started'],
    [2, 'x_started_2'],
    [3, 'x_started_3'],
  ])('said for the time %i is %s', (count, id) => {
    expect(repeatedId('x_started', count)).toBe(id);
  });
});
