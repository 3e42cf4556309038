// Opens a trail's SQLite file, or says in one sentence why it cannot be used.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { hashBody } from '../core/leaf.ts';
import { isThere, makeDirectories } from '../directories.ts';
import { resultCodeOf, resultKind } from '../sqlite.ts';
import { applicationId, newTrail, schemaVersion } from './schema.ts';
import { failureOf, wordsFor } from './sqlite-failure.ts';
import { migrateFrom1, migrateFrom2 } from './sqlite-migrate.ts';
import { TrailUnusable } from './store.ts';

// Long enough for another program's commit; opening happens once, so waiting here stops nothing.
const openTimeoutMs = 5_000;
// Short, because waiting for a lock blocks the whole program; whoever writes tries again without blocking.
const writeTimeoutMs = 100;
const cacheKiB = 32 * 1024;

/**
 * Opens a trail for writing, and makes it when there is none.
 * @throws TrailUnusable
 */
export function openForWriting(path: string): DatabaseSync {
  return withSentence(path, () => {
    makeDirectories(dirname(path), 0o777);
    const database = new DatabaseSync(path, { timeout: openTimeoutMs });
    return prepared(database, () => {
      // FULL: what was acknowledged survives a power cut (measured: NORMAL loses the last seconds).
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF');
      database.exec(`PRAGMA cache_size = -${cacheKiB}`);
      database.exec('BEGIN IMMEDIATE');
      if (isBlank(database)) database.exec(newTrail);
      requireTrail(database, path, 1);
      if (!hasWholeEnds(database)) throw damaged(path);
      if (versionOf(database) === 1 && !migrateFrom1(database, Date.now())) throw damaged(path);
      if (versionOf(database) === 2) migrateFrom2(database);
      database.exec('COMMIT');
      database.exec(`PRAGMA busy_timeout = ${writeTimeoutMs}`);
    });
  });
}

/** Whether each stream's last entry must be whole: not for whoever is there to find out. */
export type Ends = 'whole' | 'any';

/**
 * Opens a trail for reading only.
 * @param oldest the oldest schema version that has what the caller reads
 * @throws TrailUnusable also when there is no such file: it is never made
 */
export function openForReading(
  path: string,
  oldest: number = schemaVersion,
  ends: Ends = 'whole',
): DatabaseSync {
  return withSentence(path, () => {
    if (!isThere(path)) throw missing(path);
    try {
      return readable(path, path, oldest, ends);
    } catch (error) {
      if (!isSealed(path, error)) throw error;
      return readable(new URL(`${pathToFileURL(path)}?immutable=1`), path, oldest, ends);
    }
  });
}

function readable(place: string | URL, path: string, oldest: number, ends: Ends): DatabaseSync {
  const database = new DatabaseSync(place, { readOnly: true, timeout: openTimeoutMs });
  return prepared(database, () => {
    // A consumer has just begun to make it.
    if (isBlank(database)) throw missing(path);
    requireTrail(database, path, oldest);
    if (ends === 'whole' && !hasWholeEnds(database)) throw damaged(path);
  });
}

/**
 * Whether the file only lies where nothing may be written: readers of a write-ahead log share a file beside it.
 * Without a log nobody is writing, so the file can be read as it is.
 */
const isSealed = (path: string, error: unknown): boolean =>
  resultCodeOf(error)?.kind === resultKind.cannotOpen && !existsSync(`${path}-wal`);

const missing = (path: string): TrailUnusable =>
  new TrailUnusable(`there is no trail at ${path}; "seb consumer" makes it when it first runs`);

/**
 * Turns the failures one must expect of a file into a sentence about it.
 * @throws TrailUnusable
 */
export function withSentence<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof TrailUnusable) throw error;
    const reason = failureOf(error);
    if (reason !== null) throw new TrailUnusable(`the trail at ${path} cannot be used: ${wordsFor[reason]}`);
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const advice = code === 'EACCES' ? '; this user may not: try it as root, with sudo' : '';
    throw new TrailUnusable(`the trail at ${path} cannot be opened (${code})${advice}`);
  }
}

function prepared(database: DatabaseSync, prepare: () => void): DatabaseSync {
  try {
    prepare();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function isBlank(database: DatabaseSync): boolean {
  const row = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get();
  return row?.['tables'] === 0;
}

const pragma = (database: DatabaseSync, name: string): unknown =>
  database.prepare(`PRAGMA ${name}`).get()?.[name];

const versionOf = (database: DatabaseSync): number => Number(pragma(database, 'user_version'));

const damaged = (path: string): TrailUnusable =>
  new TrailUnusable(`the trail at ${path} cannot be used: ${wordsFor.damaged}`);

function requireTrail(database: DatabaseSync, path: string, oldest: number): void {
  const version = versionOf(database);
  if (pragma(database, 'application_id') !== applicationId || version < 1) {
    throw new TrailUnusable(`${path} is a SQLite file, but no trail`);
  }
  if (version > schemaVersion) {
    throw new TrailUnusable(
      `the trail at ${path} was written by a later version of this program (its tables are of version ${version}, this program knows ${schemaVersion})`,
    );
  }
  requireVersion(database, path, oldest);
}

/**
 * Refuses a trail that lacks what is asked of it.
 * @param oldest the oldest schema version that has it
 * @throws TrailUnusable
 */
export function requireVersion(database: DatabaseSync, path: string, oldest: number): void {
  if (versionOf(database) >= oldest) return;
  throw new TrailUnusable(
    `the trail at ${path} was written by an earlier version of this program: "seb consumer" brings it up to date when it next starts`,
  );
}

/** Whether each stream's last entry is there and whole: a file that lost its end reads without complaint. */
function hasWholeEnds(database: DatabaseSync): boolean {
  const ends = database
    .prepare(
      `SELECT body, body_sha256 FROM stream
       LEFT JOIN entry ON entry.stream = stream.id AND entry.idx = stream.size - 1 WHERE stream.size > 0`,
    )
    .all();
  return ends.every(({ body, body_sha256: hash }) => {
    if (!(hash instanceof Uint8Array)) return false;
    // A body that was pruned left its hash.
    if (body === null) return true;
    return body instanceof Uint8Array && Buffer.compare(hashBody(body), hash) === 0;
  });
}
