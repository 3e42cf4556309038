// When IMDS is asked again after each of its answers, and in which state it is then.
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type PollOutcome,
  pace,
  type SourceDecision,
  type SourcePolicy,
  type SourceState,
  unknownSource,
} from '../../src/core/source.ts';

const policy: SourcePolicy = { pollIntervalMs: 1000, warmupMs: 125_000 };
const startedAt = Date.parse('2026-11-10T22:11:31.204Z');
const document: PollOutcome = { status: 'document' };
const empty: PollOutcome = { status: 'empty' };
const failed: PollOutcome = { status: 'failed', reason: 'does not answer in time' };
const unreadable: PollOutcome = { status: 'unreadable', reason: 'the body is not JSON' };
const updating: PollOutcome = { status: 'updating' };
const throttled = (retryAfterMs: number | null, code = 429): PollOutcome => ({
  status: 'throttled',
  code,
  retryAfterMs,
});
const refused = (code: number): PollOutcome => ({
  status: 'refused',
  code,
  detail: 'is imds.endpoint right?',
});

/** The decisions after a run of answers, which come one every `everyMs`. */
function decisions(outcomes: readonly PollOutcome[], everyMs = 1000, asked = policy): SourceDecision[] {
  let history = unknownSource(startedAt);
  return outcomes.map((outcome, index) => {
    const decision = pace(outcome, history, asked, startedAt + (index + 1) * everyMs);
    history = decision.history;
    return decision;
  });
}

const delays = (outcomes: readonly PollOutcome[], asked = policy): number[] =>
  decisions(outcomes, 1000, asked).map(({ delayMs }) => delayMs);
const states = (outcomes: readonly PollOutcome[], everyMs?: number): SourceState[] =>
  decisions(outcomes, everyMs).map(({ history }) => history.state);
const times = (count: number, outcome: PollOutcome): PollOutcome[] => Array<PollOutcome>(count).fill(outcome);

describe('the next poll', () => {
  test.each<[string, PollOutcome, readonly number[]]>([
    ['a document', document, [1000, 1000, 1000]],
    ['an empty body', empty, [1000, 1000, 1000]],
    ['429 with Retry-After', throttled(7000), [7000, 7000]],
    ['503 with Retry-After', throttled(7000, 503), [7000, 7000]],
    ['Retry-After of less than the interval', throttled(300), [1000, 1000]],
    ['Retry-After of an hour', throttled(3_600_000), [120_000, 120_000]],
    ['429 without Retry-After', throttled(null), [2000, 4000, 8000, 16_000, 30_000, 30_000]],
    ['503 without Retry-After', throttled(null, 503), [2000, 4000, 8000, 16_000, 30_000, 30_000]],
    ['410', updating, [2000, 4000, 8000, 10_000, 10_000]],
    ['500, a time-out or a reset', failed, [2000, 4000, 8000, 10_000, 10_000]],
    ['a torn document', unreadable, [2000, 4000, 8000, 10_000, 10_000]],
    ['400', refused(400), [30_000, 30_000]],
    ['404', refused(404), [30_000, 30_000]],
    ['405', refused(405), [30_000, 30_000]],
  ])('after %s comes in time', (_answer, outcome, expected) => {
    expect(delays(times(expected.length, outcome))).toEqual(expected);
  });

  test('comes soon again after an answer, even an empty one', () => {
    expect(delays([failed, failed, document, failed])).toEqual([2000, 4000, 1000, 2000]);
    expect(delays([...times(20, empty), failed, empty, failed]).slice(-3)).toEqual([2000, 1000, 2000]);
  });

  test('tries 410 several times within the 70 seconds that it may take', () => {
    const sum = delays(times(7, updating)).reduce((total, delayMs) => total + delayMs, 0);
    expect(sum).toBeLessThan(70_000);
  });

  test('never comes before the interval, and never later than two minutes', () => {
    const asked = fc.integer({ min: 250, max: 60_000 });
    fc.assert(
      fc.property(fc.array(anyOutcome(), { maxLength: 40 }), asked, (outcomes, pollIntervalMs) => {
        for (const delayMs of delays(outcomes, { ...policy, pollIntervalMs })) {
          expect(delayMs).toBeGreaterThanOrEqual(pollIntervalMs);
          expect(delayMs).toBeLessThanOrEqual(120_000);
        }
      }),
    );
  });
});

