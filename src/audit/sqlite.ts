// The trail in one SQLite file: the log, its projections and the position, moved together or not at all.
import type { DatabaseSync } from 'node:sqlite';
import { type HubEvent, leafOf } from '../core/leaf.ts';
import { transaction } from '../sqlite.ts';
import { openProjector, type PlacedEntry } from './projector.ts';
import { checkProjections, rebuildProjections } from './rebuild.ts';
import { failureOf } from './sqlite-failure.ts';
import { openForWriting } from './sqlite-file.ts';
import {
  type AppendResult,
  emptyStream,
  type StreamPosition,
  type TrailStore,
  type Unavailable,
} from './store.ts';

export interface SqliteTrailOptions {
  /** SQLite's own limit on the size of the file, in pages of 4 KiB; none unless given. */
  readonly pagesMax?: number;
}

/**
 * Opens the trail at `path`, and makes it when there is none.
 * @throws TrailUnusable
 */
export function openSqliteTrail(path: string, { pagesMax }: SqliteTrailOptions = {}): TrailStore {
  const database = openForWriting(path);
  if (pagesMax !== undefined) database.exec(`PRAGMA max_page_count = ${Math.trunc(pagesMax)}`);
  const append = appender(database);
  return {
    position: async (stream) => guarded(() => ({ status: 'known', position: positionOf(database, stream) })),
    append: async (stream, at, events) =>
      guarded(() => transaction<AppendResult>(database, () => append(stream, at, events))),
    rebuild: async () => guarded(() => rebuildProjections(database)),
    check: async () => guarded(() => checkProjections(database)),
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

/** Turns the failures one must expect of a disk into results. */
function guarded<Result>(work: () => Result): Result | Unavailable {
  try {
    return work();
  } catch (error) {
    const reason = failureOf(error);
    if (reason === null) throw error;
    return { status: 'unavailable', reason };
  }
}

function positionOf(database: DatabaseSync, stream: string): StreamPosition {
  const row = database.prepare('SELECT size, last_seq FROM stream WHERE name = ?').get(stream);
  if (row === undefined) return emptyStream;
  return { size: Number(row['size']), lastSequenceNumber: Number(row['last_seq']) };
}

function appender(database: DatabaseSync) {
  const open = database.prepare('INSERT OR IGNORE INTO stream (name, size, last_seq) VALUES (?, 0, -1)');
  const idOf = database.prepare('SELECT id FROM stream WHERE name = ?');
  const advance = database.prepare(`
    UPDATE stream SET size = ?, last_seq = ?, last_enqueued_ms = coalesce(?, last_enqueued_ms)
    WHERE name = ? AND size = ? AND last_seq = ?`);
  const write = database.prepare(`
    INSERT INTO entry (stream, idx, seq, enqueued_ms, body_sha256, body) VALUES (?, ?, ?, ?, ?, ?)`);
  const projector = openProjector(database);

  return (stream: string, at: StreamPosition, events: readonly HubEvent[]): AppendResult => {
    open.run(stream);
    const position = positionAfter(at, events);
    const moved = advance.run(
      ...[position.size, position.lastSequenceNumber, events.at(-1)?.enqueuedMs ?? null],
      ...[stream, at.size, at.lastSequenceNumber],
    );
    if (moved.changes !== 1) return { status: 'moved', position: positionOf(database, stream) };
    const streamId = Number(idOf.get(stream)?.['id']);
    const entries = events.map((event, offset): PlacedEntry => {
      const { sequenceNumber, enqueuedMs, bodySha256 } = leafOf(event);
      const index = at.size + offset;
      write.run(streamId, index, sequenceNumber, enqueuedMs, bodySha256, event.body);
      return { streamId, index, bodySha256, body: event.body };
    });
    return { status: 'appended', position, counts: projector.project(entries) };
  };
}

const positionAfter = (at: StreamPosition, events: readonly HubEvent[]): StreamPosition => ({
  size: at.size + events.length,
  lastSequenceNumber: events.at(-1)?.sequenceNumber ?? at.lastSequenceNumber,
});
