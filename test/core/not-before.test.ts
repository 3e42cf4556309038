// NotBefore in every form it was ever seen in, and in forms that are no time at all.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseNotBefore } from '../../src/core/not-before.ts';

describe('NotBefore', () => {
  test.each([
    ['RFC 1123, as every capture has it', 'Mon, 19 Sep 2016 18:29:47 GMT', '2016-09-19T18:29:47Z'],
    ['RFC 1123 with the wrong weekday', 'Mon, 11 Apr 2026 22:26:58 GMT', '2026-04-11T22:26:58Z'],
    ['RFC 1123 without a weekday', '19 Sep 2016 18:29:47 GMT', '2016-09-19T18:29:47Z'],
    ['RFC 1123 without a zone', 'Mon, 19 Sep 2016 18:29:47', '2016-09-19T18:29:47Z'],
    ['RFC 1123 with an offset', 'Mon, 19 Sep 2016 18:29:47 +0200', '2016-09-19T16:29:47Z'],
    ['RFC 1123 without seconds', 'Mon, 19 Sep 2016 18:29 GMT', '2016-09-19T18:29:00Z'],
    ['a day of one digit', 'Sun, 1 Jul 2018 19:31:29 GMT', '2018-07-01T19:31:29Z'],
    ['an hour of one digit', 'Mon, 19 Sep 2016 8:29:47 GMT', '2016-09-19T08:29:47Z'],
    ['a month in capitals', 'MON, 19 SEP 2016 18:29:47 GMT', '2016-09-19T18:29:47Z'],
    ['a month and weekday in full', 'Monday, 19 September 2016 18:29:47 UTC', '2016-09-19T18:29:47Z'],
    ['the RFC 850 spelling with four digits', 'Monday, 19-Sep-2016 18:29:47 GMT', '2016-09-19T18:29:47Z'],
    ['ISO 8601, as the 2017 docs show it', '2016-09-19T18:29:47Z', '2016-09-19T18:29:47Z'],
    ['ISO 8601 without a zone', '2016-09-19T18:29:47', '2016-09-19T18:29:47Z'],
    ['ISO 8601 with a blank', '2016-09-19 18:29:47 UTC', '2016-09-19T18:29:47Z'],
    ['ISO 8601 with ticks', '2016-09-19T18:29:47.9876543Z', '2016-09-19T18:29:47Z'],
    ['ISO 8601 without seconds', '2016-09-19T18:29Z', '2016-09-19T18:29:00Z'],
    ['an offset to the east', '2016-09-20T01:29:47+07:00', '2016-09-19T18:29:47Z'],
    ['an offset to the west', '2016-09-19T11:29:47-0700', '2016-09-19T18:29:47Z'],
    ['an offset of half an hour', '2016-09-19T23:59:47+05:30', '2016-09-19T18:29:47Z'],
    ['white space around it', '  2016-09-19T18:29:47Z\n', '2016-09-19T18:29:47Z'],
    ['29 February of a leap year', 'Thu, 29 Feb 2024 00:00:00 GMT', '2024-02-29T00:00:00Z'],
    ['a leap second', 'Sat, 31 Dec 2016 23:59:60 GMT', '2017-01-01T00:00:00Z'],
    ['the last second of a day', '2016-09-19T23:59:59Z', '2016-09-19T23:59:59Z'],
  ])('reads %s', (_form, text, time) => {
    expect(parseNotBefore(text)).toBe(time);
  });

  test.each([
    ['nothing', ''],
    ['white space', '   '],
    ['a date in one word, as a third party tests with', '20170702'],
    ['a date alone', '2016-09-19'],
    ['words', 'soon'],
    ['a number', '1474309787'],
    ['30 February', '2016-02-30T18:29:47Z'],
    ['29 February of a common year', 'Sun, 29 Feb 2026 00:00:00 GMT'],
    ['a day of three digits', '019 Sep 2016 18:29:47 GMT'],
    ['an hour of three digits', '19 Sep 2016 018:29:47 GMT'],
    ['day 0', '2016-09-00T18:29:47Z'],
    ['day 32', '32 Oct 2016 18:29:47 GMT'],
    ['month 0', '2016-00-19T18:29:47Z'],
    ['month 13', '2016-13-19T18:29:47Z'],
    ['a month that does not exist', 'Mon, 19 Xyz 2016 18:29:47 GMT'],
    ['hour 24', '2016-09-19T24:00:00Z'],
    ['minute 60', '2016-09-19T18:60:00Z'],
    ['second 61', '2016-09-19T18:29:61Z'],
    ['an offset of a whole day', '2016-09-19T18:29:47+24:00'],
    ['a zone that only its country knows', 'Mon, 19 Sep 2016 18:29:47 EST'],
    ['the year of an unset .NET date', '0001-01-01T00:00:00Z'],
    ['a time that its offset carries beyond the year 9999', '9999-12-31T23:59:59-01:00'],
    ['the blanks that the old sample turned to underscores', 'Mon,_11_Apr_2022_22:26:58_GMT'],
    ['text behind a time', '2016-09-19T18:29:47Z and later'],
    ['text before a time', 'at or about 19 Sep 2016 18:29:47 GMT'],
  ])('takes %s for no time', (_form, text) => {
    expect(parseNotBefore(text)).toBeNull();
  });

  test('reads every second in both spellings back to itself', () => {
    const seconds = fc.integer({ min: Date.UTC(1970, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 });
    fc.assert(
      fc.property(seconds, (second) => {
        const date = new Date(second * 1000);
        const expected = date.toISOString().replace('.000Z', 'Z');
        expect(parseNotBefore(date.toUTCString())).toBe(expected);
        expect(parseNotBefore(date.toISOString())).toBe(expected);
      }),
    );
  });

  test('gives RFC 3339 or nothing, whatever the text', () => {
    const digits = fc.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}([+-]\d{2}:\d{2})?$/);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), digits), (text) => {
        const time = parseNotBefore(text);
        if (time !== null) expect(time).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
      }),
      { numRuns: 1000 },
    );
  });
});
