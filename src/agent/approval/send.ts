// Brings one approval to the metadata service, and tries again until it is answered or comes too late.
import pRetry from 'p-retry';
import type { Clock } from '../../clock.ts';
import { type ApprovalAnswer, approvalDelayMs, type PassingAnswer } from '../../core/approval-attempt.ts';
import type { ApprovalData } from '../../core/deed.ts';
import type { ImdsClient } from '../imds.ts';

/** What is to be approved. */
export interface Approval {
  /** As the document spells it. */
  readonly eventId: string;
  /** When the event starts by itself, RFC 3339; null when nobody knows. */
  readonly notBefore: string | null;
}

/** How it ended. `status` is that of the last answer, null when there was none. */
export interface Sent {
  /** `ended`: the signal aborted, and Azure may have taken it or not. */
  readonly end: 'accepted' | 'refused-by-imds' | 'too-late' | 'ended';
  readonly answer: { readonly status: number | null; readonly attempts: number };
}

/** What its record says of it; `ended` because the event is gone. */
export function outcomeOf(
  end: Sent['end'],
  by: ApprovalData['actor']['kind'],
): Pick<ApprovalData, 'decision' | 'reason'> {
  if (end === 'accepted') return { decision: 'approved', reason: by === 'agent' ? 'rule' : 'person' };
  return { decision: 'failed', reason: end === 'ended' ? 'gone' : end };
}

export interface SendRuntime {
  readonly imds: Pick<ImdsClient, 'approve'>;
  readonly clock: Clock;
  /** Ends it, the request in hand too. */
  readonly signal: AbortSignal;
  /** Is told of each answer that leads to another attempt. */
  readonly retried?: (answer: PassingAnswer) => void;
  /** Uniform in [0, 1); chance itself unless given. */
  readonly random?: () => number;
}

/** Sends until there is an answer that asking again will not change, the event is due, or the signal aborts. */
export async function sendApproval({ eventId, notBefore }: Approval, runtime: SendRuntime): Promise<Sent> {
  const { imds, clock, signal } = runtime;
  const dueAt = notBefore === null ? Number.POSITIVE_INFINITY : Date.parse(notBefore);
  let last: ApprovalAnswer | null = null;
  let attempts = 0;
  const attempt = async (): Promise<void> => {
    if (signal.aborted || clock.now() >= dueAt) return;
    attempts += 1;
    last = await imds.approve(eventId, signal);
    if (last.status === 'throttled' || last.status === 'failed') throw new Unanswered(last);
  };
  const rest = async ({ error }: { readonly error: Error }): Promise<void> => {
    if (signal.aborted || !(error instanceof Unanswered)) return;
    const delayMs = approvalDelayMs(attempts, error.answer, (runtime.random ?? Math.random)());
    runtime.retried?.(error.answer);
    await clock.sleep(Math.min(delayMs, dueAt - clock.now()), signal);
  };
  await pRetry(attempt, {
    retries: Number.POSITIVE_INFINITY,
    // The waiting is our own: p-retry's cannot be told what the service asked for.
    minTimeout: 0,
    onFailedAttempt: rest,
    shouldRetry: ({ error }) => error instanceof Unanswered,
  });
  return { end: endOf(last, signal), answer: { status: statusOf(last), attempts } };
}

class Unanswered extends Error {
  readonly answer: PassingAnswer;

  constructor(answer: PassingAnswer) {
    super(answer.status);
    this.answer = answer;
  }
}

function endOf(last: ApprovalAnswer | null, signal: AbortSignal): Sent['end'] {
  if (last?.status === 'accepted') return 'accepted';
  if (last?.status === 'refused') return 'refused-by-imds';
  return signal.aborted ? 'ended' : 'too-late';
}

const statusOf = (answer: ApprovalAnswer | null): number | null => answer?.code ?? null;
