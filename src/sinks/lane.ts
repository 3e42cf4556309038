// Lets one operation run at a time, for work that cannot be called back once it has begun.
import type { Outcome } from '../core/delivery.ts';
import { aborted, openDeadline } from './deadline.ts';

/**
 * A caller may stop waiting, by its signal or by the time limit; the operation itself goes on, and the next
 * call waits for it. A repeat of the same key joins it instead of doing the work twice.
 */
export interface Lane extends AsyncDisposable {
  /**
   * Never rejects: an operation that throws is `retryable` with reason `unexpected`.
   * @param key what the operation is about, such as the id of the record
   */
  run(key: string, operation: () => Promise<Outcome>, signal: AbortSignal): Promise<Outcome>;
}

interface Running {
  readonly key: string;
  readonly done: Promise<Outcome>;
  outcome: Outcome | null;
}

/** @param timeoutMs how long a caller waits at most */
export function openLane(timeoutMs: number): Lane {
  let running: Running | null = null;
  let closed = false;

  const attempt = async (key: string, operation: () => Promise<Outcome>, stop: AbortSignal) => {
    while (running !== null && running.key !== key && running.outcome === null) await running.done;
    if (stop.aborted) return aborted;
    const mine = joinable(running, key) ?? begin(key, operation);
    running = mine;
    const outcome = await mine.done;
    // Heard: from here on the same key is something new.
    if (!stop.aborted && running === mine) running = null;
    return outcome;
  };

  return {
    run: async (key, operation, signal) => {
      if (closed || signal.aborted) return aborted;
      using deadline = openDeadline(timeoutMs, signal);
      return await Promise.race([attempt(key, operation, deadline.signal), deadline.reached]);
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      while (running !== null && running.outcome === null) await running.done;
    },
  };
}

function begin(key: string, operation: () => Promise<Outcome>): Running {
  const begun: Running = {
    key,
    outcome: null,
    done: operation()
      .catch((): Outcome => ({ status: 'retryable', reason: 'unexpected' }))
      .then((outcome) => {
        begun.outcome = outcome;
        return outcome;
      }),
  };
  return begun;
}

/** What still runs for this key, or delivered after its caller had left: no need to say it twice. */
function joinable(running: Running | null, key: string): Running | null {
  if (running?.key !== key) return null;
  return running.outcome === null || running.outcome.status === 'delivered' ? running : null;
}
