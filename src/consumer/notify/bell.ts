// A wait that others can cut short: a ring that comes while nobody waits is kept for who waits next.
import type { Clock } from '../../clock.ts';

export interface Bell {
  ring(): void;
  /** Returns when it was rung since the last wait, when the time is over, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function openBell(clock: Clock): Bell {
  let isRung = false;
  let wake: () => void = () => undefined;
  return {
    ring: () => {
      isRung = true;
      wake();
    },
    wait: async (ms, signal) => {
      const waiting = new AbortController();
      wake = () => waiting.abort();
      if (!isRung) await clock.sleep(ms, AbortSignal.any([signal, waiting.signal]));
      isRung = false;
    },
  };
}
