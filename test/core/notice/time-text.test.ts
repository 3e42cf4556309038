// Points and lengths of time, as records write them and as people read them.
import { describe, expect, it } from 'vitest';
import { isoSeconds, lengthText, readTime, utcText } from '../../../src/core/notice/time-text.ts';

const at = Date.UTC(2026, 10, 10, 22, 26, 58, 999);

describe('a point in time', () => {
  it('is written in UTC and whole seconds', () => {
    expect([isoSeconds(at), utcText(at)]).toEqual(['2026-11-10T22:26:58Z', '2026-11-10 22:26:58 UTC']);
  });

  it.each([
    ['2026-11-10T22:26:58.999Z', at],
    ['2026-11-10T23:26:58.999+01:00', at],
    ['2026-11-10T22:26:58.999', null],
    ['2026-11-10', null],
    ['Tue, 10 Nov 2026 22:26:58 GMT', null],
    ['2026-13-10T22:26:58Z', null],
    ['+010000-01-01T00:00:00Z', null],
    ['9999-12-31T23:59:59-23:59', null],
    ['0000-01-01T00:00:00+23:59', null],
    ['', null],
    [1794349618000, null],
    [null, null],
  ])('is read from %j as %j', (value, expected) => {
    expect(readTime(value)).toBe(expected);
  });
});

describe('a length of time', () => {
  it.each([
    [0, '0 s'],
    [0.4, 'less than 1 s'],
    [1, '1 s'],
    [5.4, '5 s'],
    [59.6, '1 min'],
    [60, '1 min'],
    [926, '15 min 26 s'],
    [3_600, '1 h'],
    [3_659, '1 h'],
    [7_380, '2 h 3 min'],
    [86_400, '1 d'],
    [90_061, '1 d 1 h'],
    [86_400_000, '1000 d'],
    [1e300, 'more than 1000 d'],
  ])('of %d s is told in its two largest units: %s', (seconds, text) => {
    expect(lengthText(seconds)).toBe(text);
  });
});
