// Reads `{{ path | filter | filter:argument }}` out of a text.

/** What a filter was given behind its colon; undefined when there is none. */
export type FilterArgument = string | number | boolean | null | undefined;

/** One filter as a template names it. */
export interface FilterCall {
  readonly name: string;
  readonly argument: FilterArgument;
}

/** A place in the record, and what is done with the value that stands there. */
export interface Placeholder {
  /** Empty for the record as a whole. */
  readonly path: readonly string[];
  readonly filters: readonly FilterCall[];
}

/** A text in pieces: what is sent as it stands, and what is filled in. */
export type Part = string | Placeholder;

// A quoted text may hold braces and bars; nothing else may. The two alternatives never begin alike, so that no text
// takes long to match.
const braces = /\{\{((?:[^{}"]|"(?:[^"\\]|\\.)*")*)\}\}/gs;
const betweenBars = /(?:[^|"]|"(?:[^"\\]|\\.)*")+/gs;
const wholeRecord = '.';
const wordOfPath = /^[A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\])*$/;

/**
 * Takes a text apart.
 * @returns null when it holds a `{{` that begins no placeholder
 */
export function partsOf(text: string): readonly Part[] | null {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(braces)) {
    const placeholder = placeholderOf(match[1] ?? '');
    if (placeholder === null) return null;
    parts.push(text.slice(end, match.index), placeholder);
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts.some((part) => isText(part) && part.includes('{{'))
    ? null
    : parts.filter((part) => part !== '');
}

/** Whether a part is sent as it stands. */
export const isText = (part: Part): part is string => typeof part === 'string';

function placeholderOf(inside: string): Placeholder | null {
  const pieces = inside.match(betweenBars) ?? [];
  // A bar with nothing on one of its sides leaves no piece there.
  if (pieces.join('|') !== inside) return null;
  const [path = '', ...calls] = pieces.map((piece) => piece.trim());
  const filters = calls.map(callOf).filter((call) => call !== null);
  if (filters.length < calls.length) return null;
  if (path === wholeRecord) return { path: [], filters };
  return wordOfPath.test(path) ? { path: path.match(/[\w-]+/g) ?? [], filters } : null;
}

function callOf(text: string): FilterCall | null {
  const [, name, given] = /^([A-Za-z]+)\s*(?::(.*))?$/s.exec(text) ?? [];
  if (name === undefined) return null;
  const argument = given === undefined ? undefined : argumentOf(given.trim());
  return argument === malformed ? null : { name, argument };
}

const malformed = Symbol('malformed');

/** A bare argument is text, unless it reads as a number, `true`, `false` or `null`; a quoted one is always text. */
function argumentOf(text: string): FilterArgument | typeof malformed {
  const isJson = /^(?:".*"|-?\d+(?:\.\d+)?|true|false|null)$/s.test(text);
  if (!isJson) return text.includes('"') || text === '' ? malformed : text;
  try {
    return JSON.parse(text);
  } catch {
    return malformed;
  }
}
