// Turns what a sink answered into what becomes of the delivery: the only place where retry is decided.
import type { SlackError } from './answer-table.ts';

/** Why an attempt did not deliver: a closed list, so that no secret can travel in a reason. */
export type DeliveryReason =
  | `http-${number}`
  | `slack-${SlackError}`
  | 'connection-refused'
  | 'connection-reset'
  | 'host-unreachable'
  | 'name-not-found'
  | 'timeout'
  | 'tls'
  | 'tls-name-mismatch'
  | 'tls-expired'
  | 'tls-untrusted'
  | 'tls-client-certificate'
  | 'tls-file-unreadable'
  | 'tls-file-invalid'
  | 'proxy-unreachable'
  | 'proxy-authentication'
  | 'proxy-refused'
  | 'proxy-invalid'
  | 'egress-blocked'
  | 'invalid-url'
  | 'invalid-header'
  | 'invalid-connection-string'
  | 'invalid-secret'
  | 'secret-unreadable'
  | 'unauthorized'
  | 'not-found'
  | 'hub-disabled'
  | 'throttled'
  | 'quota-exceeded'
  | 'too-large'
  | 'credential-unavailable'
  | 'disk-full'
  | 'file-unwritable'
  | 'broken-pipe'
  | 'protocol'
  | 'unexpected-answer'
  | 'trigger-disabled'
  | 'retired-connector'
  | 'handshake-refused'
  | 'template'
  | 'aborted'
  | 'unexpected'
  | 'expired'
  | 'damaged'
  | 'outbox-full'
  | 'other-vm'
  | 'discarded'
  | 'sink-removed';

/** What a sink answered to one attempt. `unavailable`: the fault is the sink's, not the record's. */
export type Outcome =
  | { readonly status: 'delivered' }
  | {
      readonly status: 'retryable';
      readonly reason: DeliveryReason;
      /** The sink asked to be left alone for so long: all of it, not only this record. */
      readonly retryAfterMs?: number;
      /** What mends this takes at least so long, though nobody asked for the wait: it holds up no urgent record. */
      readonly delayMsMin?: number;
      /** A reused connection died before an answer, or a kept token was refused: one immediate second try is due. */
      readonly stale?: boolean;
    }
  | { readonly status: 'rejected'; readonly reason: DeliveryReason }
  | {
      readonly status: 'unavailable';
      readonly reason: DeliveryReason;
      /** Often over within minutes, such as a 404 while a receiver is deployed: probed often at first. */
      readonly passing?: boolean;
      readonly retryAfterMs?: number;
    };

/** What the agent made of it. */
export type Verdict =
  | { readonly state: 'delivered' }
  | {
      readonly state: 'pending';
      readonly dueAt: number;
      readonly reason: DeliveryReason;
      /** Set when the receiver asked for a pause: until then the whole sink rests, even for urgent records. */
      readonly pauseUntil?: number;
    }
  | {
      readonly state: 'suspended';
      readonly dueAt: number;
      readonly reason: DeliveryReason;
      readonly pauseUntil?: number;
      /** The fault may still be one of those that pass: no person is needed yet. */
      readonly passing?: true;
    }
  | { readonly state: 'dead'; readonly reason: DeliveryReason }
  /** A newer phase of the same event was told to the sink meanwhile, or waits for it, and says all that this one would. */
  | { readonly state: 'superseded' };

/** What happened to the delivery before, this attempt included. */
export interface DeliveryHistory {
  /** From 1. */
  readonly attempts: number;
  /** The attempt before this one ended the same way at once, on a stale connection. */
  readonly retriedAtOnce?: boolean;
  /** Epoch ms at which the sink began to be unavailable without an answer of another kind since; none = just now. */
  readonly unavailableSince?: number;
}

/** How patient a sink is with records it does not get rid of. */
export interface DeliveryPolicy {
  readonly delayMsBase: number;
  readonly delayMsMax: number;
  readonly ageMsMax: number;
  readonly probeIntervalMs: number;
  /** Whether a phase of an event is skipped once there is a newer one: a person wants to know how things stand. */
  readonly supersedes: boolean;
}

const minute = 60_000;

