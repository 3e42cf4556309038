// A trail in SQLite, as the tests of every store open it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { projectionTables } from '../../../src/audit/schema.ts';
import { openSqliteTrail } from '../../../src/audit/sqlite.ts';
import { openSqliteReader } from '../../../src/audit/sqlite-reader.ts';
import { openSqliteSource } from '../../../src/audit/sqlite-source.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { inHex, type TrailWorld } from './world.ts';

// What these tests ask is not about the disk, and they commit thousands of times: where there is a file system in
// memory, they need not wait for one.
const memory = '/dev/shm';

export type SqliteWorld = TrailWorld & { readonly path: string };

/** A new and empty trail in a directory that goes with it. */
export function sqliteWorld(): SqliteWorld {
  const directory = existsSync(memory) ? temporaryDirectory(memory) : temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  return {
    path,
    open: async (options) => openSqliteTrail(path, options),
    source: async () => openSqliteSource(path),
    reader: async () => openSqliteReader(path),
    tamper: async (...statements) => tamper(path, statements),
    [Symbol.asyncDispose]: async () => directory[Symbol.dispose](),
  };
}

/** The triggers bind whoever opens the file; somebody who means harm drops them first, and puts them back. */
function tamper(path: string, statements: readonly string[]): void {
  using database = new DatabaseSync(path);
  const triggers = database.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all();
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`);
  for (const sql of statements) database.exec(sql);
  for (const { sql } of triggers) database.exec(String(sql));
}

/** Everything the projections hold, with streams by name: their numbers depend on who came first. */
export function projectionsIn(path: string): unknown {
  using database = new DatabaseSync(path, { readOnly: true });
  return inHex(
    Object.entries(projectionTables).map(([table, order]) => {
      const names = order.includes('stream');
      const from =
        names || table === 'observation' ? `${table} JOIN stream AS s ON s.id = ${table}.stream` : table;
      const columns = from === table ? '*' : `${table}.*, s.name AS stream`;
      const rows = database
        .prepare(`SELECT ${columns} FROM ${from}`)
        .all()
        .map((row) => JSON.stringify(inHex(row)));
      return [table, rows.sort()];
    }),
  );
}

/** Lets what `work` writes fail, in the middle of it. */
export async function interrupted(path: string, work: () => Promise<unknown>): Promise<void> {
  using database = new DatabaseSync(path);
  database.exec(
    `CREATE TRIGGER failing BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'it fails here') WHERE NEW.idx > 1; END`,
  );
  await work().catch((error: unknown) => {
    if (!String(error).includes('it fails here')) throw error;
  });
  database.exec('DROP TRIGGER failing');
}
