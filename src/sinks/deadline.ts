// The end of an attempt: its time is up, or the program wants it to end.
import type { Outcome } from '../core/delivery.ts';

export const aborted: Outcome = { status: 'retryable', reason: 'aborted' };
const timedOut: Outcome = { status: 'retryable', reason: 'timeout' };

export interface Deadline extends Disposable {
  /** Aborts at the end. */
  readonly signal: AbortSignal;
  /** What the end means; resolves then. */
  readonly reached: Promise<Outcome>;
}

/**
 * Begins to wait; disposing of it ends the waiting.
 * Made by hand, because `AbortSignal.any` and `AbortSignal.timeout` leave their parts to the garbage collector, and
 * the signal of the program lives as long as the program.
 * @param signal ends it early
 */
export function openDeadline(timeoutMs: number, signal: AbortSignal): Deadline {
  const stop = new AbortController();
  const { promise: reached, resolve } = Promise.withResolvers<Outcome>();
  const end = (outcome: Outcome) => {
    resolve(outcome);
    stop.abort();
  };
  const onAbort = () => end(aborted);
  const timer = setTimeout(() => end(timedOut), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    signal: stop.signal,
    reached,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}
