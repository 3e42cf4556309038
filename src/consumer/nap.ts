// A wait that somebody else can cut short.
import type { Clock } from '../clock.ts';

export interface Nap {
  /** Returns when the time is over, when it is woken, or when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Ends the sleep that is under way; nothing happens when none is. */
  wake(): void;
}

export function openNap(clock: Clock): Nap {
  let wake: () => void = () => undefined;
  return {
    sleep: async (ms, signal) => {
      const nap = new AbortController();
      const end = (): void => nap.abort();
      wake = end;
      signal.addEventListener('abort', end, { once: true });
      if (!signal.aborted) await clock.sleep(ms, nap.signal);
      signal.removeEventListener('abort', end);
    },
    wake: () => wake(),
  };
}
