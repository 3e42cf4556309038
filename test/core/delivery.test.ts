// Every outcome and what becomes of the delivery: when it is tried again, and when it is given up.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  backoffMs,
  chatPolicy,
  type DeliveryHistory,
  type DeliveryPolicy,
  dataPolicy,
  isUrgent,
  judge,
  type Outcome,
  type Verdict,
} from '../../src/core/delivery.ts';

const now = Date.parse('2026-11-10T22:27:04.118Z');
const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
const fresh: DeliveryHistory = { attempts: 1 };
const half = { now, random: 0.5 };
const reset: Outcome = { status: 'retryable', reason: 'connection-reset', stale: true };
const busy: Outcome = { status: 'retryable', reason: 'http-503' };
const untrusted: Outcome = { status: 'retryable', reason: 'tls-untrusted', delayMsMin: 5 * minute };
const revoked: Outcome = { status: 'unavailable', reason: 'http-410' };
const missing: Outcome = { status: 'unavailable', reason: 'http-404', passing: true };
const waits = (ms: number, reason: string, also: object = {}): object => ({
  ...{ state: 'pending', dueAt: now + ms, reason },
  ...also,
});
const rests = (ms: number, reason: string, also: object = {}): object => ({
  ...{ state: 'suspended', dueAt: now + ms, reason },
  ...also,
});

// One row for each rule, to be read beside the table of answers: outcome, history, verdict.
describe('an attempt', () => {
  test.each<[string, Outcome, Partial<DeliveryHistory>, object]>([
    ['that delivered', { status: 'delivered' }, {}, { state: 'delivered' }],
    ['that delivered at last', { status: 'delivered' }, { attempts: 99 }, { state: 'delivered' }],
    [
      'whose record was refused',
      { status: 'rejected', reason: 'http-400' },
      {},
      { state: 'dead', reason: 'http-400' },
    ],
    ['whose sink is at fault', revoked, {}, rests(15 * minute, 'http-410')],
    [
      'whose sink is at fault for days',
      revoked,
      { unavailableSince: now - 3 * day },
      rests(15 * minute, 'http-410'),
    ],
    [
      'whose sink is at fault and asks for an hour',
      { ...revoked, retryAfterMs: hour },
      {},
      rests(hour, 'http-410', { pauseUntil: now + hour }),
    ],
    [
      'whose sink is at fault and asks for a minute',
      { ...revoked, retryAfterMs: minute },
      {},
      rests(15 * minute, 'http-410', { pauseUntil: now + minute }),
    ],
    ['whose sink is missing, maybe in passing', missing, {}, rests(500, 'http-404', { passing: true })],
    [
      'whose sink is missing for the fourth time',
      missing,
      { attempts: 4, unavailableSince: now - 7 * second },
      rests(4000, 'http-404', { passing: true }),
    ],
    [
      'whose sink is missing for nearly 15 minutes',
      missing,
      { attempts: 40, unavailableSince: now - 15 * minute + 1 },
      rests(2.5 * minute, 'http-404', { passing: true }),
    ],
    [
      'whose sink is missing for 15 minutes',
      missing,
      { attempts: 40, unavailableSince: now - 15 * minute },
      rests(15 * minute, 'http-404'),
    ],
    [
      'whose sink is missing and asks for a minute',
      { ...missing, retryAfterMs: minute },
      {},
      rests(minute, 'http-404', { passing: true, pauseUntil: now + minute }),
    ],
    ['that failed in passing', busy, {}, waits(500, 'http-503')],
    ['that failed in passing for the fourth time', busy, { attempts: 4 }, waits(4000, 'http-503')],
    ['that failed for what takes a while to mend', untrusted, {}, waits(5 * minute + 500, 'tls-untrusted')],
    [
      'that failed for what takes a while, with a longer pause asked for',
      { ...untrusted, retryAfterMs: 10 * minute },
      {},
      waits(10 * minute + 500, 'tls-untrusted', { pauseUntil: now + 10 * minute }),
    ],
    ['on a stale connection', reset, {}, waits(0, 'connection-reset')],
    ['on a stale connection, after another fault', reset, { attempts: 4 }, waits(0, 'connection-reset')],
    [
      'on a stale connection twice',
      reset,
      { attempts: 2, retriedAtOnce: true },
      waits(1000, 'connection-reset'),
    ],
  ])('%s', (_what, outcome, history, verdict) => {
    expect(judge(outcome, { ...fresh, ...history }, dataPolicy, half)).toEqual(verdict);
  });

  test.each<[string, DeliveryPolicy, object]>([
    ['data sinks', dataPolicy, { delayMsMax: 5 * minute, ageMsMax: 7 * day, supersedes: false }],
    ['chat sinks', chatPolicy, { delayMsMax: minute, ageMsMax: hour, supersedes: true }],
  ])('of %s is patient as the design says', (_sinks, policy, expected) => {
    expect(policy).toEqual({ ...expected, delayMsBase: second, probeIntervalMs: 15 * minute });
  });
});

