// Ends the agent in order: first the deliveries, and only when they are done the watch, so that nothing goes unseen.
import { once } from 'node:events';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

export interface OrderlyStop {
  /** Aborts first: no new attempt begins. */
  readonly delivering: AbortSignal;
  /** Aborts 7 s later: attempts in hand end too. */
  readonly attempting: AbortSignal;
  /** Aborts once the deliveries have ended: until then what happens is still seen and written down. */
  readonly watching: AbortSignal;
  /**
   * Waits for all loops; one that fails is a bug and ends the others, so that nobody watches half of it.
   * @throws what a loop threw
   */
  allOrNone(loops: AgentLoops): Promise<void>;
}

export interface AgentLoops {
  /** End when `delivering` aborts. */
  readonly deliveries: readonly Promise<void>[];
  /** End when `watching` aborts. */
  readonly watches: readonly Promise<void>[];
}

const attemptGraceMs = 7_000;
// The whole stop has 10 s. A sink that has not let go of its connection by now never will.
const closeGraceMs = 2_000;

/** @param signal begins the end */
export function orderlyStop(signal: AbortSignal, clock: Clock, log: Log): OrderlyStop {
  const delivering = new AbortController();
  const attempting = new AbortController();
  const watching = new AbortController();
  const begin = (): void => delivering.abort();
  if (signal.aborted) begin();
  signal.addEventListener('abort', begin, { once: true });

  const grace = async (): Promise<boolean> => {
    await aborted(delivering.signal);
    await clock.sleep(attemptGraceMs, watching.signal);
    attempting.abort();
    await clock.sleep(closeGraceMs, watching.signal);
    return false;
  };
  const settled = (loops: readonly Promise<void>[]) =>
    Promise.allSettled(
      loops.map((loop) =>
        loop.catch((error: unknown) => {
          begin();
          throw error;
        }),
      ),
    );
  return {
    delivering: delivering.signal,
    attempting: attempting.signal,
    watching: watching.signal,
    async allOrNone({ deliveries, watches }) {
      const watched = settled(watches);
      const delivered = settled(deliveries);
      const done = Promise.all([delivered, aborted(delivering.signal)]).then(() => true);
      const inTime = await Promise.race([done, grace()]);
      if (!inTime) log.warn({}, 'a sink did not let go in time; what it had in hand is sent again');
      watching.abort();
      signal.removeEventListener('abort', begin);
      const results = [...(inTime ? await delivered : []), ...(await watched)];
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
  };
}

/** Resolves when the signal has aborted. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
