// Goes through the entries of one stream once, as far as it is told: bodies, hashes, order, and the tree they make.
import type { Findings } from '../../core/finding.ts';
import { hashBody, leafHash } from '../../core/leaf.ts';
import { emptyTree, growTree, rootOf, type Tree } from '../../core/tree.ts';
import type { SourceStream, StoredEntry, TrailSource } from '../store.ts';

/** A size at which somebody said what the root is. */
export interface Claim {
  readonly size: number;
  /** @param root of the entries up to there; null when an entry before is missing, so that nothing can be compared
   *  @param at when the last of them was stored, epoch ms */
  judge(root: Uint8Array | null, at: number): void;
  /** Told instead when the stream has fewer entries. */
  beyond(sizeHere: number): void;
}

/** Claims about a stream in rising order of their sizes. */
export interface Claims {
  /** The size of the next claim beyond `size`, or at it; null when there is none. */
  next(size: number): Promise<number | null>;
  /** Judges the claims of this size. */
  reach(size: number, root: () => Uint8Array | null, at: number): void;
  /** Says of the claims that are left that the stream has only so many entries. */
  finish(sizeHere: number): Promise<void>;
}

export interface PassOptions {
  readonly source: TrailSource;
  readonly stream: SourceStream;
  readonly claims: Claims;
  readonly findings: Findings;
  readonly signal: AbortSignal;
  /** Told of every entry, whole or not. */
  readonly onEntry: (entry: StoredEntry, isWhole: boolean) => void;
  /** Told of numbers that were left out, and when the entry behind them was stored. */
  readonly onGap: (from: number, to: number, enqueuedMs: number) => void;
  /** Whether the journal says that this body was pruned. */
  readonly isPruned: (index: number) => boolean;
}

export interface StreamPass {
  readonly stream: SourceStream;
  /** Entries so far. */
  readonly size: number;
  /** The highest so far; -1 before the first entry. */
  readonly lastSequenceNumber: number;
  /** Of the entries so far; null when one of them is missing. */
  root(): Uint8Array | null;
  /** Goes on until so many entries were seen, or there are no more. */
  advance(size: number): Promise<void>;
}

export function openPass(options: PassOptions): StreamPass {
  const { stream, source, claims, signal } = options;
  const seen: Seen = { size: 0, tree: emptyTree, lastSequenceNumber: -1, lastEnqueuedMs: 0, isBroken: false };
  const chunks = source.entries(stream.name)[Symbol.asyncIterator]();
  let chunk: readonly StoredEntry[] = [];
  let [place, isOver] = [0, false];
  const root = () => (seen.isBroken ? null : rootOf(seen.tree));
  /** Whether there is another entry in hand. */
  const fill = async (): Promise<boolean> => {
    if (place < chunk.length) return true;
    if (isOver) return false;
    signal.throwIfAborted();
    const next = await chunks.next();
    if (next.done === true) isOver = true;
    else [chunk, place] = [next.value, 0];
    return next.done === true ? false : fill();
  };
  return {
    stream,
    root,
    get size() {
      return seen.size;
    },
    get lastSequenceNumber() {
      return seen.lastSequenceNumber;
    },
    advance: async (size) => {
      while (seen.size < size && (await fill())) {
        const stop = Math.min(size, (await claims.next(seen.size + 1)) ?? size);
        const end = Math.min(place + (stop - seen.size), chunk.length);
        take(options, seen, chunk.slice(place, end));
        place = end;
        claims.reach(seen.size, root, seen.lastEnqueuedMs);
      }
    },
  };
}

interface Seen {
  size: number;
  tree: Tree;
  lastSequenceNumber: number;
  lastEnqueuedMs: number;
  /** Whether an entry is missing or twice: no root can be made from there on. */
  isBroken: boolean;
}

function take(options: PassOptions, seen: Seen, entries: readonly StoredEntry[]): void {
  const leaves: Uint8Array[] = [];
  for (const entry of entries) {
    checkPlace(options, seen, entry);
    options.onEntry(entry, isWhole(options, entry));
    if (!seen.isBroken) leaves.push(leafHash(entry));
    seen.size = Math.max(seen.size, entry.index + 1);
    seen.lastEnqueuedMs = entry.enqueuedMs;
  }
  if (!seen.isBroken) seen.tree = growTree(seen.tree, leaves);
}

function checkPlace(
  { stream: { name, kind }, findings, onGap }: PassOptions,
  seen: Seen,
  entry: StoredEntry,
) {
  const { index, sequenceNumber, enqueuedMs } = entry;
  if (index > seen.size) {
    const missing = rangeText(seen.size, index - 1, 'entry', 'entries');
    findings.add('entry-missing', {
      stream: name,
      index: seen.size,
      text: `${missing} of ${name} is missing`,
    });
    seen.isBroken = true;
  } else if (index < seen.size) {
    findings.add('entry-repeated', {
      stream: name,
      index,
      text: `entry ${index} of ${name} stands there twice`,
    });
    seen.isBroken = true;
  }
  const last = seen.lastSequenceNumber;
  if (sequenceNumber <= last) {
    const text = `entry ${index} of ${name} has sequence number ${sequenceNumber}, behind ${last}`;
    findings.add('sequence-falls', { stream: name, index, text });
  } else if (kind === 'hub' && sequenceNumber > last + 1) {
    onGap(last + 1, sequenceNumber - 1, enqueuedMs);
  }
  seen.lastSequenceNumber = Math.max(sequenceNumber, last);
}

function isWhole({ stream: { name }, findings, isPruned }: PassOptions, entry: StoredEntry): boolean {
  const { index, body, bodySha256 } = entry;
  if (body === null) {
    if (!isPruned(index)) {
      const text = `the body of entry ${index} of ${name} is gone, and the journal knows of no pruning`;
      findings.add('body-missing', { stream: name, index, text });
    }
    return false;
  }
  if (Buffer.compare(hashBody(body), bodySha256) === 0) return true;
  findings.add('body-changed', {
    stream: name,
    index,
    text: `the body of entry ${index} of ${name} is not the one that was sealed`,
  });
  return false;
}

/** `entry 3`, `entries 3 to 5`. */
export const rangeText = (from: number, to: number, one: string, many: string): string =>
  from === to ? `${one} ${from}` : `${many} ${from} to ${to}`;
