// Says how old something is that any of several instances may have made, by two clocks: each of them may be wrong.
import type { Clock } from '../clock.ts';

/** What was made last. */
export interface Mark {
  /** Tells it from the one before. */
  readonly size: number;
  /** Epoch ms by the clock of whoever made it. */
  readonly at: number;
}

/**
 * The age is the greater one of what the wall clocks say and of the time since this instance first saw it: a clock that
 * was put back, or another machine's that is ahead, must not make anything young for ever.
 */
export function openAge(clock: Clock): (mark: Mark) => number {
  let seen: number | null = null;
  let sinceMs = 0;
  return ({ size, at }) => {
    if (size !== seen) sinceMs = clock.monotonic();
    seen = size;
    return Math.max(clock.now() - at, clock.monotonic() - sinceMs);
  };
}
