// The SQLite file of the outbox: how it is opened, what is in it, and what its errors mean.
import { DatabaseSync } from 'node:sqlite';
import { resultCodeOf, resultKind, statement } from '../../sqlite.ts';

/** `full`: no room. `damaged`: the bytes are wrong. `unavailable`: the file cannot be used at all now. */
export type StorageFault = 'full' | 'damaged' | 'unavailable';

// Every value that matters is in a row with a checksum: SQLite does not notice a flipped bit inside a row.
const schema = `
CREATE TABLE IF NOT EXISTS meta (
  key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS record (
  sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, family TEXT NOT NULL, urgent INTEGER NOT NULL,
  committed_at INTEGER NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS delivery (
  sink TEXT NOT NULL, sequence INTEGER NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL, reason TEXT, settled_at INTEGER, checksum INTEGER NOT NULL,
  PRIMARY KEY (sink, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS delivery_state ON delivery (state, settled_at);
CREATE INDEX IF NOT EXISTS delivery_queue ON delivery (sink, state, sequence);
CREATE INDEX IF NOT EXISTS delivery_record ON delivery (sequence);
CREATE TABLE IF NOT EXISTS sink (
  name TEXT PRIMARY KEY, state TEXT NOT NULL, until INTEGER NOT NULL, reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS said (
  id TEXT PRIMARY KEY, count INTEGER NOT NULL, said_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 1;
`;

/**
 * Opens the file, creates what is missing and checks that it is whole.
 * @throws an error for which `faultOf` has a name
 */
export function openStorage(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 2_000 });
  try {
    // WAL with FULL lost nothing in power cuts and costs one flush per commit; NORMAL lost records in every one.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -512;');
    database.exec(schema);
    const check = database.prepare('PRAGMA quick_check(1)').get();
    if (check?.['quick_check'] !== 'ok') throw new DamagedStorage();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

class DamagedStorage extends Error {}

// SQLITE_IOERR_SHMSIZE and SQLITE_IOERR_WRITE: on a full disk the side files fail before the main one does.
const fullInDisguise = [4874, 778];

/** What an error of the storage means; null for an error that is none of its own, which is a bug. */
export function faultOf(error: unknown): StorageFault | null {
  if (error instanceof DamagedStorage) return 'damaged';
  const { code } = (error ?? {}) as { code?: unknown };
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  const result = resultCodeOf(error);
  if (result === null) return null;
  if (result.kind === resultKind.full || fullInDisguise.includes(result.extended)) return 'full';
  const isDamage = result.kind === resultKind.corrupt || result.kind === resultKind.notADatabase;
  return isDamage ? 'damaged' : 'unavailable';
}

/** Bytes of the file that hold something. */
export function usedBytes(database: DatabaseSync): number {
  const pragma = (name: string): number => Number(statement(database, `PRAGMA ${name}`).get()?.[name] ?? 0);
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}
