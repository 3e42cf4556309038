// Finds where a stream of a copy ends: from what stands there alone, so that any writer can go on.
import { parseCheckpoint } from '../../core/checkpoint.ts';
import { notesIn } from '../../core/note-list.ts';
import { textOfNote } from '../../core/signed-note.ts';
import type { StoredEntry } from '../store.ts';
import { lineBytesMax, readEntryLine } from './entry-line.ts';
import { type CopyFailure, copyFailed } from './fault.ts';
import type { ArchiveFiles, ListedFile } from './files.ts';
import { type EntriesFile, entriesName, inOrder, notesName, readName } from './layout.ts';
import { wholeLength } from './whole.ts';

/** A file that is being written. */
export interface OpenFile {
  readonly length: number;
  readonly blocks: number;
}

/** Where a stream of a copy ends. */
export interface StreamTail {
  /** Entries in the copy: the index of the next one. */
  readonly size: number;
  /** Null while there is none. */
  readonly last: StoredEntry | null;
  /** Null while there is none. */
  readonly file: (EntriesFile & OpenFile) | null;
  readonly notes: OpenFile & { readonly number: number; readonly lastSize: number };
}

export type TailResult = ({ readonly status: 'known' } & StreamTail) | CopyFailure;

const noNotes = { number: 1, length: 0, blocks: 0, lastSize: 0 };

/** Reads the end of a stream's files. */
export async function findTail(
  files: ArchiveFiles,
  stream: string,
  signal: AbortSignal,
): Promise<TailResult> {
  const listed = await files.list(`${stream}/`, signal);
  if (listed.status === 'failed') return copyFailed(listed.reason);
  const entries = await entriesTail(files, listed.files, stream, signal);
  if (entries.status === 'failed') return entries;
  const notes = await notesTail(files, listed.files, stream, signal);
  if (notes.status === 'failed') return notes;
  const { status: _known, ...rest } = notes;
  return { ...entries, notes: rest };
}

type EntriesTail = { readonly status: 'known' } & Omit<StreamTail, 'notes'>;

async function entriesTail(
  files: ArchiveFiles,
  listed: readonly ListedFile[],
  stream: string,
  signal: AbortSignal,
): Promise<EntriesTail | CopyFailure> {
  const named = entriesFilesIn(listed, stream);
  const current = named.at(-1);
  if (current === undefined) return { status: 'known', size: 0, last: null, file: null };
  const blocks = await files.blocks(entriesName(current), signal);
  if (blocks.status === 'failed') return copyFailed(blocks.reason);
  const open = { ...current, length: 0, blocks: blocks.blocks };
  // What somebody made and did not come to fill says nothing of the entries before it.
  for (const file of named.toReversed()) {
    const end = await lastLine(files, entriesName(file), file.length, signal);
    if (end.status === 'failed') return end;
    if (end.status === 'none') continue;
    const length = file === current ? end.length : 0;
    return { status: 'known', size: end.entry.index + 1, last: end.entry, file: { ...open, length } };
  }
  return { status: 'known', size: 0, last: null, file: open };
}

const isOf = (stream: string, file: EntriesFile): boolean => file.stream === stream;

/** The files of entries of one stream, in the order in which they were written. */
const entriesFilesIn = (
  listed: readonly ListedFile[],
  stream: string,
): (EntriesFile & { readonly length: number })[] =>
  listed
    .flatMap(({ name, length }) => {
      const read = readName(name);
      return read !== null && 'entries' in read && isOf(stream, read.entries)
        ? [{ ...read.entries, length }]
        : [];
    })
    .sort(inOrder);

const endLength = 64 * 1024;

type LastLine =
  | { readonly status: 'known'; readonly entry: StoredEntry; readonly length: number }
  /** It is empty, or its only line is torn. */
  | { readonly status: 'none' }
  | CopyFailure;

