// Lets suspended sinks try again when what suspended them may be mended: a secret file changed, a person asked.
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Wake } from './wake.ts';

export interface ResumeRuntime {
  readonly outbox: Outbox;
  readonly wake: Wake;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Wakes those of the sinks that are suspended. A wait that the receiver asked for is left alone.
 * @returns the names of those that were
 */
export function resumeSuspended(
  sinks: readonly string[],
  because: string,
  { outbox, wake, clock, log }: ResumeRuntime,
): readonly string[] {
  const queues = outbox.queues();
  if (!queues.ok) return [];
  const suspended = sinks.filter((name) => {
    const rest = queues.value[name]?.rest;
    return rest?.state === 'suspended' && rest.pausedUntil <= clock.now();
  });
  for (const sink of suspended) {
    outbox.wake(sink);
    log.info({ sink, because }, 'the suspended sink is tried again');
  }
  if (suspended.length > 0) wake.ring();
  return suspended;
}
