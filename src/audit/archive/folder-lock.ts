// Lets one writer at a time into a folder, for as long as an append takes.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { resultCodeOf, resultKind } from '../../sqlite.ts';

export const lockName = '.lock';

/** A lock that is the kernel's, held through SQLite: a writer that dies leaves it free. */
export interface FolderLock extends Disposable {
  /** @returns whether nobody else has it */
  take(): boolean;
  release(): void;
}

export function openFolderLock(folder: string): FolderLock {
  const database = new DatabaseSync(join(folder, lockName));
  let taken = false;
  return {
    take: () => {
      // Two appends through one lock take turns like two programs.
      if (taken) return false;
      try {
        // Nothing is ever written into it; a journal on the disk would be one more file in the copy.
        database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
      } catch (error) {
        if (resultCodeOf(error)?.kind === resultKind.busy) return false;
        throw error;
      }
      taken = true;
      return true;
    },
    release: () => {
      taken = false;
      database.exec('ROLLBACK');
    },
    [Symbol.dispose]: () => database.close(),
  };
}
