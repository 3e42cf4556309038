// What every SQLite file of the bridge needs: one transaction, statements that are kept, and the kind of a failure.
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Commits what `work` did, or undoes all of it: when it throws, and when the commit itself fails. */
export function transaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } finally {
    // SQLite rolls back by itself after some failures; a second rollback would hide the first error.
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

/** A prepared statement, kept with its database: preparing costs more than running. */
export function statement(database: DatabaseSync, sql: string): StatementSync {
  const known = prepared.get(database) ?? new Map<string, StatementSync>();
  prepared.set(database, known);
  const made = known.get(sql) ?? database.prepare(sql);
  known.set(sql, made);
  return made;
}

/** What SQLite says went wrong: https://www.sqlite.org/rescode.html. */
export interface ResultCode {
  /** The low byte: the kind of failure. */
  readonly kind: number;
  readonly extended: number;
}

/** The kinds that the bridge tells apart. */
export const resultKind = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** The result code of an error; null for an error that is not SQLite's. */
export function resultCodeOf(error: unknown): ResultCode | null {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return null;
  return { kind: errcode & 0xff, extended: errcode };
}