/** Streams and plain HTTP: patient, because a machine reads them. */
export const dataPolicy: DeliveryPolicy = {
  delayMsBase: 1_000,
  delayMsMax: 5 * minute,
  ageMsMax: 7 * 24 * 60 * minute,
  probeIntervalMs: 15 * minute,
  supersedes: false,
};

/** Chat: prompt and soon over, because a person reads it. */
export const chatPolicy: DeliveryPolicy = {
  ...dataPolicy,
  delayMsMax: minute,
  ageMsMax: 60 * minute,
  supersedes: true,
};

// How long a fault that is often over within minutes is taken for one of those.
const passingMs = 15 * minute;

/** A receiver's clock or header may be wrong: this is the longest that anyone is left alone, ms. */
export const retryAfterMsMax = 24 * 60 * minute;

/** The two things a decision takes from the world. */
export interface Draw {
  /** Epoch ms. */
  readonly now: number;
  /** Uniform in [0, 1). */
  readonly random: number;
}

/**
 * Turns the outcome of an attempt into the verdict on the delivery. Age plays no part here: who was just asked has
 * answered, and what is too old for another attempt is found before that one, by `expiresAt`.
 */
export function judge(
  outcome: Outcome,
  history: DeliveryHistory,
  policy: DeliveryPolicy,
  draw: Draw,
): Verdict {
  if (outcome.status === 'delivered') return { state: 'delivered' };
  if (outcome.status === 'rejected') return { state: 'dead', reason: outcome.reason };
  if (outcome.status === 'unavailable') return suspended(outcome, history, policy, draw);
  if (outcome.stale === true && history.retriedAtOnce !== true) {
    return { state: 'pending', dueAt: draw.now, reason: outcome.reason };
  }
  const floor = Math.max(askedMs(outcome), Math.ceil(outcome.delayMsMin ?? 0));
  const dueAt = draw.now + floor + backoffMs(history.attempts, policy, draw.random);
  return { state: 'pending', dueAt, reason: outcome.reason, ...pauseOf(outcome, draw.now) };
}

/** Whole ms, because times are kept as integers; rounded up, because it is a lower bound. */
const askedMs = ({ retryAfterMs }: { readonly retryAfterMs?: number }): number =>
  Math.ceil(Math.min(Math.max(retryAfterMs || 0, 0), retryAfterMsMax));

const pauseOf = (outcome: { readonly retryAfterMs?: number }, now: number): { pauseUntil?: number } =>
  askedMs(outcome) > 0 ? { pauseUntil: now + askedMs(outcome) } : {};

function suspended(
  outcome: Extract<Outcome, { status: 'unavailable' }>,
  history: DeliveryHistory,
  policy: DeliveryPolicy,
  { now, random }: Draw,
): Verdict {
  const passing = outcome.passing === true && now - (history.unavailableSince ?? now) < passingMs;
  const delayMs = passing ? backoffMs(history.attempts, policy, random) : policy.probeIntervalMs;
  return {
    state: 'suspended',
    dueAt: now + Math.max(delayMs, askedMs(outcome)),
    reason: outcome.reason,
    ...pauseOf(outcome, now),
    ...(passing ? { passing } : {}),
  };
}

/**
 * Full jitter: uniform between zero and a ceiling that doubles, so that a fleet does not march in step.
 * @param attempts from 1
 */
export function backoffMs(attempts: number, policy: DeliveryPolicy, random: number): number {
  const ceiling = Math.min(policy.delayMsBase * 2 ** (Math.max(attempts, 1) - 1), policy.delayMsMax);
  return Math.floor(random * ceiling);
}

// Below this, waiting out a backoff would be waiting until the VM is gone.
const shortNoticeSeconds = 60;

/**
 * Whether a record goes to every sink at once, past backoff, pause and suspension.
 * @param noticeSeconds as the record has it
 * @param ahead whether the event is not over: an event that begins without notice is as urgent as one announced late
 */
export function isUrgent(eventType: string, noticeSeconds: number | null, ahead: boolean): boolean {
  if (eventType.toLowerCase() === 'preempt') return true;
  return ahead && noticeSeconds !== null && noticeSeconds < shortNoticeSeconds;
}
