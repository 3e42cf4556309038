// Runs a command line inside the test's own process and keeps what it printed.
import { dispatch } from '../../src/commands/dispatch.ts';
import { type RegisteredCommand, registry } from '../../src/commands/registry.ts';
import { TextSink } from './text-sink.ts';

export interface CommandRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * @param words the arguments behind `seb`
 * @param commands what may be called; by default all there is
 */
export async function runCommandLine(
  words: readonly string[],
  commands: readonly RegisteredCommand[] = registry,
  signal: AbortSignal = new AbortController().signal,
): Promise<CommandRun> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const exitCode = await dispatch(words, commands, { stdout, stderr, signal });
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}
