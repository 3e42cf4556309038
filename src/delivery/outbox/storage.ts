// The SQLite file of the outbox: how it is opened, and what its errors mean.
import { DatabaseSync } from 'node:sqlite';
import { resultCodeOf, resultKind, statement } from '../../sqlite.ts';
import { bringUpToDate, UnknownSchema } from './schema.ts';

/** `full`: no room. `damaged`: the bytes are wrong. `unavailable`: the file cannot be used at all now. */
export type StorageFault = 'full' | 'damaged' | 'unavailable';

/**
 * Opens the file, creates what is missing, brings it up to date and checks that it is whole.
 * @throws an error for which `faultOf` has a name
 */
export function openStorage(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 2_000 });
  try {
    // WAL with FULL lost nothing in power cuts and costs one flush per commit; NORMAL lost records in every one.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -512;');
    bringUpToDate(database);
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
  if (error instanceof UnknownSchema) return 'unavailable';
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
