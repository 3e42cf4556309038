// Lets suspended sinks try again when what suspended them may be mended: a secret file changed, a person asked.
import type { Log } from '../log.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Wake } from './wake.ts';

export interface ResumeRuntime {
  readonly outbox: Outbox;
  readonly wake: Wake;
  readonly log: Log;
}

/**
 * Wakes those of the sinks that are suspended. A pause is left alone: the receiver asked for it.
 * @returns the names of those that were
 */
export function resumeSuspended(
  sinks: readonly string[],
  because: string,
  { outbox, wake, log }: ResumeRuntime,
): readonly string[] {
  const queues = outbox.queues();
  if (!queues.ok) return [];
  const suspended = sinks.filter((name) => queues.value[name]?.rest?.state === 'suspended');
  for (const sink of suspended) {
    outbox.wake(sink);
    log.info({ sink, because }, 'the suspended sink is tried again');
  }
  if (suspended.length > 0) wake.ring();
  return suspended;
}
