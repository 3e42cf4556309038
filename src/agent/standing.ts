// Looks how the agent stands at this moment: for its status page, and for the service manager.
import type { Clock } from '../clock.ts';
import type { Outbox } from '../delivery/outbox/outbox.ts';
import type { Standing } from './readiness.ts';
import type { AgentSettings } from './settings.ts';
import type { SourceView } from './watch-events.ts';

/** What is looked at. */
export interface StandingRuntime {
  readonly outbox: Outbox;
  readonly view: () => SourceView;
  readonly clock: Clock;
}

export function standing(settings: AgentSettings, { outbox, clock, view }: StandingRuntime): Standing {
  // Reads come first: they notice what is wrong with the file.
  const queues = outbox.queues();
  const bytes = outbox.usedBytes();
  return {
    now: clock.now(),
    view: view(),
    queues: queues.ok ? queues.value : null,
    outboxBytes: bytes.ok ? bytes.value : null,
    outboxBytesMax: settings.outbox.sizeMax,
    health: outbox.health(),
  };
}
