// Durations and sizes: what people may write, what it comes to, and what they are told otherwise.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { duration, size } from '../../src/config/duration.ts';

const anyDuration = duration({ default: '5s', min: '0ms', max: '100d' });
const anySize = size({ default: '1MiB', min: '0B', max: '10GiB' });
const faultsOf = (schema: typeof anyDuration, value: unknown): string[] =>
  schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

describe('a duration', () => {
  test.each([
    ['0ms', 0],
    ['500ms', 500],
    ['1s', 1000],
    ['1.5s', 1500],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['0.0004s', 0],
    ['0.0006s', 1],
  ])('of %s is %i ms', (text, ms) => {
    expect(anyDuration.parse(text)).toBe(ms);
  });

  test.each([
    '',
    '5',
    's',
    '5 s',
    ' 5s',
    '5s ',
    '-5s',
    '+5s',
    '5S',
    '1e3s',
    '.5s',
    '5.s',
    '5s5s',
    '5sec',
    '5w',
    '٥s',
  ])('is not written "%s"', (text) => {
    expect(faultsOf(anyDuration, text)).toEqual(['Expected a duration such as 500ms, 1s, 5m, 24h, 7d']);
  });

  test.each([5, true, null, [], {}])('is a text with a unit, not %j', (value) => {
    expect(faultsOf(anyDuration, value)).toEqual(['Expected a duration such as 500ms, 1s, 5m, 24h, 7d']);
  });

  test('lies within its bounds, which are allowed themselves', () => {
    const bounded = duration({ default: '1s', min: '250ms', max: '1m' });
    expect(bounded.parse('250ms')).toBe(250);
    expect(bounded.parse('60s')).toBe(60_000);
    for (const text of ['249ms', '0s', '60001ms', '2m', `${'9'.repeat(400)}d`]) {
      expect(faultsOf(bounded, text)).toEqual(['Must be between 250ms and 1m']);
    }
  });

  test('that is not given is the default', () => {
    expect(anyDuration.parse(undefined)).toBe(5000);
  });

  test('written in ms is as many ms', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000_000 }), (ms) => {
        expect(anyDuration.parse(`${ms}ms`)).toBe(ms);
      }),
    );
  });
});

describe('a size', () => {
  test.each([
    ['512B', 512],
    ['64KiB', 65_536],
    ['100MiB', 104_857_600],
    ['0.5MiB', 524_288],
    ['10GiB', 10_737_418_240],
  ])('of %s is %i bytes', (text, bytes) => {
    expect(anySize.parse(text)).toBe(bytes);
  });

  test.each(['64', '64KB', '64kib', '64 KiB', '-1B', '1TiB'])('is not written "%s"', (text) => {
    expect(faultsOf(anySize, text)).toEqual(['Expected a size such as 64KiB, 100MiB']);
  });

  test('lies within its bounds and has a default', () => {
    expect(faultsOf(anySize, '11GiB')).toEqual(['Must be between 0B and 10GiB']);
    expect(anySize.parse(undefined)).toBe(1_048_576);
  });
});
