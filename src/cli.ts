// The program `seb`: arguments to a command, signals to an AbortSignal, the end to an exit code.
import { dispatch, exitCodes, explain } from './commands/dispatch.ts';
import { type RegisteredCommand, registry } from './commands/registry.ts';
import { complaintOfNode } from './version.ts';

/** How long the program waits for what should be over. */
export interface ProgramLimits {
  /** For a command to end after it was asked to. */
  readonly stopMsMax: number;
  /** For what is still open when the command has returned. */
  readonly lingerMsMax: number;
}

const usualLimits: ProgramLimits = { stopMsMax: 10_000, lingerMsMax: 1_000 };
// One Ctrl-C under `npm run` arrives twice, from the terminal and from npm: that is one wish.
const sameWishMs = 250;

/**
 * Runs the program to its end.
 * @param commands what may be called
 */
export async function runProgram(
  commands: readonly RegisteredCommand[],
  limits: ProgramLimits = usualLimits,
): Promise<void> {
  endOnBugs();
  ignoreGoneReaders();
  const complaint = complaintOfNode(process.versions.node);
  if (complaint !== null) {
    process.stderr.write(`seb: ${complaint}\n`);
    process.exitCode = exitCodes.usage;
    return;
  }
  const stop = listenForSignals(limits.stopMsMax);
  const { stdout, stderr } = process;
  const { signal, onHangup } = stop;
  const code = await dispatch(process.argv.slice(2), commands, { stdout, stderr, signal, onHangup });
  process.exitCode = stop.interrupted() ? exitCodes.interrupted : code;
  setTimeout(() => process.exit(), limits.lingerMsMax).unref();
}

/** An error that nobody caught ends the program with one line: systemd starts it again. */
function endOnBugs(): void {
  process.on('uncaughtException', (error) => {
    void explain(error).then(({ sentence }) => {
      process.stderr.write(`seb: ${sentence}\n`);
      process.exit(exitCodes.failed);
    });
  });
}

/** `seb events | head` must not end in a complaint about the pipe. */
function ignoreGoneReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

function listenForSignals(stopMsMax: number) {
  const controller = new AbortController();
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  let hangup: (() => void) | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (first === undefined) {
      first = { signal, at: performance.now() };
      controller.abort();
      endAfter(stopMsMax);
    } else if (performance.now() - first.at > sameWishMs) {
      process.exit(exitCodes.interrupted);
    }
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // Ctrl-Break, which a service wrapper on Windows may send; elsewhere it does not exist.
  process.on('SIGBREAK', stop);
  // On Windows it says that the console is being closed, and the process ends with it.
  const reloads = process.platform !== 'win32';
  process.on('SIGHUP', (signal) => (hangup !== undefined && reloads ? hangup() : stop(signal)));
  return {
    signal: controller.signal,
    interrupted: () => first?.signal === 'SIGINT',
    onHangup: (listener: () => void) => {
      hangup = listener;
    },
  };
}

function endAfter(stopMsMax: number): void {
  const end = (): void => {
    process.stderr.write(`seb: did not stop within ${stopMsMax / 1000} s, ends without closing\n`);
    process.exit(exitCodes.failed);
  };
  setTimeout(end, stopMsMax).unref();
}

if (import.meta.main) void runProgram(registry);
