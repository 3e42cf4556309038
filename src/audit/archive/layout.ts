// Where everything of a copy is: a folder for each stream, a file for each day, signed heads beside them.

/** The file that says whose copy it is: one line for each id the trail had, the last one counts. */
export const identityName = 'trail.json';
const identitySchema = 'seb.trail.v1';

export const identityLine = (trail: string): string =>
  `${JSON.stringify({ schema: identitySchema, trail })}\n`;

/** The ids in the text of `trail.json`, the first one first; null when it is not that. */
export function identitiesIn(text: string): readonly string[] | null {
  const lines = text.split('\n');
  if (lines.pop() !== '') return null;
  const ids = lines.map(identityOf);
  return ids.length > 0 && ids.every((id) => id !== null) ? ids : null;
}

function identityOf(line: string): string | null {
  try {
    const said = JSON.parse(line);
    return said.schema === identitySchema && typeof said.trail === 'string' ? said.trail : null;
  } catch {
    return null;
  }
}

/** A file of entries: its day, UTC, as `2026/11/10`, and its number within the day, from 1. */
export interface EntriesFile {
  readonly stream: string;
  readonly day: string;
  readonly number: number;
}

/** A file of signed heads, and its number, from 1. */
export interface NotesFile {
  readonly stream: string;
  readonly number: number;
}

/**
 * Whether a stream's name can be a folder: names of streams are made of encoded parts, and what is not
 * could lead out of the copy.
 */
export const isFolderName = (stream: string): boolean =>
  stream.length <= 1_000 &&
  stream.split('/').every((part) => /^[\w.~%!'()*-]{1,255}$/.test(part) && !/^\.{1,2}$/.test(part));

const lastDayMs = Date.UTC(9999, 11, 31);

/** The day at which the hub stored an entry. A time that no calendar has gives the first day there is. */
export function dayOf(enqueuedMs: number): string {
  const known = enqueuedMs >= 0 && enqueuedMs <= lastDayMs ? enqueuedMs : 0;
  return new Date(known).toISOString().slice(0, 10).replaceAll('-', '/');
}

const padded = (number: number): string => String(number).padStart(3, '0');

export const entriesName = ({ stream, day, number }: EntriesFile): string =>
  `${stream}/${day}/entries-${padded(number)}.jsonl`;

export const notesName = ({ stream, number }: NotesFile): string =>
  `${stream}/checkpoints${number === 1 ? '' : `-${padded(number)}`}.notes`;

/** What a name means; null when no file of a copy is named so. */
export function readName(name: string): { entries: EntriesFile } | { notes: NotesFile } | null {
  const [, stream = '', day = '', number] =
    /^(.+)\/(\d{4}\/\d{2}\/\d{2})\/entries-(\d{3,})\.jsonl$/.exec(name) ?? [];
  const entries = { stream, day, number: Number(number) };
  if (number !== undefined) return isFolderName(stream) && entriesName(entries) === name ? { entries } : null;
  const [, owner, noteNumber = '1'] = /^(.+)\/checkpoints(?:-(\d{3,}))?\.notes$/.exec(name) ?? [];
  if (owner === undefined) return null;
  const notes = { stream: owner, number: Number(noteNumber) };
  return isFolderName(owner) && notesName(notes) === name ? { notes } : null;
}

/** The order in which files of one stream were written. */
export const inOrder = (one: EntriesFile, other: EntriesFile): number =>
  one.day === other.day ? one.number - other.number : one.day < other.day ? -1 : 1;
