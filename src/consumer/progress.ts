// Knows by when each step of the consumer has promised to go on, and by how much the latest of them is late.
import type { Clock } from '../clock.ts';

export interface Progress {
  /** `step` will have gone on, or promised anew, within `ms`. */
  promise(step: string, ms: number): void;
  /** Nothing is expected of `step` until it promises again. */
  done(step: string): void;
  /** 0 while every step keeps its promise. */
  lateMs(): number;
}

export function openProgress(clock: Clock): Progress {
  const due = new Map<string, number>();
  return {
    promise: (step, ms) => void due.set(step, clock.monotonic() + ms),
    done: (step) => void due.delete(step),
    lateMs: () => {
      const nowMs = clock.monotonic();
      return nowMs - Math.min(nowMs, ...due.values());
    },
  };
}
