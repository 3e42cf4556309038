// Lets the loops of the sinks sleep until there is something to do.

export interface Wake {
  /** Ends every wait that is going on. */
  ring(): void;
  /** Waits for the bell, for `ms`, or for `signal`: whichever is first. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** No wait is longer, ms: a timer beyond 2^31 ms fires at once, and clocks may be set meanwhile. */
export const waitMsMax = 60_000;

export function openWake(): Wake {
  const sleepers = new Set<() => void>();
  return {
    ring() {
      for (const wakeUp of [...sleepers]) wakeUp();
    },
    async wait(ms, signal) {
      if (signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, Math.min(Math.max(ms, 0), waitMsMax));
      const wakeUp = (): void => resolve();
      signal.addEventListener('abort', wakeUp);
      sleepers.add(wakeUp);
      await promise;
      clearTimeout(timer);
      signal.removeEventListener('abort', wakeUp);
      sleepers.delete(wakeUp);
    },
  };
}
