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
  /** Polls in a row that failed; an empty answer is none of them. */
  readonly failures: number;
  /** Epoch ms since when the state is what it is. */
  readonly since: number;
  /** Epoch ms at which this run began to ask. */
  readonly startedAt: number;
  /** Whether any good answer came in this run. */
  readonly warm: boolean;
}

/** The settings that pacing goes by. */
export interface SourcePolicy {
  readonly pollIntervalMs: number;
  /** How long a run may go without a first answer before that is a fault. */
  readonly warmupMs: number;
}

/** What one outcome came to. */
export interface SourceDecision {
  readonly history: SourceHistory;
  /** Ms from the start of this poll to the start of the next; after `throttled`, from its answer. */
  readonly delayMs: number;
  /** The state is new: say so, once. */
  readonly changed: boolean;
}

const backoffMsMax = 30_000;
const passingMsMax = 10_000;
const refusedMs = 30_000;
// A header that asks for more is a mistake: it would blind the agent for a whole Preempt, and many of them.
const retryAfterMsMax = 120_000;

/** The history of a run that begins to ask at `now`, epoch ms. */
export const unknownSource = (now: number): SourceHistory => ({
  state: 'warming',
  detail: 'no answer yet',
  failures: 0,
  since: now,
  startedAt: now,
  warm: false,
});

/** Takes one outcome in and says when to ask again. `now` in epoch ms. */
export function pace(
  outcome: PollOutcome,
  history: SourceHistory,
  policy: SourcePolicy,
  now: number,
): SourceDecision {
  const { startedAt } = history;
  const answered = outcome.status === 'document' || outcome.status === 'empty';
  const failures = answered ? 0 : history.failures + 1;
  const warm = history.warm || outcome.status === 'document';
  const { state, detail } = stateOf(outcome, !warm && now - startedAt < policy.warmupMs);
  // Faults that pass take turns; what a person must know is said whenever it is something else.
  const telling = state === 'refused' || state === 'warming';
  const changed = state !== history.state || (telling && detail !== history.detail);
  const since = state === history.state ? history.since : now;
  return {
    history: { state, detail, failures, since, startedAt, warm },
    delayMs: Math.max(delayOf(outcome, failures, policy), policy.pollIntervalMs),
    changed,
  };
}

function stateOf(outcome: PollOutcome, warming: boolean): Pick<SourceHistory, 'state' | 'detail'> {
  const passing = warming ? 'warming' : 'failing';
  switch (outcome.status) {
    case 'document':
      return { state: 'fresh', detail: 'documents arrive' };
    case 'empty':
      return { state: warming ? 'warming' : 'silent', detail: 'answers with an empty body' };
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
  const backoff = Math.min(policy.pollIntervalMs * 2 ** failures, backoffMsMax);
  switch (outcome.status) {
    case 'document':
    case 'empty':
      return policy.pollIntervalMs;
    case 'throttled':
      return outcome.retryAfterMs === null ? backoff : Math.min(outcome.retryAfterMs, retryAfterMsMax);
    case 'refused':
      return refusedMs;
    default:
      // A fault that passes costs sight of the events, and Preempt gives 30 seconds: look again soon. Of 410
      // Azure says that it takes at most 70 seconds.
      return Math.min(backoff, passingMsMax);
  }
}
