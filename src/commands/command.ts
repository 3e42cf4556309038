// The contract of a subcommand: its help, its options and what it does.
import type { ParseArgsOptionsConfig } from 'node:util';

export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** What `--help` prints for the value, such as `FILE`. */
  readonly value?: string;
  readonly description: string;
}

export type CommandOptions = Readonly<Record<string, CommandOption>>;
export type OptionValues = Readonly<
  Record<string, string | boolean | readonly (string | boolean)[] | undefined>
>;

export interface CommandContext {
  readonly options: OptionValues;
  /** What stands after the command's own words. */
  readonly operands: readonly string[];
  /** Where a person answers; the process's own standard input unless given. */
  readonly stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Aborts on SIGINT and SIGTERM; on Windows on Ctrl-Break and a closing console as well. */
  readonly signal: AbortSignal;
  /** Has `listener` called on SIGHUP, which stops a command that does not ask for it, and any on Windows. */
  readonly onHangup?: (listener: () => void) => void;
}

export interface Command {
  /** The words behind `seb`, such as `outbox list`. */
  readonly name: string;
  readonly summary: string;
  /** What stands behind the name in the usage line, such as `EVENT_ID`; empty when nothing does. */
  readonly operands?: string;
  readonly options: CommandOptions;
  /** Whole command lines, without `seb`, each with what it shows. */
  readonly examples: readonly { readonly line: string; readonly shows: string }[];
  /** More paragraphs for `--help`, such as what an emulator does not do. */
  readonly notes?: readonly string[];
  /** The settings of the file it reads, for `--help`: each with what it does. */
  settings?(): Promise<readonly (readonly [key: string, text: string])[]>;
  /** @returns the exit code: 0 fine, 1 failed, 2 usage or configuration, 130 interrupted */
  run(context: CommandContext): Promise<number>;
}

export const defineCommand = (command: Command): Command => command;

/** A mistake in how the command was called: one sentence, exit code 2. */
export class UsageError extends Error {}

/** The shape that `util.parseArgs` wants. */
export const parseArgsOptions = (options: CommandOptions): ParseArgsOptionsConfig =>
  Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short === undefined ? {} : { short }), ...(multiple === undefined ? {} : { multiple }) },
    ]),
  );

/** The value of a string option, or undefined. */
export function textOption(context: CommandContext, name: string): string | undefined {
  const value = context.options[name];
  return typeof value === 'string' ? value : undefined;
}

/**
 * The value of a number option.
 * @throws UsageError when it is not a number within the bounds
 */
export function numberOption(
  context: CommandContext,
  name: string,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  const text = textOption(context, name);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (text.trim() !== '' && value >= min && value <= max) return value;
  throw new UsageError(`--${name} takes a number from ${min} to ${max}, not "${text}"`);
}
