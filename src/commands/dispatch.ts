// From the words on the command line to the command they name, and from how it ends to an exit code.
import { basename } from 'node:path';
import { nearest } from '../config/nearest.ts';
import { version } from '../version.ts';
import { readArguments } from './arguments.ts';
import { type CommandContext, UsageError } from './command.ts';
import { commandHelp, overview } from './help.ts';
import type { RegisteredCommand } from './registry.ts';

/** What a command gets from the process around it. */
export type Surroundings = Omit<CommandContext, 'options' | 'operands'>;

export const exitCodes = { fine: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/**
 * Runs one command line.
 * @param words the arguments behind the program's name
 * @returns the exit code; what went wrong has been said on `stderr`
 */
export async function dispatch(
  words: readonly string[],
  commands: readonly RegisteredCommand[],
  surroundings: Surroundings,
): Promise<number> {
  try {
    return await route(words, commands, surroundings);
  } catch (error) {
    const { sentence, exitCode } = await explain(error);
    surroundings.stderr.write(`seb: ${sentence}\n`);
    return exitCode;
  }
}

async function route(
  words: readonly string[],
  commands: readonly RegisteredCommand[],
  surroundings: Surroundings,
): Promise<number> {
  const [first, ...others] = words;
  if (first === '--version') return print(surroundings, `${version}\n`);
  if (first === '--help' || first === '-h') return print(surroundings, overview(commands));
  if (first === 'help') return route([...others, '--help'], commands, surroundings);
  const found = longestMatch(words, commands);
  if (found === undefined) return group(words, commands, surroundings);
  const command = await found.load();
  const rest = words.slice(found.name.split(' ').length);
  if (wantsHelp(rest)) return print(surroundings, await commandHelp(command));
  return command.run({ ...readArguments(command, rest), ...surroundings });
}

function print({ stdout }: Surroundings, text: string): number {
  stdout.write(text);
  return exitCodes.fine;
}

/** Asked for help before a lone `--`, behind which words mean themselves. */
function wantsHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? undefined : end).some((word) => word === '--help' || word === '-h');
}

function longestMatch(
  words: readonly string[],
  commands: readonly RegisteredCommand[],
): RegisteredCommand | undefined {
  return commands
    .filter(({ name }) => name.split(' ').every((word, index) => words[index] === word))
    .sort((a, b) => b.name.length - a.name.length)[0];
}

/** The words are the beginning of several commands, or of none. */
function group(
  words: readonly string[],
  commands: readonly RegisteredCommand[],
  surroundings: Surroundings,
): number {
  const spoken = words.filter((word) => !word.startsWith('-'));
  const named = spoken.join(' ');
  const members = commands.filter(({ name }) => `${name} `.startsWith(named === '' ? '' : `${named} `));
  if (members.length === 0) throw unknownCommand(spoken, commands);
  if (wantsHelp(words)) return print(surroundings, overview(members, named));
  surroundings.stderr.write(overview(members, named));
  return exitCodes.usage;
}

function unknownCommand(words: readonly string[], commands: readonly RegisteredCommand[]): UsageError {
  const names = commands.map(({ name }) => name);
  const groups = names.map((name) => name.split(' ')[0] ?? '');
  const meant = nearest(words.slice(0, 2).join(' '), names) ?? nearest(words[0] ?? '', groups);
  const hint = meant === undefined ? 'see "seb --help"' : `did you mean "seb ${meant}"?`;
  return new UsageError(`there is no command "${words.slice(0, 2).join(' ')}"; ${hint}`);
}

/**
 * What to say about an error, without a stack and without a secret.
 * The message of an error that nobody foresaw may quote a URL or a key: only its kind and place are told.
 */
export async function explain(error: unknown): Promise<{ sentence: string; exitCode: number }> {
  if (error instanceof UsageError) return { sentence: error.message, exitCode: exitCodes.usage };
  const { ConfigurationError } = await import('../config/load.ts');
  const { SecretUnreadable } = await import('../config/secret.ts');
  const { SigningUnusable } = await import('../audit/signing.ts');
  const isConfiguration = [ConfigurationError, SecretUnreadable, SigningUnusable].some(
    (kind) => error instanceof kind,
  );
  if (error instanceof Error && isConfiguration) {
    return { sentence: error.message, exitCode: exitCodes.usage };
  }
  return { sentence: unexpected(error), exitCode: exitCodes.failed };
}

function unexpected(error: unknown): string {
  if (!(error instanceof Error)) return 'unexpected failure; this is a bug, please report it';
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && typeof syscall === 'string') return `${syscall} failed: ${code}`;
  return `unexpected ${error.constructor.name}${placeOf(error)}; this is a bug, please report it`;
}

function placeOf(error: Error): string {
  const frames = (error.stack ?? '').replace(error.message, '');
  const place = /^\s+at .*?([^\s(]+:\d+):\d+\)?$/m.exec(frames)?.[1];
  return place === undefined ? '' : ` at ${basename(place)}`;
}
