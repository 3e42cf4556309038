// Makes the projections of a SQLite trail anew from its entries, or says where they differ from what the entries give.
import type { DatabaseSync } from 'node:sqlite';
import { streamKind } from '../core/stream.ts';
import { transaction } from '../sqlite.ts';
import type { StreamIds } from './projector.ts';
import { type KeptEntry, openScratch, type Scratch } from './scratch.ts';
import type { ProjectionCheck } from './store.ts';

/** Compares the projections with what the entries give, at one moment. */
export function checkProjections(database: DatabaseSync, streams: StreamIds): ProjectionCheck {
  using scratch = openScratch(streams);
  // Whoever reads the trail at one moment has a transaction of his own.
  const isOwn = !database.isTransaction;
  if (isOwn) database.exec('BEGIN');
  try {
    return compare(database, scratch);
  } finally {
    if (isOwn) database.exec('ROLLBACK');
  }
}

/** Replaces the projections by what the entries give, in one transaction, which no other writer can enter. */
export function rebuildProjections(database: DatabaseSync, streams: StreamIds): ProjectionCheck {
  return transaction(database, () => remakeProjections(database, streams));
}

/** The same within a transaction that the caller owns. */
export function remakeProjections(database: DatabaseSync, streams: StreamIds): ProjectionCheck {
  using scratch = openScratch(streams);
  const check = compare(database, scratch);
  if (check.different.length > 0) scratch.replace(database);
  return check;
}

function compare(database: DatabaseSync, scratch: Scratch): ProjectionCheck {
  for (const entry of keptEntries(database)) scratch.take(entry);
  return scratch.compare(database);
}

function* keptEntries(database: DatabaseSync): Iterable<KeptEntry> {
  const rows = database
    .prepare(
      `SELECT name AS stream, idx, body_sha256, body
       FROM entry JOIN stream ON stream.id = entry.stream ORDER BY entry.stream, idx`,
    )
    .iterate();
  for (const row of rows) {
    const stream = String(row['stream']);
    if (streamKind(stream) !== 'hub') continue;
    const [bodySha256, body] = [row['body_sha256'] as Uint8Array, row['body'] as Uint8Array | null];
    yield { stream, index: Number(row['idx']), bodySha256, body };
  }
}
