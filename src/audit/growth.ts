// What an append adds to a stream: its entries, its tree and the signed head; the same for every store.
import type { JournalFact } from '../core/journal.ts';
import { type HubEvent, leafHash, leafOf } from '../core/leaf.ts';
import type { Changes } from '../core/projection.ts';
import { partitionOfStream, streamKind } from '../core/stream.ts';
import { growTree, type Tree } from '../core/tree.ts';
import type { AppendCounts, SignHead, StoredEntry, StreamPosition } from './store.ts';

/** Where a stream stands once an append is committed. */
export interface Growth {
  readonly entries: readonly (StoredEntry & { readonly body: Uint8Array })[];
  readonly position: StreamPosition;
  readonly lastEnqueuedMs: number | null;
  readonly tree: Tree;
  readonly note: string | null;
}

export const nothingAppended: AppendCounts = { entries: 0, records: 0, repeats: 0, conflicts: 0, parked: 0 };

export const positionOf = ({ size, lastSequenceNumber }: StreamPosition): StreamPosition => ({
  size,
  lastSequenceNumber,
});

/** Whether an append that was made for this place may be written: this is what fences a former owner. */
export const standsAt = (head: StreamPosition, at: StreamPosition): boolean =>
  head.size === at.size && head.lastSequenceNumber === at.lastSequenceNumber;

/**
 * @param at where the stream stands, with the tree of its entries
 * @param events in rising order of their sequence numbers, all beyond `at`
 */
export function growthOf(
  name: string,
  at: StreamPosition & { readonly tree: Tree },
  events: readonly HubEvent[],
  sign: SignHead | null,
): Growth {
  const entries = events.map((event, offset) => ({
    ...leafOf(event),
    index: at.size + offset,
    body: event.body,
  }));
  const tree = growTree(at.tree, entries.map(leafHash));
  const last = events.at(-1);
  return {
    entries,
    position: { size: tree.size, lastSequenceNumber: last?.sequenceNumber ?? at.lastSequenceNumber },
    lastEnqueuedMs: last?.enqueuedMs ?? null,
    tree,
    note: sign === null ? null : sign(name, tree),
  };
}

/** What the trail has to say of itself about the first entry of a stream. @param others the names of all other streams */
export function beginningOf(
  name: string,
  [first]: readonly HubEvent[],
  others: readonly string[],
): JournalFact[] {
  if (streamKind(name) !== 'hub' || first === undefined) return [];
  const began = { kind: 'stream-began', stream: name, firstSequenceNumber: first.sequenceNumber } as const;
  const partition = partitionOfStream(name);
  const earlier = others.filter((other) => other !== name && partitionOfStream(other) === partition).sort();
  return earlier.length === 0 ? [began] : [began, { kind: 'epoch-changed', stream: name, earlier }];
}

/** What the trail has to say of itself about a batch: what could not be read, and what contradicts itself. */
export function oddities(stream: string, { parked, conflicts }: Changes): JournalFact[] {
  const facts: JournalFact[] = conflicts.map(({ index, source, id }) => {
    return { kind: 'conflict', stream, index, source, id };
  });
  if (parked.length === 0) return facts;
  const entries = parked.map(({ index, reason }) => ({ index, reason }));
  return [{ kind: 'parked', stream, entries }, ...facts];
}
