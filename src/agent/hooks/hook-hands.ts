// Holds the hooks that run now: one of an event at a time, those of several events side by side.
import type { Clock } from '../../clock.ts';

export interface HookHands {
  readonly isIdle: boolean;
  /** Whether another hook may begin now. @param isPressing for an event that starts within two minutes */
  isOpen(isPressing: boolean): boolean;
  has(key: string): boolean;
  /** @param work of one hook of the event, from its start until its end is written down */
  take(key: string, work: Promise<void>): void;
  /** Resolves when nothing is in hand; for a moment then nothing begins, so that the caller can end all of it. */
  idle(): Promise<void>;
  /** Resolves when all that is in hand has ended. */
  empty(): Promise<void>;
}

export interface HookHandsOptions {
  readonly clock: Clock;
  /** From then on no hook begins. */
  readonly signal: AbortSignal;
  /** Is told when another hook may begin. */
  readonly freed: () => void;
}

// A notice of half a minute must not wait for a long drain that another event brought; but hooks cost memory.
const handsMax = 4;
const handsForPressing = 2;
const holdMs = 2_000;

export function openHookHands({ clock, signal, freed }: HookHandsOptions): HookHands {
  const inHand = new Map<string, Promise<void>>();
  let waiters: (() => void)[] = [];
  let holds = 0;
  const hold = async (): Promise<void> => {
    holds += 1;
    await clock.sleep(holdMs, signal);
    holds -= 1;
    freed();
  };
  const letGo = (key: string): void => {
    inHand.delete(key);
    if (inHand.size === 0 && waiters.length > 0) {
      void hold();
      for (const waiter of waiters) waiter();
      waiters = [];
    } else freed();
  };
  return {
    get isIdle() {
      return inHand.size === 0;
    },
    isOpen(isPressing) {
      const max = handsMax + (isPressing ? handsForPressing : 0);
      return holds === 0 && inHand.size < max && !signal.aborted;
    },
    has: (key) => inHand.has(key),
    take(key, work) {
      inHand.set(key, work);
      void work.finally(() => letGo(key));
    },
    async idle() {
      if (inHand.size === 0) void hold();
      else await new Promise<void>((resolve) => waiters.push(resolve));
    },
    empty: async () => {
      await Promise.all(inHand.values());
    },
  };
}
