// What the answers of the metadata service to an approval mean, and when it is asked again.

/** What one POST came to. */
export type ApprovalAnswer =
  /** Azure took it, which is not to say that the event starts: other VMs may have a say. */
  | { readonly status: 'accepted'; readonly code: number }
  /** Asking again will not change it. */
  | { readonly status: 'refused'; readonly code: number; readonly detail: string }
  /** It was not looked at. */
  | { readonly status: 'throttled'; readonly code: number; readonly retryAfterMs: number | null }
  /** It may have been taken all the same. `code` is null when there was no whole answer. */
  | { readonly status: 'failed'; readonly code: number | null; readonly reason: string };

/** An answer after which it is tried again. */
export type PassingAnswer = Extract<ApprovalAnswer, { status: 'throttled' | 'failed' }>;

const backoffMsMin = 1_000;
const backoffMsMax = 30_000;
// A header that asks for more is a mistake, and an event waits for nobody.
const retryAfterMsMax = 120_000;

/** What a status code says about an approval. @param retryAfterMs as the header has it */
export function approvalAnswer(
  code: number,
  detail: string,
  retryAfterMs: number | null = null,
): ApprovalAnswer {
  if (code >= 200 && code < 300) return { status: 'accepted', code };
  if (code === 429 || code === 503) return { status: 'throttled', code, retryAfterMs };
  // 408 and 410 pass: the request was slow, or the service is being updated.
  if (code >= 500 || code === 408 || code === 410)
    return { status: 'failed', code, reason: `answers ${code}` };
  return { status: 'refused', code, detail };
}

/**
 * Ms until the next attempt: anywhere between a second and a bound that doubles up to 30 seconds, so that a fleet
 * does not march in step; but never sooner than the service asked for.
 * @param attempts that were made
 * @param random uniform in [0, 1)
 */
export function approvalDelayMs(attempts: number, answer: PassingAnswer, random: number): number {
  const bound = Math.min(backoffMsMin * 2 ** attempts, backoffMsMax);
  const delayMs = backoffMsMin + random * (bound - backoffMsMin);
  const askedMs = answer.status === 'throttled' ? Math.min(answer.retryAfterMs ?? 0, retryAfterMsMax) : 0;
  return Math.max(delayMs, askedMs);
}
