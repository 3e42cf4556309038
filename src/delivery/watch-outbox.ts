// Wakes the loops of the sinks when another process, such as `seb outbox retry`, has written to the outbox.
import type { Outbox } from './outbox/outbox.ts';
import type { Wake } from './wake.ts';

export interface OutboxWatch extends Disposable {
  /** Looks now; whoever is awake anyway, as with every poll, spares the watch a waking of its own. */
  look(): void;
}

// A person who asked waits in front of a screen, however slow IMDS is. Longer than the usual time between two polls,
// because every waking of an idle process costs it 0.6 ms.
const quietMsMax = 1_200;

/** Watches until it is disposed of. */
export function openOutboxWatch({
  outbox,
  wake,
}: {
  readonly outbox: Outbox;
  readonly wake: Wake;
}): OutboxWatch {
  let seen = outbox.version();
  const look = (): void => {
    timer.refresh();
    const version = outbox.version();
    if (version !== seen) wake.ring();
    seen = version;
  };
  const timer = setTimeout(look, quietMsMax);
  return { look, [Symbol.dispose]: () => clearTimeout(timer) };
}
