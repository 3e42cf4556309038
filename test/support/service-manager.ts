// Stands in for the service manager: passes a descriptor as OpenFile= does, and keeps what is written to it.
// What is written over a real socket of its kind, by a real systemd-notify too, is tested in test/packages.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { plainEnvironment } from './process.ts';

/** The assignments in what was written, in order: several messages stand in it without anything between. */
export const assignmentsIn = (text: string): string[] =>
  text.split(/\n|(?=(?<!^|\n)(?:READY|RELOADING|STOPPING|WATCHDOG|STATUS|MONOTONIC_USEC)=)/);

export interface PassedDescriptor extends Disposable {
  /** What this process would find in its environment. */
  readonly env: NodeJS.ProcessEnv;
  said(): string[];
  /** How often something was said. */
  count(assignment: string): number;
}

/** A descriptor of this very process, over a file. */
export function passDescriptor(path: string, more: NodeJS.ProcessEnv = {}): PassedDescriptor {
  const descriptor = openSync(path, 'a');
  const names = Array.from({ length: descriptor - 3 }, () => 'other');
  const said = (): string[] => assignmentsIn(readFileSync(path, 'utf8'));
  return {
    env: {
      LISTEN_PID: String(process.pid),
      LISTEN_FDS: String(descriptor - 2),
      LISTEN_FDNAMES: [...names, 'notify'].join(':'),
      ...more,
    },
    said,
    count: (assignment) => said().filter((each) => each === assignment).length,
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

/** One assignment, and when it was heard. */
export interface Heard {
  readonly text: string;
  readonly atMs: number;
}

export interface RunningService extends AsyncDisposable {
  readonly pid: number;
  readonly heard: readonly Heard[];
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  ended(): Promise<number | null>;
}

/** Starts a program of this Node with a descriptor named `notify`, as a service of its own. */
export function startService(args: readonly string[], more: NodeJS.ProcessEnv = {}): RunningService {
  // The process that is meant is the one that takes the shell's place.
  const shell = ['-c', 'LISTEN_PID=$$ exec "$0" "$@"', process.execPath, ...args];
  const env = { ...plainEnvironment(), LISTEN_FDS: '1', LISTEN_FDNAMES: 'notify', ...more };
  const child = spawn('/bin/sh', shell, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], env });
  const heard: Heard[] = [];
  (child.stdio[3] as Readable).setEncoding('utf8').on('data', (text: string) => {
    for (const each of assignmentsIn(text)) heard.push({ text: each, atMs: performance.now() });
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  return {
    pid: child.pid ?? 0,
    heard,
    stderr: () => stderr,
    signal: (name) => void child.kill(name),
    ended: async () => (await closed)[0],
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
