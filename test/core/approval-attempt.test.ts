// What each answer to an approval means, and how long it takes until the next attempt.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { approvalAnswer, approvalDelayMs } from '../../src/core/approval-attempt.ts';

it.each([
  ['accepted', [200, 204]],
  ['throttled', [429, 503]],
  ['failed', [408, 410, 500, 502, 504]],
  ['refused', [301, 400, 401, 403, 404, 405, 409]],
])('an approval is %s by %j', (status, codes) => {
  expect(codes.map((code) => approvalAnswer(code, 'why'))).toEqual(
    codes.map((code) => expect.objectContaining({ status, code })),
  );
});

it('is tried again after a second at least, half a minute at most, and never all at the same moment', () => {
  const failed = { status: 'failed', code: 500, reason: 'answers 500' } as const;
  const bounds = [1, 2, 3, 4, 5, 6, 60].map((attempts) =>
    [0, 0.999_999].map((random) => approvalDelayMs(attempts, failed, random)),
  );
  expect(bounds.map(([least]) => least)).toEqual([1, 1, 1, 1, 1, 1, 1].map((seconds) => seconds * 1_000));
  expect(bounds.map(([, most = 0]) => Math.round(most))).toEqual(
    [2, 4, 8, 16, 30, 30, 30].map((s) => s * 1_000),
  );
});

it('never is sooner than the service asks for, which counts for two minutes at most', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 1_000_000 }),
      fc.nat({ max: 50 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (retryAfterMs, attempts, random) => {
        const answer = { status: 'throttled', code: 429, retryAfterMs } as const;
        const delayMs = approvalDelayMs(attempts, answer, random);
        expect(delayMs).toBeGreaterThanOrEqual(Math.min(retryAfterMs, 120_000));
        expect(delayMs).toBeLessThanOrEqual(Math.max(Math.min(retryAfterMs, 120_000), 30_000));
      },
    ),
  );
});
