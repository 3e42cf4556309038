// What a trail in SQLite says of itself: the facts of its journals and its seals, each in their order.
import { DatabaseSync } from 'node:sqlite';
import { type JournalEntry, journalEntryOf } from '../../src/core/journal.ts';
import { type Seal, sealOf } from '../../src/core/seal.ts';
import { streamKind } from '../../src/core/stream.ts';

interface Row {
  readonly name: string;
  readonly body: Uint8Array;
  readonly enqueuedMs: number;
}

function rowsOf(path: string, kind: 'journal' | 'seal'): Row[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const rows = database
    .prepare(
      `SELECT name, body, enqueued_ms FROM entry JOIN stream ON stream.id = stream
       WHERE name GLOB 'trail/*' ORDER BY stream.id, idx`,
    )
    .all()
    .map((row) => ({
      name: String(row['name']),
      body: row['body'] as Uint8Array,
      enqueuedMs: Number(row['enqueued_ms']),
    }));
  return rows.filter(({ name }) => streamKind(name) === kind);
}

/** The facts of all journals, the older journal first. */
export const factsIn = (path: string): JournalEntry[] =>
  rowsOf(path, 'journal').flatMap((row) => journalEntryOf(row) ?? []);

/** The seals of all trails, the older trail first. */
export const sealsIn = (path: string): (Seal & { readonly stream: string })[] =>
  rowsOf(path, 'seal').flatMap((row) => {
    const seal = sealOf(row);
    return seal === null ? [] : [{ ...seal, stream: row.name }];
  });
