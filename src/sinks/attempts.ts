// Gives each attempt its time and its end, and waits for those under way before a sink closes.
import type { Outcome } from '../core/delivery.ts';
import { aborted, openDeadline } from './deadline.ts';

export interface Attempts extends AsyncDisposable {
  /**
   * Never rejects.
   * @param work must end soon after its `stop` aborts; what it throws is read by `outcomeOf`
   */
  run(
    work: (stop: AbortSignal) => Promise<Outcome>,
    outcomeOf: (error: unknown) => Outcome,
    signal: AbortSignal,
  ): Promise<Outcome>;
}

/** @param timeoutMs how long one attempt may take as a whole */
export function openAttempts(timeoutMs: number): Attempts {
  const underway = new Set<Promise<Outcome>>();
  let closed = false;
  return {
    run: async (work, outcomeOf, signal) => {
      if (closed || signal.aborted) return aborted;
      const attempt = bounded(work, outcomeOf, signal, timeoutMs);
      underway.add(attempt);
      return await attempt.finally(() => underway.delete(attempt));
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      await Promise.all(underway);
    },
  };
}

async function bounded(
  work: (stop: AbortSignal) => Promise<Outcome>,
  outcomeOf: (error: unknown) => Outcome,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Outcome> {
  using deadline = openDeadline(timeoutMs, signal);
  try {
    return await work(deadline.signal);
  } catch (error) {
    return deadline.signal.aborted ? await deadline.reached : outcomeOf(error);
  }
}
