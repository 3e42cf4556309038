// The contract of questions to a trail: events, facts, counts, streams and agents.
import type { EventSummary } from '../core/event-fold.ts';
import type { KnownAgent } from '../core/silence.ts';
import type { TimelineParts } from '../core/timeline-parts.ts';
import type { StreamPosition } from './store.ts';

/** Which events to list; what is left out does not narrow. */
export interface EventQuery {
  /** Any case. */
  readonly type?: string;
  /** Epoch ms: events that were last spoken of at this time or later. */
  readonly since?: number;
  /** Epoch ms: events that were first spoken of before this time. */
  readonly until?: number;
  /** A VM that the event names: its name, VM id or resource id, any case. */
  readonly vm?: string;
  /** Only those that nobody told the end of. */
  readonly open?: true;
  /** The latest so many. */
  readonly limit: number;
}

/** One event, whoever saw it. */
export interface TrailEvent extends EventSummary {
  readonly eventId: string;
  /** The VMs it names. */
  readonly vms: readonly string[];
  /** How many VMs saw it. */
  readonly observers: number;
  /** How many VMs reported each phase; 0 for a phase that nobody reported. */
  readonly phaseObservers: Readonly<Record<TrailPhase, number>>;
}

export type TrailPhase = 'scheduled' | 'updated' | 'started' | 'completed' | 'canceled';

/** One fact, as its id names it. */
export interface TrailFact {
  readonly id: string;
  readonly type: string;
  readonly eventId: string;
  /** Sources that sent it. */
  readonly observers: number;
  /** Epoch ms, by the clock of the observer that saw it first. */
  readonly firstAt: number;
}

/** How much the trail holds. */
export interface TrailCounts {
  readonly entries: number;
  readonly records: number;
  readonly repeats: number;
  readonly conflicts: number;
  readonly parked: number;
  readonly events: number;
  readonly agents: number;
}

/** One stream and how far it has come. */
export interface TrailStream extends StreamPosition {
  readonly name: string;
  /** Epoch ms at which the hub stored the last entry; null while there is none. */
  readonly lastEnqueuedMs: number | null;
}

/** One agent: its VM, what it says of itself, and which of its records never came here although later ones did. */
export type TrailAgent = KnownAgent;

/** The trail, open for questions; what is asked of a damaged file throws TrailUnusable. */
export interface TrailReader extends AsyncDisposable {
  /** In the order in which they were first seen. */
  events(query: EventQuery): Promise<readonly TrailEvent[]>;
  /** What was told of one event, in the order of its first time; of every event when none is named. */
  facts(eventId?: string): Promise<readonly TrailFact[]>;
  counts(): Promise<TrailCounts>;
  streams(): Promise<readonly TrailStream[]>;
  /** By id. */
  agents(): Promise<readonly TrailAgent[]>;
  /**
   * All that the timeline of one event is made of; null when no record told of it.
   * @throws TrailUnusable also when an earlier version wrote the trail, and no consumer of this one has opened it yet
   */
  timeline(eventId: string): Promise<TimelineParts | null>;
  /**
   * The ids of events that begin with this, as the trail keeps them, in their own order.
   * @param limit the first so many
   */
  eventIds(beginning: string, limit: number): Promise<readonly string[]>;
}
