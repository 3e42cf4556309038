// Copies what is new of a trail into files, stream by stream: entries first, then the signed heads that cover them.
import { streamKind } from '../../core/stream.ts';
import type { SourceStream, TrailSource } from '../store.ts';
import { TrailUnusable } from '../store.ts';
import { copyEntries } from './copy-entries.ts';
import { copyNotes } from './copy-notes.ts';
import { type CopyFailure, copyFailed } from './fault.ts';
import type { ArchiveFiles } from './files.ts';
import { claimFiles } from './identity.ts';
import { isFolderName } from './layout.ts';
import { findTail, type StreamTail } from './tail.ts';

export interface CopyOptions {
  readonly signal: AbortSignal;
  /** How much one call copies, so that the trail is not held open for long; it may be a little more. */
  readonly lengthMax?: number;
  /** Whether the newest signed head of each stream is kept too, and not only those that seals named. */
  readonly heads?: 'all' | 'local';
}

/** What one call copied. */
export interface Copied {
  readonly entries: number;
  readonly bytes: number;
}

export type CopyResult =
  /** `done`: nothing of the source is missing in the copy. `more`: the limit was reached. */
  ({ readonly status: 'done' | 'more' } & Copied) | CopyFailure;

/** Writes one copy; it remembers where each stream ended, and looks again when another writer moved it. */
export interface ArchiveWriter {
  /** Nothing is thrown: what fails is a value, and the next call goes on behind what was written. */
  copy(source: TrailSource, options: CopyOptions): Promise<CopyResult>;
}

const lengthMaxUsual = 64 * 1024 * 1024;

/** What the copy of one stream takes along. */
export interface Copying {
  readonly files: ArchiveFiles;
  readonly source: TrailSource;
  readonly signal: AbortSignal;
  /** What may still be written. */
  readonly budget: { left: number };
  readonly counts: { -readonly [Name in keyof Copied]: Copied[Name] };
}

export type Step = { readonly status: 'done' | 'more' | 'moved'; readonly tail: StreamTail } | CopyFailure;

export function openArchiveWriter(files: ArchiveFiles): ArchiveWriter {
  const tails = new Map<string, StreamTail>();
  return {
    copy: async (source, { signal, lengthMax = lengthMaxUsual, heads = 'local' }) => {
      const counts = { entries: 0, bytes: 0 };
      const copying = { files, source, signal, budget: { left: lengthMax }, counts };
      try {
        const result = await copyAll(copying, tails, heads);
        // What was remembered may be what is wrong.
        if (result.status === 'failed') tails.clear();
        return result.status === 'failed' ? result : { ...result, ...counts };
      } catch (error) {
        tails.clear();
        if (signal.aborted) return copyFailed('aborted');
        if (error instanceof TrailUnusable) return copyFailed('trail-unreadable');
        throw error;
      }
    },
  };
}

async function copyAll(
  copying: Copying,
  tails: Map<string, StreamTail>,
  heads: 'all' | 'local',
): Promise<{ readonly status: 'done' | 'more' } | CopyFailure> {
  const streams = inCopyOrder(await copying.source.streams());
  const refused = streams.find(({ name }) => !isFolderName(name));
  if (refused !== undefined) return copyFailed('trail-damaged', JSON.stringify(refused.name));
  const claimed = await claimFiles(copying, streams);
  if (claimed.status === 'failed') return claimed;
  for (const stream of streams) {
    const result = await copyStream(copying, stream, tails, heads);
    // What comes behind speaks of this stream: it would speak of what is not there.
    if (result.status !== 'done') return result;
  }
  return { status: 'done' };
}

const places = { hub: 0, journal: 1, seal: 2 };

/** Seals last: what they name is there before them, whenever this breaks off. */
const inCopyOrder = (streams: readonly SourceStream[]): readonly SourceStream[] =>
  streams.toSorted(
    (one, other) =>
      places[streamKind(one.name)] - places[streamKind(other.name)] || (one.name < other.name ? -1 : 1),
  );

// Each time another writer was quicker; then it is its turn for now.
const triesMax = 5;

async function copyStream(
  copying: Copying,
  stream: SourceStream,
  tails: Map<string, StreamTail>,
  heads: 'all' | 'local',
): Promise<{ readonly status: 'done' | 'more' } | CopyFailure> {
  const withHead = heads === 'all' || stream.kind !== 'hub';
  for (let tries = 0; tries < triesMax; tries += 1) {
    const known = tails.get(stream.name);
    const tail = known ?? (await findTail(copying.files, stream.name, copying.signal));
    if ('status' in tail && tail.status === 'failed') return tail;
    const entries = await copyEntries(copying, stream, tail as StreamTail);
    if (entries.status === 'failed') return entries;
    const step =
      entries.status === 'done' ? await copyNotes(copying, stream, entries.tail, withHead) : entries;
    if (step.status === 'failed') return step;
    tails.set(stream.name, step.tail);
    if (step.status !== 'moved') return { status: step.status };
    tails.delete(stream.name);
  }
  return { status: 'more' };
}
