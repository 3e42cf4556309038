// What the journal of a trail in SQLite says, in its order.
import { DatabaseSync } from 'node:sqlite';
import { type JournalEntry, type JournalKind, journalEntryOf } from '../../src/core/journal.ts';

/** The facts of these kinds; all when none is named. @param path of the trail */
export function journalFacts(path: string, ...kinds: readonly JournalKind[]): JournalEntry[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const rows = database
    .prepare(
      "SELECT enqueued_ms, body FROM entry JOIN stream ON stream.id = stream WHERE name LIKE 'trail/%/journal' ORDER BY idx",
    )
    .all();
  const facts = rows.flatMap(({ enqueued_ms: enqueuedMs, body }) => {
    const entry = journalEntryOf({ enqueuedMs: Number(enqueuedMs), body: body as Uint8Array });
    return entry === null ? [] : [entry];
  });
  return facts.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));
}
