// The time, and waiting for it: the one thing that tests replace.
import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  /** Wall clock, epoch ms. */
  now(): number;
  /** Ms that never jump: for gaps and durations. */
  monotonic(): number;
  /** Waits, or returns early when `signal` aborts; never throws. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    // A timer beyond 2^31 ms fires at once.
    await delay(Math.min(Math.max(ms, 0), 2 ** 31 - 1), undefined, { signal }).catch(() => undefined);
  },
};
