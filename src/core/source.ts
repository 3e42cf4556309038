// Decides when to ask IMDS again, and in which state the source is.

/** What one poll came to. */
export type PollOutcome =
  | { readonly status: 'document' }
  /** 200 with nothing in it: normal while the feature wakes up. */
  | { readonly status: 'empty' }
  | { readonly status: 'unreadable'; readonly reason: string }
  /** 429 and 503. */
  | { readonly status: 'throttled'; readonly code: number; readonly retryAfterMs: number | null }
  /** 410: IMDS is being updated; documented to pass within 70 seconds. */
  | { readonly status: 'updating' }
  /** 400, 401, 403, 404, 405 and every other answer that asking again at once will not change. */
  | { readonly status: 'refused'; readonly code: number; readonly detail: string }
  /** 5xx, time-outs, resets: passing faults. */
  | { readonly status: 'failed'; readonly reason: string };

/**
 * `warming`: no good answer yet in this run. `fresh`: the last answer was good. `silent`: answers come, but empty.
 * `failing`: passing faults. `refused`: something is wrong that a person must mend.
 */
export type SourceState = 'warming' | 'fresh' | 'silent' | 'failing' | 'refused';

/** What the pacing remembers from poll to poll. */
export interface SourceHistory {
  readonly state: SourceState;
  /** Why, in one short phrase without any value from outside but status codes and IMDS's own error text. */
  readonly detail: string;
  /** Polls in a row that gave no document. */
  readonly failures: number;
  /** Epoch ms since when the state is what it is. */
  readonly since: number;
  /** Whether any good answer came in this run. */
  readonly warm: boolean;
}

export interface SourcePolicy {
  readonly pollIntervalMs: number;
  /** How long a run may go without a first answer before that is a fault. */
  readonly warmupMs: number;
}

export interface SourceDecision {
  readonly history: SourceHistory;
  /** Ms from the start of this poll to the start of the next. */
  readonly delayMs: number;
  /** The state is new: say so, once. */
  readonly changed: boolean;
}

// DESIGN's bounds; 70 s is from Azure's table of answers, 30 s from the house.
const backoffMsMax = 30_000;
const updatingMsMax = 10_000;
const refusedMs = 30_000;
const retryAfterMsMax = 120_000;

export const unknownSource = (now: number): SourceHistory => ({
  state: 'warming',
  detail: 'no answer yet',
  failures: 0,
  since: now,
  warm: false,
});

/** Takes one outcome in and says when to ask again. `now` in epoch ms. */
export function pace(
  outcome: PollOutcome,
  history: SourceHistory,
  policy: SourcePolicy,
  now: number,
): SourceDecision {
  const good = outcome.status === 'document';
  const failures = good ? 0 : history.failures + 1;
  const warm = history.warm || good;
  const warming = !warm && (history.state !== 'warming' || now - history.since < policy.warmupMs);
  const { state, detail } = stateOf(outcome, warming && history.state !== 'failing' ? 'warming' : 'failing');
  // Faults that pass take turns; what a person must know is said whenever it is something else.
  const telling = state === 'refused' || state === 'warming';
  const changed = state !== history.state || (telling && detail !== history.detail);
  const since = state === history.state ? history.since : now;
  return {
    history: { state, detail, failures, since, warm },
    delayMs: Math.max(delayOf(outcome, failures, policy), policy.pollIntervalMs),
    changed,
  };
}

function stateOf(outcome: PollOutcome, passing: 'warming' | 'failing'): { state: SourceState; detail: string } {
  switch (outcome.status) {
    case 'document':
      return { state: 'fresh', detail: 'documents arrive' };
    case 'empty':
      return { state: passing === 'warming' ? 'warming' : 'silent', detail: 'answers with an empty body' };
    case 'refused':
      return { state: 'refused', detail: `answers ${outcome.code}: ${outcome.detail}` };
    case 'throttled':
      return { state: passing, detail: `answers ${outcome.code}` };
    case 'updating':
      return { state: passing, detail: 'answers 410' };
    default:
      return { state: passing, detail: outcome.reason };
  }
}

function delayOf(outcome: PollOutcome, failures: number, policy: SourcePolicy): number {
  const backoff = Math.min(policy.pollIntervalMs * 2 ** Math.min(failures, 16), backoffMsMax);
  switch (outcome.status) {
    case 'document':
    case 'empty':
      return policy.pollIntervalMs;
    case 'throttled':
      return outcome.retryAfterMs === null ? backoff : Math.min(outcome.retryAfterMs, retryAfterMsMax);
    case 'updating':
      // "Retry after some time for a max of 70 seconds": several tries fit in.
      return Math.min(backoff, updatingMsMax);
    case 'refused':
      return refusedMs;
    default:
      // A fault that passes costs sight of the events: look again soon, for Preempt gives 30 seconds.
      return Math.min(backoff, updatingMsMax);
  }
}
