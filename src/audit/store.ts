// The contract of the trail's store: what any database must offer to keep it.
import type { JournalFact } from '../core/journal.ts';
import type { HubEvent, Leaf } from '../core/leaf.ts';
import type { AppendCounts } from '../core/projection.ts';
import type { EntryPlace } from '../core/read-batch.ts';
import type { StreamKind } from '../core/stream.ts';
import type { Tree } from '../core/tree.ts';

export type { AppendCounts } from '../core/projection.ts';
export type { EntryPlace } from '../core/read-batch.ts';
export type * from './questions.ts';
export type {
  PinnedNote,
  RecordPlace,
  SourceFault,
  SourceFaultKind,
  SourceStream,
  TrailSource,
} from './source.ts';

/** How far a stream has come: the compare-and-set guard of every append, and where reading goes on. */
export interface StreamPosition {
  /** Entries in the stream; the next one gets this index. */
  readonly size: number;
  /** Of the last entry; -1 while there is none. */
  readonly lastSequenceNumber: number;
}

export const emptyStream: StreamPosition = { size: 0, lastSequenceNumber: -1 };

/** Why a store cannot take anything now. The position has not moved: the same append may be tried again. */
export type UnavailableReason =
  | 'disk-full'
  | 'locked'
  | 'damaged'
  | 'read-only'
  | 'unreachable'
  | 'unauthorized'
  | 'unexpected';

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
  /**
   * Entries without a body. Their hashes still prove which records there are, how often each came, where, and which
   * contradict each other; rows prove who told which phase of which event when, as far as they agree. The words of
   * records that stand nowhere with a body are believed as they stand: fields of events and agents, deeds, names of
   * VMs, reasons of parking. Of all other records everything is proven. Whether an entry was rightly pruned, the journal says.
   */
  readonly pruned: number;
  /** Names of the projections that differ from what the entries give. */
  readonly different: readonly string[];
  /** Entries whose bytes no longer match their hash. */
  readonly damaged: readonly EntryPlace[];
}

/** One stream and its tree. */
export interface StreamHead extends StreamPosition {
  readonly name: string;
  readonly kind: StreamKind;
  /** Epoch ms at which the hub stored the last entry; null while there is none. */
  readonly lastEnqueuedMs: number | null;
  /** The tree over all entries. */
  readonly tree: Tree;
  /** The signed checkpoint of the tree; null when nobody signs. */
  readonly note: string | null;
}

export type HeadsResult = { readonly status: 'known'; readonly heads: readonly StreamHead[] } | Unavailable;

/** What a prune did: the streams it touched, each with how many bodies went. */
export type PruneResult =
  | {
      readonly status: 'pruned';
      readonly streams: readonly { readonly stream: string; readonly bodies: number }[];
    }
  | { readonly status: 'held'; readonly holds: readonly string[] }
  | Unavailable;

export type JournalResult = { readonly status: 'written' } | Unavailable;

/** Being the one of several who does something, until it is disposed of or lost. */
export interface Lease extends AsyncDisposable {
  /** Aborts when it is lost: somebody else may have it by then. */
  readonly lost: AbortSignal;
}

export type LeadResult =
  | { readonly status: 'leading'; readonly lease: Lease }
  /** Somebody else has it now. */
  | { readonly status: 'following' }
  | Unavailable;

/**
 * Signs a tree's head: the whole signed note (https://c2sp.org/tlog-checkpoint).
 * @param origin the stream's name
 */
export type SignHead = (origin: string, tree: Tree) => string;

/** How a store is opened, whatever it is. */
export interface TrailOptions {
  /** Null when nobody signs. */
  readonly sign?: SignHead | null;
  /** Epoch ms, for what the trail says of itself. */
  readonly now?: () => number;
}

/**
 * The trail, open for writing. Expected failures are results; a throw is a bug.
 *
 * What every store does in one transaction with an append: it checks that the stream still stands at `at`, writes
 * the entries, grows and signs the tree, projects the records, and writes its own facts into the journal
 * (`stream-began`, `epoch-changed`, `parked`, `conflict`).
 */
export interface TrailStore extends AsyncDisposable {
  /** The id in the names of the local streams now. */
  trail(): Promise<{ readonly status: 'known'; readonly trail: string } | Unavailable>;
  /** Where a stream stands; a stream that nobody wrote to stands at its beginning. */
  position(stream: string): Promise<PositionResult>;
  /** The heads of all streams at one moment, by name. */
  heads(): Promise<HeadsResult>;
  /**
   * Appends events in their order, all or none: raw bytes first, then everything derived from them.
   * @param at where the stream must still stand
   * @param events in rising order of their sequence numbers, all beyond `at`
   * @param facts for the journal, in the same transaction
   */
  append(
    stream: string,
    at: StreamPosition,
    events: readonly HubEvent[],
    facts?: readonly JournalFact[],
  ): Promise<AppendResult>;
  /** Appends facts to the journal, behind whatever stands there. */
  journal(facts: readonly JournalFact[]): Promise<JournalResult>;
  /**
   * Appends a seal, and keeps the notes of the heads it names for good.
   * @param at where the seals must still stand
   * @param sealed heads that `heads()` gave, all that changed
   */
  seal(at: StreamPosition, sealed: readonly StreamHead[]): Promise<AppendResult>;
  /** The last entry of a stream; null when it has none. */
  tail(
    stream: string,
  ): Promise<{ readonly status: 'known'; readonly tail: StoredEntry | null } | Unavailable>;
  /** Entries of a stream by rising index from `from` on, at most `limit` of them. */
  read(
    stream: string,
    from: number,
    limit: number,
  ): Promise<{ readonly status: 'known'; readonly entries: readonly StoredEntry[] } | Unavailable>;
  /**
   * Begins the local streams anew under another id, with this fact first. A `restored` whose `earlier` is no longer
   * the trail's id changes nothing: another instance was first.
   */
  renew(fact: JournalFact): Promise<{ readonly status: 'known'; readonly trail: string } | Unavailable>;
  /**
   * Drops the bodies of hub entries that the hub stored before a time, from each stream's beginning without a hole,
   * and journals it; hashes and projections stay.
   * @param before epoch ms
   * @param signal ends it between two slices: what went until then is told
   */
  prune(before: number, signal?: AbortSignal): Promise<PruneResult>;
  /**
   * Makes all projections anew from the entries, and names those that changed by it. What rests on pruned entries is
   * kept; what was taken away from it stays named, because nothing can bring it back.
   */
  rebuild(): Promise<ProjectionCheck | Unavailable>;
  /** Compares the projections with what the entries give, and changes nothing. */
  check(): Promise<ProjectionCheck | Unavailable>;
  /**
   * Takes the lead in what only one of those who share the trail may do; whoever dies with it loses it within a minute.
   * A trail that is not shared has one writer, who leads in everything.
   * @param name of what is done
   */
  lead(name: string): Promise<LeadResult>;
}

/** One entry as it is kept. */
export interface StoredEntry extends Leaf {
  readonly index: number;
  /** Null when it was pruned. */
  readonly body: Uint8Array | null;
}

/** A trail that cannot be opened: one sentence for a person. */
export class TrailUnusable extends Error {}
