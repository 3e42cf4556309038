// When a delivery that waits is too old, when its time is not to be believed, and when a wait was a freeze.
import { expect, test } from 'vitest';
import { chatPolicy } from '../../src/core/delivery.ts';
import { credibleDueAt, expiresAt, hasOverslept, type Waiting } from '../../src/core/delivery-time.ts';

const now = Date.parse('2026-11-10T22:27:04.118Z');
const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];

test.each<[string, Partial<Waiting>, number]>([
  ['that was tried is too old after the longest age', { attempts: 1 }, now + hour],
  ['whose sink rests is too old after the longest age', { resting: true }, now + hour],
  ['that was never tried, at a sink that works, is never too old', {}, Number.POSITIVE_INFINITY],
])('a delivery %s', (_what, waiting, at) => {
  const untried = { attempts: 0, queuedAt: now, resting: false };
  expect(expiresAt({ ...untried, ...waiting }, chatPolicy)).toBe(at);
});

test.each([
  ['half an hour ahead', 30 * minute, 0, 30 * minute],
  ['further ahead than any rule asks for by itself', 30 * minute + 1, 0, 0],
  ['a backoff behind a pause of a day', day + 5 * minute, day, day + 5 * minute],
  ['further behind that pause', day + 5 * minute + 1, day, 0],
  ['at the end of a pause longer than anybody is left alone', day + 1, day + 1, 0],
  ['in the past', -hour, -2 * hour, -hour],
])('a time %s is trusted as far as a rule can have asked for it', (_what, ahead, pausedFor, trusted) => {
  expect(credibleDueAt(now + ahead, now + pausedFor, now)).toBe(now + trusted);
});

test.each([
  ['as long as asked', second, false],
  ['longer by the longest backoff', second + minute, false],
  ['longer by more than that', second + minute + 1, true],
  ['less, because something happened', 0, false],
])('%s has overslept accordingly', (_what, tookMs, overslept) => {
  expect(hasOverslept(second, tookMs, chatPolicy)).toBe(overslept);
});
