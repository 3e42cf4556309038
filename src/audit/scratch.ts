// Finds out in a scratch database what the entries of a trail give, and what its projections may say beyond that.
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { hashBody } from '../core/leaf.ts';
import { keyOf, type PlacedEntry } from '../core/read-batch.ts';
import { openProjector, type StreamIds } from './projector.ts';
import { recallPruned } from './recall.ts';
import { projections, projectionTables } from './schema.ts';
import { type EntryPlace, type ProjectionCheck, TrailUnusable } from './store.ts';

// Bounds the memory of a replay; the result does not depend on it.
const chunkLength = 1_000;

/** An entry of a hub's stream, as any store keeps it. */
export type KeptEntry = Omit<PlacedEntry, 'body'> & { readonly body: Uint8Array | null };

/** Projections made anew, in a file of SQLite's own that nobody else can open; it is gone afterwards. */
export interface Scratch extends Disposable {
  /** Takes every entry of every hub's stream, each once, in any order. */
  take(entry: KeptEntry): void;
  /**
   * Once all entries were taken: compares what they give with what stands.
   * @param stored a database with the projections as they stand, in the tables of `schema.ts`, whose rows name streams
   *   by the same numbers
   */
  compare(stored: DatabaseSync): ProjectionCheck;
  /** After `compare`: puts what it found to be right where the projections stand. */
  replace(stored: DatabaseSync): void;
}

const contradiction = 'the trail cannot be used: what it says of its streams contradicts itself';

/** @param streams the numbers by which the rows of the projections name streams */
export function openScratch(streams: StreamIds): Scratch {
  const database = new DatabaseSync('');
  database.exec(`${forOnce} ${projections} ${unasked} ${bareEntries} BEGIN`);
  const projector = openProjector(database, streams);
  const addBare = database.prepare('INSERT INTO bare (stream, idx, body_key) VALUES (?, ?, ?)');
  const damaged: EntryPlace[] = [];
  let [entries, pruned] = [0, 0];
  let chunk: PlacedEntry[] = [];
  const flush = (): void => {
    projector.project(chunk);
    chunk = [];
  };
  return {
    take: ({ stream, index, bodySha256, body }) => {
      entries += 1;
      // An index of a damaged file may not know a name that stands in its table.
      if (Number.isNaN(streams.idOf(stream))) throw new TrailUnusable(contradiction);
      if (body === null) {
        pruned += 1;
        addBare.run(streams.idOf(stream), index, Buffer.from(keyOf(bodySha256), 'hex'));
      } else if (isWhole(body, bodySha256)) chunk.push({ stream, index, bodySha256, body });
      else damaged.push({ stream, index });
      if (chunk.length >= chunkLength) flush();
    },
    compare: (stored) => {
      flush();
      const lost = pruned === 0 ? 0 : recallPruned({ database, projector, streams }, stored);
      const [left, right] = [digestsOf(stored), digestsOf(database)];
      const different = tableNames.filter(
        (table) => left[table] !== right[table] || (lost > 0 && table === 'observation'),
      );
      return { status: 'checked', entries, pruned, different, damaged };
    },
    replace: (stored) => {
      for (const table of tableNames) copyTable(database, stored, table);
    },
    [Symbol.dispose]: () => database.close(),
  };
}

// Nobody needs it after a crash, and its pages are better kept in memory than written out.
const forOnce = 'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;';
// Indexes for questions that nobody asks here.
const unasked =
  'DROP INDEX observation_event; DROP INDEX observation_at; DROP INDEX event_time; DROP INDEX event_vm_event; DROP INDEX agent_vm;';

// Entries without a body, and the keys of their bodies.
const bareEntries = `
CREATE TABLE bare (
  stream INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  body_key BLOB NOT NULL,
  PRIMARY KEY (stream, idx)
) STRICT, WITHOUT ROWID;`;

// SQLite does not notice a flipped bit inside a row.
const isWhole = (body: Uint8Array, bodySha256: Uint8Array): boolean =>
  Buffer.compare(hashBody(body), bodySha256) === 0;

const tableNames = Object.keys(projectionTables) as (keyof typeof projectionTables)[];

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

function copyTable(from: DatabaseSync, into: DatabaseSync, table: string): void {
  into.exec(`DELETE FROM ${table}`);
  const rows = from.prepare(`SELECT * FROM ${table}`);
  const columns = rows.columns().map(({ name }) => name);
  const insert = into.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  for (const row of rows.iterate()) insert.run(...Object.values(row));
}
