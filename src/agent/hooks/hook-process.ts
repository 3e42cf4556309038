// Runs one program without a shell, keeps what it writes, and ends it with all it has started when its time is over.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { type HookOutput, keepOutput, type OutputKeeper } from '../../core/hook-output.ts';

export interface HookRun {
  readonly command: readonly [string, ...string[]];
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly standardInput: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ends it before its time. */
  readonly signal: AbortSignal;
}

/** How the program ended. */
export interface HookEnd {
  readonly outcome: 'succeeded' | 'failed' | 'timed-out' | 'interrupted' | 'not-started';
  /** The system's word for why it was not started. */
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly output: HookOutput;
}

// Between the wish to end and the end by force; a stop of the agent has to be over within 3 s.
const graceMs = 2_000;
// What a program wrote last is read, but whoever holds its pipes open after it is not waited for.
const lastWordsMs = 300;
const lookMs = 50;
// 20 MiB/s at most.
const breathBytes = 1024 * 1024;
const breathMs = 50;
const isWindows = process.platform === 'win32';

/** Runs it to its end; never throws. It returns at most some seconds after `timeoutMs` or the signal. */
export async function runHook(run: HookRun): Promise<HookEnd> {
  const output = keepOutput();
  const child = begin(run);
  if ('reason' in child) return { ...notStarted, reason: child.reason, output: output.read() };
  child.on('error', () => undefined);
  for (const pipe of [child.stdout, child.stderr]) if (pipe !== null) listen(pipe, output);
  // A program that does not read its standard input is no failure.
  child.stdin?.on('error', () => undefined).end(run.standardInput);
  const closed = Promise.withResolvers<void>();
  child.once('close', () => closed.resolve());
  const exited = exitOf(child);
  const cut = await whichEnds(exited, run);
  if (cut !== null) await endGroup(child, exited);
  // Not even by force ends what hangs in the kernel.
  const { code, signal, fault } = await (cut === null ? exited : Promise.race([exited, nobodyKnows()]));
  await Promise.race([closed.promise, delay(lastWordsMs)]);
  for (const pipe of child.stdio) pipe?.destroy();
  if (fault !== null) return { ...notStarted, reason: fault, output: output.read() };
  const outcome = cut ?? (code === 0 ? 'succeeded' : 'failed');
  return { outcome, reason: null, exitCode: code, signal, output: output.read() };
}

/** Reads at its own pace: a program that writes without end must not keep the agent from watching. */
function listen(pipe: Readable, output: OutputKeeper): void {
  let bytes = 0;
  pipe.on('error', () => undefined);
  pipe.on('data', (piece: Buffer) => {
    output.add(piece);
    bytes += piece.length;
    if (bytes < breathBytes) return;
    bytes = 0;
    pipe.pause();
    setTimeout(() => pipe.resume(), breathMs);
  });
}

const notStarted = { outcome: 'not-started', exitCode: null, signal: null } as const;

function begin({ command: [program, ...words], environment }: HookRun): ChildProcess | { reason: string } {
  try {
    return spawn(program, words, {
      cwd: isWindows ? environment['SystemRoot'] : '/',
      env: environment,
      stdio: 'pipe',
      // A group of its own: what the program starts is ended with it.
      detached: !isWindows,
      windowsHide: true,
    });
  } catch (error) {
    return { reason: codeOf(error) };
  }
}

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The system's word for why there was nothing to run. */
  readonly fault: string | null;
}

async function exitOf(child: ChildProcess): Promise<Exit> {
  try {
    const [code, signal] = await once(child, 'exit');
    return { code, signal, fault: null };
  } catch (error) {
    return { code: null, signal: null, fault: codeOf(error) };
  }
}

async function nobodyKnows(): Promise<Exit> {
  await delay(lastWordsMs);
  return { code: null, signal: null, fault: null };
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error';

/** @returns null when the program ended by itself */
async function whichEnds(exited: Promise<Exit>, { timeoutMs, clock, signal }: HookRun) {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const timer = clock
    .sleep(timeoutMs, either)
    .then(() => (signal.aborted ? ('interrupted' as const) : ('timed-out' as const)));
  const first = await Promise.race([exited.then(() => null), timer]);
  over.abort();
  return first;
}

/** Asks the whole group to end, and after a while does not ask any more. */
async function endGroup(child: ChildProcess, exited: Promise<Exit>): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  if (isWindows) {
    const taskkill = join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'taskkill.exe');
    const killer = spawn(taskkill, ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    killer.on('error', () => child.kill());
    await Promise.race([exited, delay(graceMs)]);
    return;
  }
  // The program itself may be gone long before what it has started.
  const patientUntil = performance.now() + graceMs;
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; signalGroup(pid, signal); signal = 0) {
    if (performance.now() >= patientUntil) {
      signalGroup(pid, 'SIGKILL');
      break;
    }
    await delay(lookMs);
  }
}

/** @returns whether there is anybody left in the group */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}
