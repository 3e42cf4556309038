// When two entries are the same event, how far an event is, and whether it names a VM.
import { describe, expect, test } from 'vitest';
import { endingOf, eventKey, isStarted, names, readDocument } from '../../src/core/document.ts';
import { documentOf, eventOf, freeze, freezeStarted } from '../support/documents.ts';

describe('an EventId', () => {
  test('keeps its spelling, without white space around it', () => {
    expect(eventOf({ EventId: ' C7061bac ' }).eventId).toBe('C7061bac');
    expect(eventOf({ EventId: 123 }).eventId).toBe('123');
  });

  test('is the same event in any case', () => {
    expect(eventKey('C7061BAC-AFDC')).toBe(eventKey('c7061bac-afdc'));
    expect(
      documentOf([freeze, { ...freeze, EventId: 'c7061bac-afdc-4513-b24b-aa5f13a16123' }]).events,
    ).toHaveLength(1);
  });

  test.each([
    [{}],
    [{ EventId: '' }],
    [{ EventId: '  ' }],
    [{ EventId: null }],
    [{ EventId: {} }],
    ['text'],
    [null],
    [[]],
  ])('that is not there makes the document partial: %j', (entry) => {
    const reading = readDocument(JSON.stringify({ Events: [freeze, entry] }));
    expect(reading).toMatchObject({
      document: { partial: true, events: [{ eventId: freeze['EventId'] }] },
      oddities: ['Events[1] has no EventId and was left out'],
    });
  });

  test('that stands twice is one event: the further entry speaks and every VM is named', () => {
    const first = { ...freeze, Resources: ['a', 'b'] };
    const second = { ...freezeStarted, Resources: ['b', 'c'] };
    for (const entries of [
      [first, second],
      [second, first],
    ]) {
      const [event, ...more] = documentOf(entries).events;
      expect(more).toEqual([]);
      expect(event).toMatchObject({ eventStatus: 'Started', notBefore: null });
      expect([...(event?.resources ?? [])].sort()).toEqual(['a', 'b', 'c']);
    }
  });

  test('that stands twice is named as odd', () => {
    const reading = readDocument(JSON.stringify({ Events: [freeze, freeze] }));
    expect(reading).toMatchObject({ oddities: [`EventId ${freeze['EventId']} stands more than once`] });
  });

  test.each([
    ['Started', 'Scheduled'],
    ['Completed', 'Started'],
    ['Canceled', 'Scheduled'],
    ['Started', 'Confused'],
  ])('that stands twice, %s and %s, is the former in either order', (further, nearer) => {
    const entries = [further, nearer].map((EventStatus) => ({ ...freeze, EventStatus }));
    expect(documentOf(entries).events[0]?.eventStatus).toBe(further);
    expect(documentOf(entries.toReversed()).events[0]?.eventStatus).toBe(further);
  });
});

test('an EventId that stands twice is as far as the further entry, whatever else they say', () => {
  const entries = [
    { ...freezeStarted, EventType: 'Freeze' },
    { ...freeze, EventType: 'Reboot' },
  ];
  for (const list of [entries, entries.toReversed()]) {
    expect(documentOf(list).events[0]).toMatchObject({ eventStatus: 'Started', eventType: 'Freeze' });
  }
});

describe('a status', () => {
  test.each([
    ['Started', true, null],
    ['started', true, null],
    ['Scheduled', false, null],
    ['', false, null],
    ['Completed', false, 'completed'],
    ['Canceled', false, 'canceled'],
    ['CANCELLED', false, 'canceled'],
  ])('of %j: begun %s, over %s', (EventStatus, begun, over) => {
    const event = eventOf({ EventId: 'x', EventStatus });
    expect(isStarted(event)).toBe(begun);
    expect(endingOf(event)).toBe(over);
  });
});

describe('the name of a VM', () => {
  test.each([
    ['set_0', 'set_0'],
    ['VM-SE-Server02', 'vm-se-server02'],
    ['_mysrv', 'mysrv'],
    ['mysrv', '_mysrv'],
  ])('%s in Resources means %s', (resource, vmName) => {
    expect(names(['other', resource], vmName)).toBe(true);
  });

  test.each([
    ['web10', 'web1'],
    ['web1', 'web10'],
    ['myweb1', 'web1'],
    ['__web1', 'web1'],
    ['web_1', 'web1'],
  ])('%s in Resources does not mean %s', (resource, vmName) => {
    expect(names([resource], vmName)).toBe(false);
  });

  test('is not in an empty list', () => {
    expect(names([], 'web1')).toBe(false);
  });
});
