// Opens what acts on events, as the settings ask for it: an agent that only tells of them loads no more than it needs.
import type { Clock } from '../clock.ts';
import type { Boot } from '../core/impact.ts';
import type { Watch } from '../core/watch.ts';
import type { Journal } from '../delivery/journal.ts';
import type { Outbox } from '../delivery/outbox/outbox.ts';
import type { Wake } from '../delivery/wake.ts';
import type { Log } from '../log.ts';
import type { ImdsClient } from './imds.ts';
import { openImpactMeter } from './impact-meter.ts';
import type { ObserverSource } from './observer-source.ts';
import { type Consequence, joinReactions, type Reaction } from './reaction.ts';
import type { AgentSettings } from './settings.ts';

/** What acting on events works with. */
export interface ReactionRuntime {
  readonly settings: AgentSettings;
  readonly imds: ImdsClient;
  readonly outbox: Outbox;
  readonly journal: Journal;
  readonly observer: ObserverSource;
  readonly boot: Boot;
  readonly wake: Wake;
  readonly clock: Clock;
  readonly log: Log;
  /** Names of the sinks that carry data, not chats: they have an event's records before it is approved. */
  readonly dataSinks: readonly string[];
  /** Remembers that this agent approved an event, and writes that down together with the rest. */
  readonly approved: (eventId: string, deed: Consequence) => void;
  /** Begins the end: hooks in hand are ended, nothing more is sent. */
  readonly signal: AbortSignal;
}

/** How the prepare hooks of an event stand; `none`: it has no hooks, or they are not needed. */
export type Preparation = 'none' | 'pending' | 'succeeded' | 'failed';

/** By event key, as the watch remembers the event. */
export type PreparationOf = (key: string, watch: Watch) => Preparation;

export async function openReactions(runtime: ReactionRuntime): Promise<Reaction> {
  const { approval, hooks, hooksDir } = runtime.settings;
  const parts: Reaction[] = [openImpactMeter(runtime)];
  let preparationOf: PreparationOf = () => 'none';
  if (hooks.length > 0 || hooksDir !== undefined) {
    const runner = (await import('./hooks/hook-runner.ts')).openHookRunner(runtime);
    preparationOf = runner.preparationOf;
    parts.push(runner);
  }
  if (approval.enabled) {
    parts.push((await import('./approval/approver.ts')).openApprover({ ...runtime, preparationOf }));
  }
  return joinReactions(parts);
}
