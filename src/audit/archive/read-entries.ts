// Reads the entries of one stream of a copy, file by file, and names every line that is none.
import { isUtf8 } from 'node:buffer';
import type { StoredEntry } from '../store.ts';
import { lineBytesMax, readEntryLine } from './entry-line.ts';
import type { ArchiveFiles } from './files.ts';
import type { FileFaults, FoundFaults } from './found-faults.ts';
import { dayOf, type EntriesFile, entriesName } from './layout.ts';
import { isGrowing, type Piece, readPieces } from './pieces.ts';

type File = EntriesFile & { readonly length: number };

/** What is read, and with what. */
export interface Reading {
  readonly files: ArchiveFiles;
  readonly faults: FoundFaults;
  readonly signal: AbortSignal;
}

const chunkLength = 500;

/** Entries as they stand there, whatever their indexes; those below `from` are left out. */
export async function* readEntries(
  reading: Reading,
  named: readonly File[],
  from: number,
): AsyncGenerator<readonly StoredEntry[]> {
  const first = from === 0 ? 0 : await fileOf(reading, named, from);
  for (const [place, file] of named.entries()) {
    if (place < first) continue;
    const isLast = place === named.length - 1;
    for await (const entries of readFile(reading, file, isLast)) {
      const wanted = from === 0 ? entries : entries.filter(({ index }) => index >= from);
      for (let at = 0; at < wanted.length; at += chunkLength) yield wanted.slice(at, at + chunkLength);
    }
  }
}

/** The last file that begins at or below an index; what is damaged is looked at from the file before it. */
async function fileOf(reading: Reading, named: readonly File[], from: number): Promise<number> {
  for (let place = named.length - 1; place > 0; place -= 1) {
    const file = named[place];
    if (file === undefined) continue;
    for await (const [entry] of readFile({ ...reading, faults: unheard }, file, false)) {
      if (entry !== undefined && entry.index <= from) return place;
      break;
    }
  }
  return 0;
}

const unheard: FoundFaults = { within: () => ({ add: () => undefined }), all: () => [] };

async function* readFile(
  { files, faults, signal }: Reading,
  file: File,
  isLast: boolean,
): AsyncGenerator<readonly StoredEntry[]> {
  const name = entriesName(file);
  const found = faults.within(name, file.stream);
  const state = { file, found, line: 0, isEmpty: true };
  let skipping = false;
  for await (const piece of readPieces(
    files,
    { name, length: file.length },
    { pieceMax: lineBytesMax, signal },
  )) {
    if (piece.kind === 'endless') {
      if (!skipping) found.add('endless-line', state.line + 1);
      skipping = true;
    } else if (piece.kind === 'torn') {
      const known = skipping || (isLast && (await isGrowing(files, { name, length: file.length }, signal)));
      if (!known) found.add('torn-line', state.line + 1);
    } else {
      yield entriesIn(state, skipping ? behindFirstLine(piece) : piece.bytes);
      skipping = false;
    }
  }
}

const behindFirstLine = ({ bytes }: Piece): Buffer => bytes.subarray(bytes.indexOf(0x0a) + 1);

interface State {
  readonly file: File;
  readonly found: FileFaults;
  line: number;
  /** Whether no entry of the file was read yet. */
  isEmpty: boolean;
}

function entriesIn(state: State, bytes: Buffer): StoredEntry[] {
  const entries: StoredEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    state.line += 1;
    const entry = entryIn(state, bytes.subarray(at, end));
    if (entry !== null) entries.push(entry);
    at = end + 1;
  }
  return entries;
}

function entryIn(state: State, line: Buffer): StoredEntry | null {
  const { file, found } = state;
  const reading = readEntryLine(line.toString('utf8'));
  if (reading.status === 'unreadable') {
    found.add('unreadable-line', state.line);
    return null;
  }
  // Also bytes that are no UTF-8, which reading would replace.
  if (reading.status === 'rewritten' || !isUtf8(line)) found.add('rewritten-line', state.line);
  const day = dayOf(reading.entry.enqueuedMs);
  // The first entry of a day makes its first file; later ones may be a little older, and never younger.
  if (day > file.day || (state.isEmpty && file.number === 1 && day !== file.day)) {
    found.add('misplaced-file', state.line);
  }
  state.isEmpty = false;
  return reading.entry;
}
