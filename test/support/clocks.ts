// Clocks for tests of a running program: the machine's own, but for the waits that a test cannot sit out.
import { type Clock, systemClock } from '../../src/clock.ts';

/** Waits of exactly `longMs` are over after `shortMs`. */
export const hurriedClock = (longMs: number, shortMs: number): Clock => ({
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === longMs ? shortMs : ms, signal),
});

/** A clock that can be stopped for whoever sleeps by it, and set forward for whoever reads it. */
export interface StuckClock extends Clock {
  /** From now on nobody who sleeps wakes up. */
  stop(): void;
  /** Lets ms pass that nobody sees. */
  pass(ms: number): void;
}

export function stuckClock(): StuckClock {
  let isStopped = false;
  let passedMs = 0;
  return {
    now: () => systemClock.now() + passedMs,
    monotonic: () => systemClock.monotonic() + passedMs,
    sleep: async (ms, signal) => {
      await systemClock.sleep(ms, signal);
      if (isStopped) await systemClock.sleep(Number.POSITIVE_INFINITY, signal);
    },
    stop: () => {
      isStopped = true;
    },
    pass: (ms) => {
      passedMs += ms;
    },
  };
}
