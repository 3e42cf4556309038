// The contract of the trail's store: what any database must offer to keep it.
import type { EventSummary } from '../core/event-fold.ts';
import type { HubEvent } from '../core/leaf.ts';

/** How far a stream has come: the compare-and-set guard of every append, and where reading goes on. */
export interface StreamPosition {
  /** Entries in the stream; the next one gets this index. */
  readonly size: number;
  /** Of the last entry; -1 while there is none. */
  readonly lastSequenceNumber: number;
}

export const emptyStream: StreamPosition = { size: 0, lastSequenceNumber: -1 };

/** Why a store cannot take anything now. The position has not moved: the same append may be tried again. */
export type UnavailableReason = 'disk-full' | 'locked' | 'damaged' | 'read-only' | 'unexpected';

/** What one append did. */
export interface AppendCounts {
  readonly entries: number;
  /** Records that were new. */
  readonly records: number;
  /** Copies of records that are here already, byte for byte. */
  readonly repeats: number;
  /** Records whose source and id stand here with other bytes: both are kept. */
  readonly conflicts: number;
  /** Entries that could not be read as a record. */
  readonly parked: number;
}

export interface Unavailable {
  readonly status: 'unavailable';
  readonly reason: UnavailableReason;
}

export type AppendResult =
  | { readonly status: 'appended'; readonly position: StreamPosition; readonly counts: AppendCounts }
  /** Somebody else appended meanwhile: nothing was written, and this is where the stream stands now. */
  | { readonly status: 'moved'; readonly position: StreamPosition }
  | Unavailable;

export type PositionResult = { readonly status: 'known'; readonly position: StreamPosition } | Unavailable;

/** Whether the projections say what the entries say. */
export interface ProjectionCheck {
  readonly status: 'checked';
  readonly entries: number;
  /** Names of the projections that differ from what the entries give. */
  readonly different: readonly string[];
  /** Entries whose bytes no longer match their hash. */
  readonly damaged: readonly EntryPlace[];
}

export interface EntryPlace {
  readonly stream: string;
  readonly index: number;
}

/** The trail, open for writing. Expected failures are results; a throw is a bug. */
export interface TrailStore extends AsyncDisposable {
  /** Where a stream stands; a stream that nobody wrote to stands at its beginning. */
  position(stream: string): Promise<PositionResult>;
  /**
   * Appends events in their order, all or none: raw bytes first, then everything derived from them.
   * @param at where the stream must still stand
   * @param events in rising order of their sequence numbers, all beyond `at`
   */
  append(stream: string, at: StreamPosition, events: readonly HubEvent[]): Promise<AppendResult>;
  /** Makes all projections anew from the entries, and names those that changed by it. */
  rebuild(): Promise<ProjectionCheck | Unavailable>;
  /** Compares the projections with what the entries give, and changes nothing. */
  check(): Promise<ProjectionCheck | Unavailable>;
}

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

/** The trail, open for questions; what is asked of a damaged file throws TrailUnusable. */
export interface TrailReader extends AsyncDisposable {
  /** In the order in which they were first seen. */
  events(query: EventQuery): Promise<readonly TrailEvent[]>;
  /** The facts of one event in the order of their first time; of every event when none is named. */
  facts(eventId?: string): Promise<readonly TrailFact[]>;
  counts(): Promise<TrailCounts>;
  streams(): Promise<readonly TrailStream[]>;
}

/** A trail that cannot be opened: one sentence for a person. */
export class TrailUnusable extends Error {}
