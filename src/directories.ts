// Makes directories, with those above them, as `mkdir -p` does and always to an end; and says whether a file is there.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a directory and those above it that are missing; one that is there stays as it is.
 * Node's own `recursive` never returns where a file system has a parent and says that it has none, as /proc does
 * (seen with Node 24).
 * @param mode of those that are made
 * @throws what Node says of the first one that cannot be made
 */
export function makeDirectories(path: string, mode: number): void {
  for (const missing of missingFrom(resolve(path))) {
    try {
      mkdirSync(missing, { mode });
    } catch (error) {
      // Another program may have made it in the meantime.
      if (!isDirectory(missing)) throw error;
    }
  }
}

/**
 * Whether something is there. `existsSync` says no as well where nobody may look, and a reader takes that for an answer.
 * @throws what Node says when it cannot be known, such as EACCES
 */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // Something above it is a file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
}

/** The directories of a path that are not there, from the top. */
function missingFrom(path: string): string[] {
  return isDirectory(path) || dirname(path) === path ? [] : [...missingFrom(dirname(path)), path];
}

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