/** The last whole line of a file, and where it ends. */
export async function lastLine(
  files: ArchiveFiles,
  name: string,
  size: number,
  signal: AbortSignal,
): Promise<LastLine> {
  if (size === 0) return { status: 'none' };
  for (let length = endLength; ; length *= 4) {
    const from = Math.max(size - length, 0);
    const read = await readRange(files, name, { from, to: size }, signal);
    if (read.status === 'failed') return read;
    const whole = wholeLength(name, read.bytes);
    const start = whole === null || whole < 2 ? -1 : read.bytes.lastIndexOf(0x0a, whole - 2) + 1;
    if (whole !== null && (start > 0 || (start === 0 && from === 0))) {
      const reading = readEntryLine(read.bytes.toString('utf8', start, whole - 1));
      if (reading.status === 'unreadable') return copyFailed('copy-damaged', name);
      return { status: 'known', entry: reading.entry, length: from + whole };
    }
    if (from === 0 && whole === null) return { status: 'none' };
    if (from === 0 || length > lineBytesMax) return copyFailed('copy-damaged', name);
  }
}

const rangeLength = 4 * 1024 * 1024;

/** A part of a file, however long it is. */
async function readRange(
  files: ArchiveFiles,
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<{ readonly status: 'read'; readonly bytes: Buffer } | CopyFailure> {
  const parts: Uint8Array[] = [];
  for (let at = from; at < to; ) {
    const read = await files.read(name, at, Math.min(rangeLength, to - at), signal);
    if (read.status === 'failed') return copyFailed(read.reason, name);
    if (read.status === 'missing' || read.bytes.length === 0) return copyFailed('copy-damaged', name);
    parts.push(read.bytes);
    at += read.bytes.length;
  }
  return { status: 'read', bytes: Buffer.concat(parts) };
}

async function notesTail(
  files: ArchiveFiles,
  listed: readonly ListedFile[],
  stream: string,
  signal: AbortSignal,
): Promise<({ readonly status: 'known' } & StreamTail['notes']) | CopyFailure> {
  const numbered = notesFilesIn(listed, stream);
  const current = numbered.at(-1);
  if (current === undefined) return { status: 'known', ...noNotes };
  const name = notesName({ stream, number: current.number });
  const blocks = await files.blocks(name, signal);
  if (blocks.status === 'failed') return copyFailed(blocks.reason);
  const filled = numbered.findLast(({ length }) => length > 0);
  if (filled === undefined) return { status: 'known', ...noNotes, number: current.number };
  const end = await lastNote(files, notesName({ stream, number: filled.number }), filled.length, signal);
  if (end.status === 'failed') return end;
  const length = filled === current ? end.length : 0;
  return { status: 'known', number: current.number, length, blocks: blocks.blocks, lastSize: end.size };
}

/** The files of signed heads of one stream, in the order in which they were written. */
const notesFilesIn = (
  listed: readonly ListedFile[],
  stream: string,
): { readonly number: number; readonly length: number }[] =>
  listed
    .flatMap(({ name, length }) => {
      const read = readName(name);
      return read !== null && 'notes' in read && read.notes.stream === stream
        ? [{ number: read.notes.number, length }]
        : [];
    })
    .sort((one, other) => one.number - other.number);

const noteLengthMax = 2 * 1024 * 1024;

interface LastNote {
  readonly status: 'known';
  /** What it says; 0 where there is none. */
  readonly size: number;
  readonly note: string | null;
  /** Where it ends. */
  readonly length: number;
}

/** The last whole note of a file. */
export async function lastNote(
  files: ArchiveFiles,
  name: string,
  size: number,
  signal: AbortSignal,
): Promise<LastNote | CopyFailure> {
  for (let length = endLength; ; length *= 4) {
    const from = Math.max(size - length, 0);
    const read = await readRange(files, name, { from, to: size }, signal);
    if (read.status === 'failed') return read;
    const whole = wholeLength(name, read.bytes);
    const note = whole === null ? undefined : notesIn(read.bytes.toString('utf8', 0, whole)).at(-1);
    const text = note === undefined ? null : textOfNote(note);
    const head = text === null ? null : parseCheckpoint(text);
    if (whole !== null && note !== undefined && head !== null)
      return { status: 'known', size: head.size, note, length: from + whole };
    // A crash while the very first note was written.
    if (from === 0 && whole === null) return { status: 'known', size: 0, note: null, length: 0 };
    if (from === 0 || length > noteLengthMax) return copyFailed('copy-damaged', name);
  }
}
