// Reads a command's options and operands, and says in one sentence what is wrong with them.
import { parseArgs } from 'node:util';
import { nearest } from '../config/nearest.ts';
import { type Command, type OptionValues, parseArgsOptions, UsageError } from './command.ts';

export interface Arguments {
  readonly options: OptionValues;
  readonly operands: readonly string[];
}

/**
 * @param words what stands behind the command's name
 * @throws UsageError
 */
export function readArguments(command: Command, words: readonly string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options: parseArgsOptions(command.options),
      allowPositionals: true,
    });
    checkOperands(command, positionals);
    return { options: values, operands: positionals };
  } catch (error) {
    throw error instanceof TypeError ? mistakeIn(command, error) : error;
  }
}

/** Node's own message goes on about positional arguments; its first sentence is enough. */
function mistakeIn(command: Command, error: TypeError): UsageError {
  const unknown = /^Unknown option '(-[^']*)'/.exec(error.message)?.[1];
  if (unknown === undefined) return new UsageError(error.message.split('. ')[0] ?? error.message);
  const meant = nearest(unknown.replace(/^-+/, ''), Object.keys(command.options));
  const hint = meant === undefined ? '' : `; did you mean --${meant}?`;
  return new UsageError(`"seb ${command.name}" has no option ${unknown}${hint}`);
}

/** `A [B] [C...]` says: A must stand there, B may, and any number of C. */
function checkOperands(command: Command, operands: readonly string[]): void {
  const expected = (command.operands ?? '').split(' ').filter((word) => word !== '');
  const missing = expected.filter((word) => !word.startsWith('['))[operands.length];
  if (missing !== undefined) throw new UsageError(`"seb ${command.name}" needs ${missing}`);
  if (/(\.\.\.|…)\]?$/.test(command.operands ?? '')) return;
  const extra = operands[expected.length];
  if (extra !== undefined) throw new UsageError(`"seb ${command.name}" has no use for "${extra}"`);
}
