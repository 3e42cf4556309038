// Lets one operation run at a time, for work that cannot be called back once it has begun.
import type { Outcome } from '../core/delivery.ts';
import { aborted, openDeadline } from './deadline.ts';

/**
 * A caller may stop waiting, by its signal or by the time limit; the operation itself goes on, and the next
 * call waits for it. A repeat of the same key joins it instead of doing the work twice.
 */
export interface Turns<Result> extends AsyncDisposable {
  /**
   * Never rejects: an operation that throws is `retryable` with reason `unexpected`.
   * @param key what the operation is about, such as the id of the record
   */
  run(key: string, operation: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

/** @param timeoutMs how long a caller waits at most */
export function openTurns(timeoutMs: number): Turns<Outcome> {
  const turns = openBatchTurns(timeoutMs);
  return {
    run: async (key, operation, signal) => {
      const [outcome = unforeseen] = await turns.run(key, async () => [await operation()], signal);
      return outcome;
    },
    [Symbol.asyncDispose]: () => turns[Symbol.asyncDispose](),
  };
}

const unforeseen: Outcome = { status: 'retryable', reason: 'unexpected' };

/** What came of an operation about several records, in their order; those behind the last outcome were not tried. */
export type Outcomes = readonly Outcome[];

interface Running {
  readonly key: string;
  readonly done: Promise<Outcomes>;
  outcomes: Outcomes | null;
}

/** As `openTurns`, for operations about several records. */
export function openBatchTurns(timeoutMs: number): Turns<Outcomes> {
  let running: Running | null = null;
  let closed = false;

  const attempt = async (
    key: string,
    operation: () => Promise<Outcomes>,
    stop: AbortSignal,
  ): Promise<Outcomes> => {
    while (running !== null && running.key !== key && running.outcomes === null) await running.done;
    if (stop.aborted) return [aborted];
    const mine = joinable(running, key) ?? begin(key, operation);
    running = mine;
    const outcomes = await mine.done;
    // Heard: from here on the same key is something new.
    if (!stop.aborted && running === mine) running = null;
    return outcomes;
  };

  return {
    run: async (key, operation, signal) => {
      if (closed || signal.aborted) return [aborted];
      using deadline = openDeadline(timeoutMs, signal);
      const late = deadline.reached.then((outcome): Outcomes => [outcome]);
      return await Promise.race([attempt(key, operation, deadline.signal), late]);
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      while (running !== null && running.outcomes === null) await running.done;
    },
  };
}

function begin(key: string, operation: () => Promise<Outcomes>): Running {
  const begun: Running = {
    key,
    outcomes: null,
    done: operation()
      .catch((): Outcomes => [unforeseen])
      .then((outcomes) => {
        begun.outcomes = outcomes;
        return outcomes;
      }),
  };
  return begun;
}

/** What still runs for this key, or delivered after its caller had left: no need to say it twice. */
function joinable(running: Running | null, key: string): Running | null {
  if (running?.key !== key) return null;
  const { outcomes } = running;
  return outcomes === null || outcomes.every(({ status }) => status === 'delivered') ? running : null;
}
