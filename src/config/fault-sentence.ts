// Says in plain words what is wrong with a setting that no schema has words of its own for.
import * as z from 'zod';
import { nearest } from './nearest.ts';

// More than this is a page to read, not a hint.
const listedMax = 8;

const kinds: Readonly<Record<string, string>> = {
  string: 'a text; numbers and dates need quotes to be one',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping, names with a value each',
  record: 'a mapping, names with a value each',
};

/**
 * The sentence for a fault, without its place. Never quotes what stands there: it may be a secret.
 * @returns undefined where the schema's own words are the best there are
 */
export function faultSentence(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'This setting is needed';
  if (issue.code === 'invalid_type') return `Expected ${kinds[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `Expected one of ${issue.values.join(', ')}`;
  if (issue.code === 'too_small') return tooSmall(issue.origin, Number(issue.minimum));
  if (issue.code === 'too_big') return `Must be at most ${issue.maximum}${unitOf(issue.origin)}`;
  return undefined;
}

const tooSmall = (origin: string, minimum: number): string =>
  minimum === 1 && unitOf(origin) !== ''
    ? 'Must not be empty'
    : `Must be at least ${minimum}${unitOf(origin)}`;

const unitOf = (origin: string): string =>
  ({ string: ' characters long', array: ' entries long' })[origin] ?? '';

/**
 * What was probably meant by a name that no setting has, to be put behind a sentence.
 * @param schema the one that does not know the name
 */
export function hintFor(name: string, schema: unknown): string {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const meant = nearest(name, known);
  if (meant !== undefined) return `; did you mean "${meant}"?`;
  return known.length > 0 && known.length <= listedMax ? `; there are ${known.join(', ')}` : '';
}
