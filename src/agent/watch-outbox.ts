// Wakes the loops of the sinks when another process, such as `seb outbox retry`, has written to the outbox.
import type { Clock } from '../clock.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Wake } from './wake.ts';

export interface WatchOutboxRuntime {
  readonly outbox: Outbox;
  readonly wake: Wake;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

// Apart from the polls of IMDS, which may be slow: a person who asked waits in front of a screen.
const intervalMs = 500;

/** Watches until `signal` aborts. */
export async function watchOutbox({ outbox, wake, clock, signal }: WatchOutboxRuntime): Promise<void> {
  let seen = outbox.version();
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal);
    const version = outbox.version();
    if (version !== seen) wake.ring();
    seen = version;
  }
}