describe('the source', () => {
  test.each<[string, readonly PollOutcome[], SourceState, string]>([
    ['gives documents', [document], 'fresh', 'documents arrive'],
    ['has not answered yet', [failed], 'warming', 'does not answer in time'],
    ['wakes up', [empty], 'warming', 'answers with an empty body'],
    ['is asked too often from the start', [throttled(null)], 'warming', 'answers 429'],
    ['refuses from the start', [refused(404)], 'refused', 'answers 404: is imds.endpoint right?'],
    ['fails', [document, failed], 'failing', 'does not answer in time'],
    ['tears its answers', [document, unreadable], 'failing', 'the body is not JSON'],
    ['is asked too often', [document, throttled(1)], 'failing', 'answers 429'],
    ['is overloaded', [document, throttled(1, 503)], 'failing', 'answers 503'],
    ['is updated', [document, updating], 'failing', 'answers 410'],
    ['answers, but empty', [document, empty], 'silent', 'answers with an empty body'],
    ['refuses', [document, refused(400)], 'refused', 'answers 400: is imds.endpoint right?'],
    ['is back', [document, failed, document], 'fresh', 'documents arrive'],
  ])('that %s is in a state that says so', (_what, outcomes, state, detail) => {
    expect(decisions(outcomes).at(-1)?.history).toMatchObject({ state, detail });
  });

  test('may take its time until the first document, and no longer', () => {
    expect(states(times(3, failed), 62_499)).toEqual(['warming', 'warming', 'failing']);
    expect(states(times(3, failed), 62_500)).toEqual(['warming', 'failing', 'failing']);
    expect(states(times(3, empty), 62_500)).toEqual(['warming', 'silent', 'silent']);
  });

  test('does not begin to warm up again, whatever comes in between', () => {
    const late = states([empty, empty, failed, empty, refused(404), failed, updating], 70_000);
    expect(late).toEqual(['warming', 'silent', 'failing', 'silent', 'refused', 'failing', 'failing']);
    expect(states([document, empty, failed])).toEqual(['fresh', 'silent', 'failing']);
  });

  test('still warms up when the first answers were refused', () => {
    expect(states([refused(404), failed, document])).toEqual(['refused', 'warming', 'fresh']);
  });

  test('knows since when it is in its state, and whether it was ever good', () => {
    const histories = decisions([failed, document, document, failed, empty, empty]).map(
      ({ history }) => history,
    );
    expect(histories.map(({ since }) => since - startedAt)).toEqual([0, 2000, 2000, 4000, 5000, 5000]);
    expect(histories.map(({ warm }) => warm)).toEqual([false, true, true, true, true, true]);
    expect(histories.map(({ failures }) => failures)).toEqual([1, 0, 0, 1, 0, 0]);
  });

  test('is spoken of once per change of state', () => {
    const spoken = decisions([document, document, failed, unreadable, failed, empty, empty, document]);
    expect(spoken.map(({ changed }) => changed)).toEqual([
      true,
      false,
      true,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  test('is spoken of again when it warms up in another way, or refuses for another reason', () => {
    const warming = decisions([failed, failed, empty, empty]);
    expect(warming.map(({ changed }) => changed)).toEqual([true, false, true, false]);
    const refusing = decisions([refused(400), refused(400), refused(404)]);
    expect(refusing.map(({ changed }) => changed)).toEqual([true, false, true]);
  });

  test('is good after a document, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(anyOutcome(), { maxLength: 40 }), (outcomes) => {
        const last = decisions([...outcomes, document]).at(-1);
        expect(last).toMatchObject({ delayMs: 1000, history: { state: 'fresh', failures: 0, warm: true } });
      }),
    );
  });
});

function anyOutcome(): Arbitrary<PollOutcome> {
  const wait = fc.option(fc.nat({ max: 10_000_000 }));
  const fixed = fc.constantFrom(document, empty, failed, unreadable, updating, refused(400), refused(404));
  return fc.oneof(
    fixed,
    wait.map((retryAfterMs) => throttled(retryAfterMs)),
  );
}
