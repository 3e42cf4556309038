// A child process that a test starts, reads and ends; it never outlives the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface RunningProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly output: () => { readonly stdout: string; readonly stderr: string };
  /** Waits until standard output or standard error holds `text`. */
  until(text: string): Promise<void>;
  /** Waits for the end: the exit code, or null when a signal ended it. */
  ended(): Promise<number | null>;
}

/**
 * Starts a program.
 * @param args of this test's own Node, unless `program` says what else to start
 */
export function startNode(
  args: readonly string[],
  { cwd, env, program = process.execPath }: { cwd?: string; env?: NodeJS.ProcessEnv; program?: string } = {},
): RunningProcess {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
    env: env ?? plainEnvironment(),
  });
  const kept = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    kept.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    kept.stderr += text;
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const has = (text: string) => kept.stdout.includes(text) || kept.stderr.includes(text);
  return {
    child,
    output: () => ({ ...kept }),
    until: async (text) => {
      while (!has(text)) {
        const heard = new AbortController();
        const { signal } = heard;
        const over = await Promise.race([
          closed.then(() => !has(text)),
          once(child.stdout, 'data', { signal }).then(() => false),
          once(child.stderr, 'data', { signal }).then(() => false),
        ]);
        // What spoke is heard: without this, a talkative child leaves a listener behind with each word.
        heard.abort();
        if (over) throw new Error(`ended without "${text}": ${kept.stdout}${kept.stderr}`);
      }
    },
    ended: async () => (await closed)[0],
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/** Runs a program to its end. */
export async function runNode(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
) {
  await using running = startNode(args, options);
  const exitCode = await running.ended();
  return { exitCode, ...running.output() };
}

/** This process's environment, but for the wish of a terminal that runs the tests to have everything coloured. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _, ...others } = process.env;
  return others;
}
