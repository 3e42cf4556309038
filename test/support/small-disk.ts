// A file system of a few MiB that a test fills and frees: a full disk that is really full.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from './until.ts';

export interface SmallDiskProgram extends AsyncDisposable {
  readonly output: () => string;
  readonly log: () => string;
  /** Has the program obey one command, and waits until it has. */
  tell(command: string): Promise<void>;
  /** How often the log says `text`. */
  said(text: string): number;
}

/**
 * Starts a program in a mount namespace of its own, where the directory `disk` is a file system of 8 MiB.
 * @param program gets `disk` and `args` as its arguments, and calls `obey`
 */
export function startOnSmallDisk(program: string, disk: string, args: readonly string[]): SmallDiskProgram {
  const script = 'mount -t tmpfs -o size=8m none "$1" && shift && exec "$@"';
  const words = ['-rm', 'sh', '-c', script, 'sh', disk, process.execPath, program, disk, ...args];
  const child: ChildProcessWithoutNullStreams = spawn('unshare', words);
  const kept = { output: '', log: '' };
  child.stdout.on('data', (chunk: Buffer) => (kept.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (kept.log += chunk.toString()));
  const closed = once(child, 'close');
  return {
    output: () => kept.output,
    log: () => kept.log,
    tell: async (command) => {
      const before = kept.output.length;
      child.stdin.write(`${command}\n`);
      await until(`an answer to ${command}: ${kept.log}`, () => kept.output.length > before);
    },
    said: (text) => kept.log.split(text).length - 1,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/** In the program: obeys `fill`, `free` and what `more` names, and answers with the free blocks. */
export function obey(disk: string, more: Readonly<Record<string, () => void | Promise<void>>>): void {
  const filler = join(disk, 'filler');
  const commands: Readonly<Record<string, () => void | Promise<void>>> = {
    fill: () => fill(filler),
    free: () => rmSync(filler, { force: true }),
    ...more,
  };
  createInterface({ input: process.stdin }).on('line', async (line) => {
    await commands[line]?.();
    writeSync(1, `${line} ${statfsSync(disk).bavail}\n`);
  });
}

/** Takes every byte that is left. */
function fill(filler: string): void {
  const file = openSync(filler, 'a');
  for (const bytes of [64 * 1024, 512, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(bytes, 0x5a));
    } catch {
      // ENOSPC: the next smaller step takes the rest.
    }
  }
  closeSync(file);
}
