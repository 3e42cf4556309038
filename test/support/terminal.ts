// What a command is run with: a pipe or a terminal that keep what was printed.
import { WriteStream } from 'node:tty';
import type { CommandContext, OptionValues } from '../../src/commands/command.ts';
import { TextSink } from './text-sink.ts';

export interface Stage {
  readonly context: CommandContext;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
}

/** A command's surroundings with its output in a pipe, or on a terminal so many columns wide. */
export function stage(options: OptionValues, terminalColumns?: number): Stage {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  if (terminalColumns !== undefined) {
    Object.assign(stdout, { isTTY: true, columns: terminalColumns, getColorDepth });
  }
  const { signal } = new AbortController();
  return { context: { options, operands: [], stdout, stderr, signal }, stdout, stderr };
}

/** Node's own reading of a terminal that knows colours, wherever the tests run: only NO_COLOR has a say. */
function getColorDepth(): number {
  const { NO_COLOR } = process.env;
  const wishes = NO_COLOR === undefined ? {} : { NO_COLOR };
  return WriteStream.prototype.getColorDepth({ TERM: 'xterm-256color', ...wishes });
}
