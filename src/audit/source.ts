// The contract of a trail that is read as it stood at one moment, to be checked, proven, exported or copied.
import type { EntryPlace } from '../core/read-batch.ts';
import type { StreamKind } from '../core/stream.ts';
import type { ProjectionCheck, StoredEntry } from './store.ts';

/** One stream of a source. */
export interface SourceStream {
  readonly name: string;
  readonly kind: StreamKind;
  /** How many entries it is said to have. */
  readonly size: number;
  /** The root (32 bytes) and the signed checkpoint of that size; null where the source keeps none. */
  readonly root: Uint8Array | null;
  readonly note: string | null;
  /** Of its last entry, where the source keeps it beside the entries: reading goes on there. */
  readonly lastSequenceNumber?: number;
}

/** A signed checkpoint that a seal pinned. */
export interface PinnedNote {
  readonly size: number;
  readonly note: string;
}

/** What a source found where an entry or a note should be, or where nothing should be. */
export type SourceFaultKind =
  /** A line that is no entry, or none that this version reads. */
  | 'unreadable-line'
  /** A line that says an entry in other bytes than this program writes. */
  | 'rewritten-line'
  /** Longer than any entry. */
  | 'endless-line'
  /** The last line of a file has no end. */
  | 'torn-line'
  /** An entry in the file of another day, or a file under another name. */
  | 'misplaced-file'
  /** A file that is no part of a trail's copy. */
  | 'foreign-file'
  /** Bytes between signed notes that are no note. */
  | 'unreadable-note'
  /** The file that says whose copy it is, is missing or says something else. */
  | 'no-identity';

/** One such place. */
export interface SourceFault {
  readonly kind: SourceFaultKind;
  /** A file and, where it helps, a line: `…/2026/11/10/entries-001.jsonl:17`. */
  readonly place: string;
  /** Null when it belongs to no stream. */
  readonly stream: string | null;
  /** How often it was found there. */
  readonly count: number;
}

/**
 * A trail at one moment, as `audit verify`, `prove`, `export` and the archive read it: a store or an exported folder.
 * Nothing of it is believed: what it says of itself is what is to be checked. What cannot be read throws TrailUnusable.
 */
export interface TrailSource extends AsyncDisposable {
  /** What it is, for a sentence, without a secret. */
  readonly place: string;
  /** The id in the names of the local streams now; null when the source does not say. */
  readonly trail: string | null;
  streams(): Promise<readonly SourceStream[]>;
  /** The entries of a stream by rising index from `from` on, in chunks that fit into memory. */
  entries(stream: string, from?: number): AsyncIterable<readonly StoredEntry[]>;
  /** The notes that seals pinned, by rising size, from that size on. */
  notes(stream: string, from?: number): AsyncIterable<readonly PinnedNote[]>;
  /** Compares the projections with what the entries give; null when the source has no projections. */
  readonly check: (() => Promise<ProjectionCheck>) | null;
  /** Where the record with this id stands, in every version and from every source; null when it cannot be looked up. */
  readonly find: ((id: string) => Promise<readonly RecordPlace[]>) | null;
  /**
   * What could not be read as what it should be, as far as streams, entries and notes were read until now;
   * absent for a store, whose tables can hold nothing else.
   */
  readonly faults?: () => readonly SourceFault[];
}

/** Where a record stands. */
export interface RecordPlace extends EntryPlace {
  readonly id: string;
  readonly source: string;
}
