// Reads a copy of a trail as it stood at one moment, so that it can be verified and proven without the store.
import { streamKind } from '../../core/stream.ts';
import { type SourceStream, type TrailSource, TrailUnusable } from '../store.ts';
import type { CopyFailure } from './fault.ts';
import type { ArchiveFiles, ListedFile } from './files.ts';
import { type FoundFaults, openFaults } from './found-faults.ts';
import { readIdentities } from './identity.ts';
import { type EntriesFile, entriesName, identityName, inOrder, notesName, readName } from './layout.ts';
import { unreadable } from './pieces.ts';
import { type Reading, readEntries } from './read-entries.ts';
import { readNotes } from './read-notes.ts';
import { lastLine, lastNote } from './tail.ts';

interface StreamFiles {
  readonly entries: (EntriesFile & { readonly length: number })[];
  readonly notes: { readonly number: number; readonly length: number }[];
}

/**
 * Opens a copy; it owns `files` from now on.
 * @throws TrailUnusable when it cannot be read, or is none
 */
export async function openArchiveSource(files: ArchiveFiles): Promise<TrailSource> {
  await using owned = new AsyncDisposableStack();
  owned.use(files);
  const ending = new AbortController();
  owned.defer(() => ending.abort());
  const reading: Reading = { files, faults: openFaults(), signal: ending.signal };
  const listed = await listAtOneMoment(reading);
  const streams = streamFiles(listed, reading.faults);
  const trail = await identityOf(reading, [...streams.keys()]);
  if (trail === null && streams.size === 0) {
    throw new TrailUnusable(`${files.place} holds no copy of a trail`);
  }
  const of = (stream: string): StreamFiles => streams.get(stream) ?? { entries: [], notes: [] };
  const running = owned.move();
  return {
    place: files.place,
    trail,
    streams: () => Promise.all([...streams].map(([name, named]) => streamOf(reading, name, named))),
    entries: (stream, from = 0) => readEntries(reading, of(stream).entries, from),
    notes: (stream, from = 0) => readNotes(reading, stream, of(stream).notes, from),
    check: null,
    find: null,
    faults: () => reading.faults.all(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * A writer may be at work. Seals speak of entries and heads of entries, and both are written behind them: so their
 * lengths are those of a first look, and those of all other files of a second one.
 */
async function listAtOneMoment({ files, signal }: Reading): Promise<readonly ListedFile[]> {
  const first = await files.list('', signal);
  if (first.status === 'failed') throw unreadable(files, first);
  const second = await files.list('', signal);
  if (second.status === 'failed') throw unreadable(files, second);
  const lengths = new Map(first.files.map(({ name, length }) => [name, length]));
  return second.files.flatMap((file) => {
    if (!isBehindOthers(file.name)) return [file];
    const length = lengths.get(file.name);
    return length === undefined ? [] : [{ name: file.name, length }];
  });
}

function isBehindOthers(name: string): boolean {
  const read = readName(name);
  return read !== null && ('notes' in read || streamKind(read.entries.stream) === 'seal');
}

function streamFiles(listed: readonly ListedFile[], faults: FoundFaults): Map<string, StreamFiles> {
  const streams = new Map<string, StreamFiles>();
  const of = (stream: string): StreamFiles => {
    const known = streams.get(stream) ?? { entries: [], notes: [] };
    streams.set(stream, known);
    return known;
  };
  for (const { name, length } of listed) {
    const read = readName(name);
    if (read === null && name !== identityName) faults.within(name, null).add('foreign-file', 0);
    if (read !== null && 'entries' in read) of(read.entries.stream).entries.push({ ...read.entries, length });
    if (read !== null && 'notes' in read) of(read.notes.stream).notes.push({ ...read.notes, length });
  }
  for (const { entries, notes } of streams.values()) {
    entries.sort(inOrder);
    notes.sort((one, other) => one.number - other.number);
    nameHoles(entries, faults);
  }
  return streams;
}

/** The files of a day are numbered without a hole: another number means that one was renamed or taken away. */
function nameHoles(entries: readonly EntriesFile[], faults: FoundFaults): void {
  for (const [place, file] of entries.entries()) {
    const before = entries[place - 1];
    const expected = before?.day === file.day ? before.number + 1 : 1;
    if (file.number !== expected) faults.within(entriesName(file), file.stream).add('misplaced-file', 0);
  }
}

async function identityOf(
  { files, faults, signal }: Reading,
  streams: readonly string[],
): Promise<string | null> {
  const known = await readIdentities(files, signal);
  if (known.status === 'failed' && known.reason !== 'copy-damaged') throw unusable(files, known);
  const said = known.status === 'known' ? known.ids.at(-1) : undefined;
  if (said !== undefined) return said;
  if (streams.length > 0) faults.within(identityName, null).add('no-identity', 0);
  // What it should have said can be told by the folders, unless there are several.
  const ids = new Set(streams.flatMap((name) => /^trail\/([^/]+)\/(?:journal|seal)$/.exec(name)?.[1] ?? []));
  const [only] = ids;
  return ids.size === 1 && only !== undefined ? only : null;
}

const unusable = (files: ArchiveFiles, { reason }: CopyFailure): TrailUnusable =>
  new TrailUnusable(`the copy of the trail in ${files.place} cannot be read (${reason})`);

/** What its files say of a stream: as many entries as its last line or its last head says, whichever is more. */
async function streamOf(reading: Reading, name: string, named: StreamFiles): Promise<SourceStream> {
  const size = await sizeOf(reading, named);
  const head = await headOf(reading, name, named);
  const isNewest = head !== null && head.size >= size;
  return {
    ...{ name, kind: streamKind(name), root: null },
    ...{ size: Math.max(size, head?.size ?? 0), note: isNewest ? head.note : null },
  };
}

async function sizeOf({ files, signal }: Reading, { entries }: StreamFiles): Promise<number> {
  for (const file of entries.toReversed()) {
    const end = await lastLine(files, entriesName(file), file.length, signal);
    if (end.status === 'known') return end.entry.index + 1;
    // What stands there is named when the entries are read.
    if (end.status === 'failed' && end.reason !== 'copy-damaged') throw unusable(files, end);
  }
  return 0;
}

async function headOf({ files, signal }: Reading, stream: string, { notes }: StreamFiles) {
  for (const { number, length } of notes.toReversed()) {
    const end = await lastNote(files, notesName({ stream, number }), length, signal);
    if (end.status === 'failed' && end.reason !== 'copy-damaged') throw unusable(files, end);
    if (end.status === 'known' && end.note !== null) return { size: end.size, note: end.note };
  }
  return null;
}
