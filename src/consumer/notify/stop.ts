// Ends the notices in order and in time: no new attempt, then the attempts in hand, then what was waited for in vain.
import { once } from 'node:events';
import type { Clock } from '../../clock.ts';
import { within } from '../limit.ts';

export interface NoticeStop {
  /** Aborts first: no new attempt begins. */
  readonly delivering: AbortSignal;
  /** Aborts later: attempts in hand end too. */
  readonly attempting: AbortSignal;
  /**
   * Waits for all loops; one that fails is a bug and ends the others.
   * @returns false when one of them did not end in time
   * @throws what a loop threw
   */
  all(loops: readonly Promise<void>[]): Promise<boolean>;
}

// The whole stop of a consumer has 10 s, and its last seal needs some of them.
const attemptGraceMs = 4_000;
const closeGraceMs = 1_500;
const never = new AbortController().signal;

/**
 * @param signal begins the end
 * @param lost ends attempts in hand as well: somebody else may make them by now
 */
export function openNoticeStop(signal: AbortSignal, lost: AbortSignal, clock: Clock): NoticeStop {
  const [broken, late] = [new AbortController(), new AbortController()];
  const delivering = AbortSignal.any([signal, lost, broken.signal]);
  return {
    delivering,
    attempting: AbortSignal.any([lost, late.signal]),
    all: async (loops) => {
      const guarded = loops.map((loop) =>
        loop.catch((error: unknown) => {
          broken.abort();
          throw error;
        }),
      );
      let isOver = false;
      const done = Promise.allSettled(guarded).then(() => {
        isOver = true;
      });
      if (!delivering.aborted) await once(delivering, 'abort');
      await within(clock, lost.aborted ? 0 : attemptGraceMs, never, () => done);
      late.abort();
      if (!isOver) await within(clock, closeGraceMs, never, () => done);
      if (isOver) await Promise.all(guarded);
      return isOver;
    },
  };
}
