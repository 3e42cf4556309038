// Reads a trail in SQLite at one moment, for whoever checks, proves or copies it.
import type { DatabaseSync } from 'node:sqlite';
import { entryFrom, sourceStreamFrom } from './log-rows.ts';
import { checkProjections } from './rebuild.ts';
import { schemaVersion } from './schema.ts';
import { openForReading, withSentence } from './sqlite-file.ts';
import { openLog } from './sqlite-log.ts';
import type { PinnedNote, RecordPlace, SourceStream, StoredEntry, TrailSource } from './store.ts';

// Verifying holds one chunk of each stream at a time: 500 took 150 MB more for 32 partitions, and no less time.
const chunkLength = 100;

/**
 * Opens the trail at `path` as it stands now; what is written meanwhile is not seen.
 * @throws TrailUnusable also when there is no such file: it is never made
 */
export function openSqliteSource(path: string): TrailSource {
  // What is broken is to be named by whoever checks, and not to be refused here.
  const database = openForReading(path, schemaVersion, 'any');
  const log = openLog(database);
  const answer = <Answer>(question: () => Answer): Answer => withSentence(path, question);
  answer(() => {
    database.exec('BEGIN');
    // A transaction begins to see with its first question.
    database.prepare('SELECT count(*) FROM stream').get();
  });
  return {
    place: path,
    trail: answer(() => currentTrail(database)),
    streams: async () => answer(() => streamsOf(database)),
    entries: (stream, from = 0) => chunks(path, () => entryRows(database, log.idOf(stream), from)),
    notes: (stream, from = 0) => chunks(path, () => noteRows(database, log.idOf(stream), from)),
    // In a scratch database: it reads by itself, in the same transaction.
    check: async () => answer(() => checkProjections(database, log)),
    find: async (id) => answer(() => placesOf(database, id)),
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

function currentTrail(database: DatabaseSync): string | null {
  const row = database.prepare('SELECT id FROM trail ORDER BY number DESC LIMIT 1').get();
  return row === undefined ? null : String(row['id']);
}

const streamsOf = (database: DatabaseSync): SourceStream[] =>
  database
    .prepare('SELECT name, size, last_seq, range, note FROM stream ORDER BY name')
    .all()
    .map(sourceStreamFrom);

function* entryRows(database: DatabaseSync, streamId: number, from: number): Iterable<StoredEntry> {
  const rows = database.prepare('SELECT * FROM entry WHERE stream = ? AND idx >= ? ORDER BY idx');
  for (const row of rows.iterate(streamId, from)) yield entryFrom(row);
}

function* noteRows(database: DatabaseSync, streamId: number, from: number): Iterable<PinnedNote> {
  const rows = database.prepare(
    'SELECT size, note FROM checkpoint WHERE stream = ? AND size >= ? ORDER BY size',
  );
  for (const row of rows.iterate(streamId, from))
    yield { size: Number(row['size']), note: String(row['note']) };
}

async function* chunks<Item>(path: string, rows: () => Iterable<Item>): AsyncGenerator<readonly Item[]> {
  const iterator = withSentence(path, () => rows()[Symbol.iterator]());
  for (;;) {
    const chunk = withSentence(path, () => take(iterator));
    if (chunk.length > 0) yield chunk;
    if (chunk.length < chunkLength) return;
  }
}

function take<Item>(iterator: Iterator<Item>): Item[] {
  const chunk: Item[] = [];
  while (chunk.length < chunkLength) {
    const next = iterator.next();
    if (next.done === true) break;
    chunk.push(next.value);
  }
  return chunk;
}

const placesOf = (database: DatabaseSync, id: string): RecordPlace[] =>
  database
    .prepare(
      `SELECT observation.id, source, name, idx FROM observation JOIN stream ON stream.id = stream
       WHERE observation.id = ? ORDER BY name, idx`,
    )
    .all(id)
    .map((row) => ({
      id: String(row['id']),
      source: String(row['source']),
      stream: String(row['name']),
      index: Number(row['idx']),
    }));
