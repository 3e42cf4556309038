// Makes the projections anew from the entries, or says where they differ from what the entries give.
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { hashBody } from '../core/leaf.ts';
import { transaction } from '../sqlite.ts';
import { openProjector, type PlacedEntry } from './projector.ts';
import { projections, projectionTables } from './schema.ts';
import type { EntryPlace, ProjectionCheck } from './store.ts';

// Bounds the memory of a replay; the result does not depend on it.
const chunkLength = 1_000;

/** Compares the projections with what the entries give, in a scratch database that is gone afterwards. */
export function checkProjections(database: DatabaseSync): ProjectionCheck {
  // The empty name is a file of SQLite's own that nobody else can open.
  using scratch = new DatabaseSync('');
  scratch.exec(projections);
  database.exec('BEGIN');
  try {
    const replayed = replay(database, scratch);
    return { status: 'checked', ...replayed, different: differences(database, scratch) };
  } finally {
    database.exec('ROLLBACK');
  }
}

/** Replaces the projections by what the entries give, in one transaction. */
export function rebuildProjections(database: DatabaseSync): ProjectionCheck {
  return transaction(database, () => {
    const before = digestsOf(database);
    for (const table of tableNames) database.exec(`DELETE FROM ${table}`);
    const replayed = replay(database, database);
    const after = digestsOf(database);
    const different = tableNames.filter((table) => before[table] !== after[table]);
    return { status: 'checked', ...replayed, different };
  });
}

const tableNames = Object.keys(projectionTables) as (keyof typeof projectionTables)[];

function replay(from: DatabaseSync, into: DatabaseSync): Omit<ProjectionCheck, 'different' | 'status'> {
  const projector = openProjector(into);
  const damaged: EntryPlace[] = [];
  let entries = 0;
  let chunk: PlacedEntry[] = [];
  const flush = (): void => {
    projector.project(chunk);
    chunk = [];
  };
  for (const entry of storedEntries(from)) {
    entries += 1;
    if (isWhole(entry)) chunk.push(entry);
    else damaged.push({ stream: entry.stream, index: entry.index });
    if (chunk.length >= chunkLength) flush();
  }
  flush();
  return { entries, damaged };
}

type StoredEntry = PlacedEntry & { readonly stream: string };

function* storedEntries(database: DatabaseSync): Iterable<StoredEntry> {
  const rows = database
    .prepare(
      `SELECT entry.stream AS streamId, stream.name AS stream, idx, body_sha256, body
       FROM entry JOIN stream ON stream.id = entry.stream ORDER BY entry.stream, idx`,
    )
    .iterate();
  for (const row of rows) {
    yield {
      streamId: Number(row['streamId']),
      stream: String(row['stream']),
      index: Number(row['idx']),
      bodySha256: row['body_sha256'] as Uint8Array,
      body: row['body'] as Uint8Array,
    };
  }
}

// SQLite does not notice a flipped bit inside a row.
const isWhole = ({ body, bodySha256 }: StoredEntry): boolean =>
  Buffer.compare(hashBody(body), bodySha256) === 0;

function differences(one: DatabaseSync, other: DatabaseSync): string[] {
  const [left, right] = [digestsOf(one), digestsOf(other)];
  return tableNames.filter((table) => left[table] !== right[table]);
}

/** One hash per projection, over all its rows in a total order. */
function digestsOf(database: DatabaseSync): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(projectionTables).map(([table, order]) => {
      const hash = createHash('sha256');
      for (const row of database.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).iterate()) {
        hash.update(JSON.stringify(Object.values(row).map(comparable)));
      }
      return [table, hash.digest('hex')];
    }),
  );
}

const comparable = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
