// Notices that the wall clock was set, or that the machine slept: then the times in the trail need an explanation.
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

export interface ClockWatch {
  readonly clock: Clock;
  readonly log: Log;
  /** @param byMs how far the wall clock went beyond the time that passed; negative when it was put back */
  readonly onJump: (byMs: number) => void;
}

const lookIntervalMs = 5_000;
// NTP turns a clock by at most 0.5 ms a second; what is further off was set, or comes of a sleep.
const jumpMsMin = 5_000;

/** Compares the wall clock with the one that never jumps, until the signal aborts. */
export async function watchClock({ clock, log, onJump }: ClockWatch, signal: AbortSignal): Promise<void> {
  let before = clock.now() - clock.monotonic();
  while (!signal.aborted) {
    await clock.sleep(lookIntervalMs, signal);
    const offset = clock.now() - clock.monotonic();
    const byMs = Math.round(offset - before);
    before = offset;
    if (Math.abs(byMs) <= jumpMsMin) continue;
    log.warn({ byMs }, 'the clock of this machine jumped');
    onJump(byMs);
  }
}
