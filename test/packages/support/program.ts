// Runs the executable as a machine without Node would: an empty environment, no PATH.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

export interface Ran {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProgram extends AsyncDisposable {
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, or null when a signal ended it. */
  ended(): Promise<number | null>;
}

/** @param env all there is of an environment */
export function startProgram(
  path: string,
  words: readonly string[],
  env: Record<string, string> = {},
): RunningProgram {
  const child = spawn(path, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const stdout = heard(child.stdout);
  const stderr = heard(child.stderr);
  const closed = once(child, 'close') as Promise<[number | null]>;
  return {
    ...{ pid: child.pid ?? 0, stdout, stderr },
    kill: (signal) => child.kill(signal),
    ended: async () => (await closed)[0],
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

function heard(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return () => text;
}

/** Runs it to its end. */
export async function runProgram(...given: Parameters<typeof startProgram>): Promise<Ran> {
  await using running = startProgram(...given);
  const exitCode = await running.ended();
  return { exitCode, stdout: running.stdout(), stderr: running.stderr() };
}
