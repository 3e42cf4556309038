// What IMDS answers, in every version and every mood, and what is made of it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentOf, eventKey, readDocument } from '../../src/core/document.ts';
import { hostileBodies, shuffledTwice, wireEvents } from '../support/arbitraries.ts';
import { documentOf, eventOf, freeze, goodDocument } from '../support/documents.ts';

describe('a body', () => {
  test.each([
    ['no byte', ''],
    ['white space', ' \r\n\t '],
    ['a byte order mark alone', '\uFEFF'],
  ])('of %s says nothing', (_what, body) => {
    expect(readDocument(body)).toEqual({ status: 'empty' });
  });

  test.each([
    ['a page of HTML', '<html><body>502</body></html>', 'the body is not JSON'],
    ['a torn document', '{"DocumentIncarnation":1,"Events":[{"EventId":"C37', 'the body is not JSON'],
    [
      'a trailing comma, as the docs print it',
      '{"DocumentIncarnation":1,"Events":[],}',
      'the body is not JSON',
    ],
    ['two documents', '{"Events":[]}{"Events":[]}', 'the body is not JSON'],
    ['null', 'null', 'the body is not a JSON object'],
    ['a list', '[{"EventId":"a"}]', 'the body is not a JSON object'],
    ['a text', '"{}"', 'the body is not a JSON object'],
    ['an error of IMDS', '{"error":"Bad request"}', 'the body has no Events list'],
    ['no events where there should be a list', '{"Events":null}', 'the body has no Events list'],
    ['an object for a list', '{"Events":{"EventId":"a"}}', 'the body has no Events list'],
    ['a list under another name', '{"events":[]}', 'the body has no Events list'],
  ])('of %s is no document', (_what, body, reason) => {
    expect(readDocument(body)).toEqual({ status: 'unreadable', reason });
  });

  test('may have a byte order mark before it and white space around it', () => {
    expect(goodDocument('\uFEFF\r\n {"DocumentIncarnation":7,"Events":[]} \n').incarnation).toBe('7');
  });

  test.each([
    ['a number', 190, '190'],
    ['a text', '190', '190'],
    ['a text that is no number', 'abc123', 'abc123'],
    ['null', null, null],
    ['an object', {}, null],
    ['true', true, null],
    ['missing, as in the preview of 2016', undefined, null],
  ])('may have an incarnation that is %s', (_what, incarnation, read) => {
    const body = JSON.stringify({ DocumentIncarnation: incarnation, Events: [] });
    expect(goodDocument(body)).toEqual({ incarnation: read, events: [], partial: false });
  });
});

test('a number beyond all numbers is none', () => {
  const body = '{"DocumentIncarnation":1e999,"Events":[{"EventId":"x","DurationInSeconds":1e999}]}';
  const { incarnation, events } = goodDocument(body);
  expect([incarnation, events[0]?.durationSeconds]).toEqual([null, null]);
});

describe('an entry of api-version', () => {
  const { EventSource: _, DurationInSeconds: __, ...of2019April } = freeze;
  const { Description: ___, ...of2017 } = of2019April;
  const { DurationInSeconds: ____, ...of2019August } = freeze;

  test.each([
    ['2016 (preview)', { ...of2017, EventType: 'Pause' }],
    ['2017-03-01', { ...of2017, Resources: ['_WestNO_0', '_WestNO_1'] }],
    ['2017-08-01', of2017],
    ['2019-04-01', of2019April],
    ['2019-08-01', of2019August],
    ['2020-07-01', freeze],
  ])('%s is read, and what it does not say is null', (_version, entry) => {
    const said = entry as Readonly<Record<string, unknown>>;
    expect(eventOf(entry)).toStrictEqual({
      eventId: freeze['EventId'],
      eventType: 'Freeze',
      eventStatus: 'Scheduled',
      eventSource: said['EventSource'] ?? null,
      resourceType: 'VirtualMachine',
      resources: said['Resources'],
      notBefore: '2026-11-10T22:26:58Z',
      description: said['Description'] ?? null,
      durationSeconds: said['DurationInSeconds'] ?? null,
    });
  });
});

