// Lets one operation run at a time, for work that cannot be called back once it has begun.
import type { Outcome } from '../core/delivery.ts';
import { aborted, openDeadline } from './deadline.ts';

/**
 * A caller may stop waiting, by its signal or by the time limit; the operation itself goes on, and the next
 * call waits for it. A repeat of the same record joins it instead of doing the work twice.
 */
export interface Lane extends AsyncDisposable {
  /** Never rejects: an operation that throws is `retryable` with reason `unexpected`. */
  run(recordId: string, operation: () => Promise<Outcome>, signal: AbortSignal): Promise<Outcome>;
}

interface Running {
  readonly recordId: string;
  readonly done: Promise<Outcome>;
  outcome: Outcome | null;
}

/** @param timeoutMs how long a caller waits at most */
export function openLane(timeoutMs: number): Lane {
  let running: Running | null = null;
  let closed = false;

  const attempt = async (recordId: string, operation: () => Promise<Outcome>, stop: AbortSignal) => {
    while (running !== null && running.recordId !== recordId && running.outcome === null) await running.done;
    if (stop.aborted) return aborted;
    const mine = joinable(running, recordId) ?? begin(recordId, operation);
    running = mine;
    const outcome = await mine.done;
    // Heard: from here on the same record is a new delivery.
    if (!stop.aborted && running === mine) running = null;
    return outcome;
  };

  return {
    run: async (recordId, operation, signal) => {
      if (closed || signal.aborted) return aborted;
      using deadline = openDeadline(timeoutMs, signal);
      return await Promise.race([attempt(recordId, operation, deadline.signal), deadline.reached]);
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      while (running !== null && running.outcome === null) await running.done;
    },
  };
}

function begin(recordId: string, operation: () => Promise<Outcome>): Running {
  const begun: Running = {
    recordId,
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

/** What still runs for this record, or delivered it after its caller had left: no need to say it twice. */
function joinable(running: Running | null, recordId: string): Running | null {
  if (running?.recordId !== recordId) return null;
  return running.outcome === null || running.outcome.status === 'delivered' ? running : null;
}