describe('Retry-After', () => {
  const asked = (retryAfterMs: number, random = 0.5): Verdict =>
    judge({ status: 'retryable', reason: 'throttled', retryAfterMs }, fresh, dataPolicy, { now, random });

  test('pauses the whole sink, and the delivery a little longer, so that a fleet does not return as one', () => {
    expect(asked(30 * second)).toEqual({
      state: 'pending',
      dueAt: now + 30 * second + 500,
      reason: 'throttled',
      pauseUntil: now + 30 * second,
    });
  });

  test.each([
    ['more than a day', 2 * day, day],
    ['an endless time', Number.POSITIVE_INFINITY, day],
    ['a day', day, day],
  ])('of %s counts as a day', (_long, retryAfterMs, counted) => {
    expect(asked(retryAfterMs, 0)).toMatchObject({ dueAt: now + counted, pauseUntil: now + counted });
  });

  test.each([0, -1000, Number.NaN, Number.NEGATIVE_INFINITY])('of %d ms pauses nothing', (retryAfterMs) => {
    expect(asked(retryAfterMs)).toEqual({ state: 'pending', dueAt: now + 500, reason: 'throttled' });
  });

  test('is never undercut, and never delays by more than a day and one backoff', () => {
    fc.assert(
      fc.property(
        fc.double({ max: 2 * day }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.nat(),
        (ms, random, attempts) => {
          const outcome: Outcome = { status: 'retryable', reason: 'throttled', retryAfterMs: ms };
          const verdict = judge(outcome, { ...fresh, attempts }, dataPolicy, { now, random });
          if (verdict.state !== 'pending') throw new Error(`expected to wait, found ${verdict.state}`);
          const least = Math.ceil(Math.min(Math.max(ms || 0, 0), day));
          expect(Number.isSafeInteger(verdict.dueAt)).toBe(true);
          expect(verdict.dueAt).toBeGreaterThanOrEqual(now + least);
          expect(verdict.dueAt).toBeLessThanOrEqual(now + least + dataPolicy.delayMsMax);
          expect(verdict.pauseUntil).toBe(least > 0 ? now + least : undefined);
        },
      ),
    );
  });
});

describe('the backoff', () => {
  const policies = fc.constantFrom(dataPolicy, chatPolicy);

  test.each([
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [9, 256_000],
    [10, 300_000],
    [31, 300_000],
    [2000, 300_000],
    [0, 1000],
  ])('after attempt %i lies below %i ms', (attempts, ceilingMs) => {
    expect(backoffMs(attempts, dataPolicy, 0)).toBe(0);
    expect(backoffMs(attempts, dataPolicy, 0.5)).toBe(ceilingMs / 2);
    expect(backoffMs(attempts, dataPolicy, 1 - Number.EPSILON)).toBe(ceilingMs - 1);
  });

  test('of a chat lies below a minute', () => {
    expect(backoffMs(100, chatPolicy, 1 - Number.EPSILON)).toBe(minute - 1);
  });

  test('is a whole number of ms between nothing and the longest delay', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        policies,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempts, policy, random) => {
          const delayMs = backoffMs(attempts, policy, random);
          expect(Number.isSafeInteger(delayMs)).toBe(true);
          expect(delayMs).toBeGreaterThanOrEqual(0);
          expect(delayMs).toBeLessThan(policy.delayMsMax);
        },
      ),
    );
  });

  test('grows with the attempts for the same throw of the die', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 50 }),
        policies,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempts, policy, random) => {
          expect(backoffMs(attempts + 1, policy, random)).toBeGreaterThanOrEqual(
            backoffMs(attempts, policy, random),
          );
        },
      ),
    );
  });
});

describe('what cannot wait', () => {
  test.each<[string, number | null, boolean, boolean]>([
    ['Preempt', null, true, true],
    ['preempt', 900, true, true],
    ['Preempt', null, false, true],
    ['Terminate', 59, true, true],
    ['Reboot', 0, true, true],
    ['Reboot', -5, true, true],
    ['Terminate', 60, true, false],
    ['Freeze', 900, true, false],
    ['Reboot', null, true, false],
    ['Reboot', 5, false, false],
  ])('a %s with %s s of notice, still ahead: %s; it is urgent: %s', (type, seconds, ahead, urgent) => {
    expect(isUrgent(type, seconds, ahead)).toBe(urgent);
  });
});
