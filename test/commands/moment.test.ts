// Times as people say and read them, in any zone.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/commands/command.ts';
import { chosenZone, readMoment, writeAge, writeMoment } from '../../src/commands/moment.ts';
import { stage } from '../support/terminal.ts';

const oslo = 'Europe/Oslo';
const now = Date.parse('2026-11-10T22:27:04.118Z');
const read = (text: string, zone = oslo, at = now) =>
  new Date(readMoment(text, 'since', zone, at)).toISOString();

test('a moment is written with its zone', () => {
  expect(writeMoment(now, 'UTC')).toBe('2026-11-10 22:27:04Z');
  expect(writeMoment(now, oslo)).toBe('2026-11-10 23:27:04+01:00');
  expect(writeMoment(now, 'America/St_Johns')).toBe('2026-11-10 18:57:04-03:30');
  expect(writeMoment(now, 'Asia/Kathmandu')).toBe('2026-11-11 04:12:04+05:45');
});

test('words, spans and dates are read in the zone that was chosen', () => {
  expect(read('now')).toBe('2026-11-10T22:27:04.118Z');
  expect(read('today')).toBe('2026-11-09T23:00:00.000Z');
  expect(read('today', 'UTC')).toBe('2026-11-10T00:00:00.000Z');
  expect(read('today', 'Asia/Tokyo')).toBe('2026-11-10T15:00:00.000Z');
  expect(read('yesterday')).toBe('2026-11-08T23:00:00.000Z');
  expect(read('2h')).toBe('2026-11-10T20:27:04.118Z');
  expect(read('-90s')).toBe('2026-11-10T22:25:34.118Z');
  expect(read('1w')).toBe('2026-11-03T22:27:04.118Z');
  expect(read('2026-11-01')).toBe('2026-10-31T23:00:00.000Z');
  expect(read('2026-11-01 12:30')).toBe('2026-11-01T11:30:00.000Z');
  expect(read('2026-11-01T12:30:05Z')).toBe('2026-11-01T12:30:05.000Z');
  expect(read('2026-11-01T12:30:05.250-03:30')).toBe('2026-11-01T16:00:05.000Z');
});

test('days begin at midnight on both sides of a change of the clocks', () => {
  const springDay = Date.parse('2026-03-29T10:00:00Z');
  expect(read('today', oslo, springDay)).toBe('2026-03-28T23:00:00.000Z');
  const autumnDay = Date.parse('2026-10-25T10:00:00Z');
  expect(read('today', oslo, autumnDay)).toBe('2026-10-24T22:00:00.000Z');
  expect(read('2026-03-29 02:30')).toBe('2026-03-29T01:30:00.000Z');
  expect(read('2026-07-01 00:00')).toBe('2026-06-30T22:00:00.000Z');
});

test('what was written is read as the same moment, in every zone', () =>
  fc.assert(
    fc.property(
      fc.constantFrom('UTC', oslo, 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Apia'),
      fc.integer({ min: 0, max: 4_000_000_000 }),
      (zone, seconds) => {
        expect(readMoment(writeMoment(seconds * 1_000, zone), 'since', 'UTC', now)).toBe(seconds * 1_000);
      },
    ),
  ));

test('what is no time is a usage error that names the option', () => {
  for (const text of [
    'soon',
    '',
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-11-10 25:00',
    '3 h',
    '10:00',
    'constructor',
  ]) {
    expect(() => readMoment(text, 'until', oslo, now), text).toThrow(UsageError);
    expect(() => readMoment(text, 'until', oslo, now), text).toThrow('--until takes a time');
  }
});

test('the zone is the one asked for, and nonsense is a usage error', () => {
  expect(chosenZone(stage({ utc: true }).context)).toBe('UTC');
  expect(chosenZone(stage({ tz: 'europe/oslo' }).context)).toBe(oslo);
  expect(chosenZone(stage({}).context)).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
  expect(() => chosenZone(stage({ tz: 'Mars' }).context)).toThrow(UsageError);
  expect(() => chosenZone(stage({ tz: 'UTC', utc: true }).context)).toThrow(UsageError);
});

test.each([
  [0, '0s'],
  [59_999, '59s'],
  [60_000, '1m'],
  [3_599_999, '59m'],
  [3_600_000, '1h'],
  [86_399_999, '23h'],
  [86_400_000, '1d'],
  [30 * 86_400_000, '30d'],
  [-5_000, '0s'],
])('an age of %i ms is written %s', (ms, text) => {
  expect(writeAge(ms)).toBe(text);
});
