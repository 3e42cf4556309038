// Reads a file that the command line names, and says in one sentence why it cannot.
import { readFileSync, statSync } from 'node:fs';
import { UsageError } from './command.ts';

/**
 * @param lengthMax in bytes: what is longer is not what was meant
 * @throws UsageError
 */
export function readGivenFile(path: string, lengthMax: number): Buffer {
  const refuse = (why: string): never => {
    throw new UsageError(`${path} cannot be read: ${why}`);
  };
  try {
    if (statSync(path).size > lengthMax) return refuse(`it is longer than ${lengthMax} bytes`);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return refuse(reasons[code] ?? code);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
};
