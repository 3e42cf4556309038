// Runs a program that follows a guide, in namespaces of its own, and gives what it found.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/**
 * @param program its file, beside this one; it gets the path of an empty directory, and prints JSON as its last line
 * @throws when it fails, with what it printed
 */
export async function runOnStage(program: string): Promise<unknown> {
  using directory = temporaryDirectory();
  const file = fileURLToPath(new URL(program, import.meta.url));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const words = ['-rmn', '--kill-child', process.execPath, file, directory.path];
  execFile('unshare', words, { timeout: 100_000, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else reject(new Error(`${program} failed: ${stdout}${stderr}`));
  });
  return JSON.parse((await promise).trimEnd().split('\n').at(-1) ?? '');
}