describe('the fields of an entry', () => {
  test('pass through as they came when nobody has heard of their values', () => {
    const entry = { EventId: 'x', EventType: 'Levitate', EventStatus: 'Paused', EventSource: 'Customer' };
    expect(eventOf({ ...entry, ResourceType: 'Disk' })).toMatchObject({
      eventType: 'Levitate',
      eventStatus: 'Paused',
      eventSource: 'Customer',
      resourceType: 'Disk',
    });
  });

  test.each(['Pause', 'pause', 'PAUSE'])('call %s a Freeze', (EventType) => {
    expect(eventOf({ EventId: 'x', EventType }).eventType).toBe('Freeze');
  });

  test('are empty or null when only the EventId is there', () => {
    expect(eventOf({ EventId: 'x' })).toStrictEqual({
      eventId: 'x',
      eventType: '',
      eventStatus: '',
      eventSource: null,
      resourceType: null,
      resources: [],
      notBefore: null,
      description: null,
      durationSeconds: null,
    });
  });

  test.each([
    [5, 5],
    [0, 0],
    ['9', 9],
    [' 9 ', 9],
    [1.5, 1.5],
    [-1, null],
    ['-1', null],
    [-0.5, null],
    ['', null],
    [' ', null],
    ['soon', null],
    [null, null],
    [true, null],
    [[5], null],
    [{}, null],
  ])('read a duration of %j as %j seconds', (DurationInSeconds, seconds) => {
    expect(eventOf({ EventId: 'x', DurationInSeconds }).durationSeconds).toBe(seconds);
  });

  test.each([
    [
      ['b', 'a'],
      ['b', 'a'],
    ],
    [[], []],
    ['web1', ['web1']],
    [null, []],
    [
      ['a', null, {}, '', 7],
      ['a', '7'],
    ],
  ])('read resources of %j as %j', (Resources, read) => {
    expect(eventOf({ EventId: 'x', Resources }).resources).toEqual(read);
  });

  test.each([
    ['', null, undefined],
    ['   ', null, undefined],
    [null, null, undefined],
    ['20170702', null, '20170702'],
    [20170702, null, '20170702'],
    [' tomorrow ', null, 'tomorrow'],
    ['Mon, 11 Apr 2026 22:26:58 GMT', '2026-04-11T22:26:58Z', undefined],
  ])('read a NotBefore of %j as %j and keep the text of what is no time', (NotBefore, time, text) => {
    const event = eventOf({ EventId: 'x', NotBefore });
    expect(event.notBefore).toBe(time);
    expect(event.notBeforeText).toBe(text);
    expect('notBeforeText' in event).toBe(text !== undefined);
  });

  test('keep a blank description apart from one that is missing', () => {
    expect(eventOf({ EventId: 'x', Description: '' }).description).toBe('');
    expect(eventOf({ EventId: 'x' }).description).toBeNull();
  });

  test('may come in any order, and what is unknown is left aside', () => {
    const turned = Object.fromEntries([...Object.entries(freeze), ['News', [1]]].reverse());
    expect(eventOf(turned)).toStrictEqual(eventOf(freeze));
  });
});

describe('any document', () => {
  test('reads the same whatever the order of its entries', () => {
    fc.assert(
      fc.property(shuffledTwice(wireEvents()), ([one, other]) => {
        const contents = (entries: readonly unknown[]): unknown =>
          Object.fromEntries(
            documentOf(entries).events.map((event) => [eventKey(event.eventId), contentOf(event)]),
          );
        expect(contents(one)).toEqual(contents(other));
      }),
    );
  });

  test('holds each event once, under an id that is not blank', () => {
    fc.assert(
      fc.property(wireEvents(), (entries) => {
        const keys = documentOf(entries).events.map((event) => eventKey(event.eventId));
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).not.toContain('');
      }),
    );
  });

  test('or what is none is read without a throw', () => {
    fc.assert(
      fc.property(hostileBodies(), (body) => {
        expect(['document', 'empty', 'unreadable']).toContain(readDocument(body).status);
      }),
      { numRuns: 2000 },
    );
  });
});
