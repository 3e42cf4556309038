// Reads a configuration file, and turns what is wrong with it into sentences a person can act on.
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type * as z from 'zod';
import { faultSentence, hintFor } from './fault-sentence.ts';

/** Why a file cannot be used: one line per fault, each with its path. */
export class ConfigurationError extends Error {
  readonly faults: readonly string[];

  constructor(place: string, faults: readonly string[]) {
    super([`${place} cannot be used:`, ...faults.map((fault) => `  ${fault}`)].join('\n'));
    this.faults = faults;
  }
}

/**
 * Reads and validates a YAML (or JSON) file.
 * @throws ConfigurationError
 */
export function loadConfiguration<Schema extends z.ZodType>(path: string, schema: Schema): z.output<Schema> {
  return validateConfiguration(readConfiguration(path), path, schema);
}

/**
 * Reads a YAML (or JSON) file without judging what it says: its secrets stand open in the result.
 * @throws ConfigurationError when it cannot be read or is not YAML
 */
export const readConfiguration = (path: string): unknown => readYaml(readText(path), path);

/**
 * Validates the text of a configuration file.
 * @param place named in the error
 * @throws ConfigurationError
 */
export function parseConfiguration<Schema extends z.ZodType>(
  text: string,
  place: string,
  schema: Schema,
): z.output<Schema> {
  return validateConfiguration(readYaml(text, place), place, schema);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const advice = code === 'EACCES' ? 'this user may not read it' : 'give its path with -c FILE';
    throw new ConfigurationError(path, [`the file cannot be read (${code}); ${advice}`]);
  }
}

function readYaml(text: string, place: string): unknown {
  // A YAML error would quote the line it stands on, and that line may hold a secret: say only where.
  // So would the parser's own warnings, on standard error.
  const document = parseDocument(text, { logLevel: 'error' });
  const fault = document.errors[0];
  if (fault !== undefined) {
    const at = fault.linePos?.[0];
    throw new ConfigurationError(place, [
      `line ${at?.line ?? '?'}, column ${at?.col ?? '?'}: not valid YAML (${fault.code})`,
    ]);
  }
  try {
    return document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch {
    throw new ConfigurationError(place, ['an alias (*name) has no anchor before it, or there are too many']);
  }
}

/**
 * Judges what a file says.
 * @param content as `readConfiguration` gave it
 * @param place named in the error
 * @throws ConfigurationError
 */
export function validateConfiguration<Schema extends z.ZodType>(
  content: unknown,
  place: string,
  schema: Schema,
): z.output<Schema> {
  const parsed = schema.safeParse(content, { error: sentenceOf });
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(place, parsed.error.issues.flatMap(faultsOf));
}

/** One sentence, or one line for each unknown name: only here the schema is at hand that could have known it. */
function sentenceOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'unrecognized_keys') return faultSentence(issue);
  return issue.keys.map((key) => unknownName(key, issue.inst)).join('\n');
}

function unknownName(key: string, schema: unknown): string {
  const shown = nameOf(key);
  return `there is no setting "${shown}" here${shown === key ? hintFor(key, schema) : ''}`;
}

function faultsOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.length === 0 ? '(top level)' : issue.path.map(nameOf).join('.');
  // What is wrong with a name stands one level deeper.
  const sentences =
    issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message) : [issue.message];
  return sentences.flatMap((text) => text.split('\n')).map((line) => `${path}: ${line}`);
}

/** A key as it may be shown: `{ https://… }`, or a whole header where its name should be, makes a key of a secret. */
const nameOf = (key: PropertyKey): string => (/^[\w@$.-]{0,30}$/.test(String(key)) ? String(key) : '…');
