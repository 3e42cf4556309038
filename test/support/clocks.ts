// Clocks for tests of a running program: the machine's own, but for the waits that a test cannot sit out.
import { setImmediate } from 'node:timers/promises';
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

/** A clock by which nobody is ever late, however busy the machine is; the test sets it forward. */
export interface SteadyClock extends Clock {
  /** Lets ms pass that nobody sees. */
  pass(ms: number): void;
}

/** @param aheadMs of the machine's own clock */
export function steadyClock(aheadMs = 0): SteadyClock {
  const beganAt = systemClock.now() + aheadMs;
  let spentMs = 0;
  return {
    now: () => beganAt + spentMs,
    monotonic: () => spentMs,
    sleep: async (ms, signal) => {
      const dueMs = spentMs + ms;
      await systemClock.sleep(ms, signal);
      // Long waits do not take the short ones along: by these, time would jump.
      if (!signal.aborted && ms <= 1_000) spentMs = Math.max(spentMs, dueMs);
    },
    pass: (ms) => {
      spentMs += ms;
    },
  };
}

/** A clock that stands still until the test lets time pass: whoever sleeps wakes up at his own moment. */
export interface SteppedClock extends Clock {
  /** Lets ms pass, second by second; all that is due happens before it returns. */
  pass(ms: number): Promise<void>;
  /** Lets ms pass at once, as for a machine that was frozen. */
  jump(ms: number): Promise<void>;
}

export function steppedClock(): SteppedClock {
  let nowMs = 0;
  const sleepers = new Set<{ readonly due: number; readonly wake: () => void }>();
  const step = async (ms: number): Promise<void> => {
    nowMs += ms;
    for (const sleeper of [...sleepers]) if (sleeper.due <= nowMs) sleeper.wake();
    // What wakes up says what it has to say before the next second.
    await setImmediate();
  };
  return {
    now: () => Date.UTC(2026, 0, 1) + nowMs,
    monotonic: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = { due: nowMs + ms, wake: () => wake() };
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        if (signal.aborted) return resolve();
        sleepers.add(sleeper);
        signal.addEventListener('abort', wake);
      }),
    jump: step,
    pass: async (ms) => {
      for (let passed = 0; passed < ms; passed += 1_000) await step(Math.min(1_000, ms - passed));
    },
  };
}
