// Keeps a second program off the same state directory: two would number and send the same records.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { resultCodeOf, resultKind } from '../sqlite.ts';

/**
 * Takes the directory for this process until disposed of, or until the process ends however it ends: the lock is
 * the kernel's, held through SQLite, so that no stale file can keep an agent from starting after a crash.
 * @param file the name of the lock's file
 * @returns null when another process holds it
 */
export function lockDirectory(directory: string, file = 'agent.lock'): Disposable | null {
  const database = new DatabaseSync(join(directory, file));
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (resultCodeOf(error)?.kind === resultKind.busy) return null;
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}
