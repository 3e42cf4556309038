// Reads rows of the log, whose columns are called the same in every store.
import { streamKind } from '../core/stream.ts';
import { decodeTree, rootOf } from '../core/tree.ts';
import type { SourceStream, StoredEntry } from './store.ts';

type Row = Readonly<Record<string, unknown>>;

/** An entry as its row says. */
export const entryFrom = (row: Row): StoredEntry => ({
  index: Number(row['idx']),
  sequenceNumber: Number(row['seq']),
  enqueuedMs: Number(row['enqueued_ms']),
  bodySha256: row['body_sha256'] as Uint8Array,
  body: row['body'] as Uint8Array | null,
});

/** A stream as its row says, for whoever checks it. */
export function sourceStreamFrom(row: Row): SourceStream {
  const [name, size] = [String(row['name']), Number(row['size'])];
  return {
    ...{ name, kind: streamKind(name), size, root: rootFrom(size, row['range']) },
    note: row['note'] === null ? null : String(row['note']),
    lastSequenceNumber: Number(row['last_seq']),
  };
}

/** A range that fits no tree is no root: what is to be checked may be broken. */
function rootFrom(size: number, range: unknown): Uint8Array | null {
  try {
    return rootOf(decodeTree(size, range as Uint8Array));
  } catch {
    return null;
  }
}
