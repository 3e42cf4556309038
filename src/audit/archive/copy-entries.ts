// Copies the entries of one stream behind the last one that the copy has.

import { blocksMax } from '../../blobs/append-blobs.ts';
import type { SourceStream, StoredEntry } from '../store.ts';
import { entryLine } from './entry-line.ts';
import { type CopyFailure, copyFailed } from './fault.ts';
import { appendLength } from './files.ts';
import { dayOf, entriesName } from './layout.ts';
import type { StreamTail } from './tail.ts';
import type { Copying, Step } from './writer.ts';

/**
 * Where a file ends and the next one begins. Two writers must agree on that, so it depends on nothing but what
 * stands in the file: it may grow beyond this by the line that crosses it.
 */
export const fileLengthMax = 64 * 1024 * 1024;

type Open = NonNullable<StreamTail['file']>;

/** Lines that wait to be written into one file. */
interface Pending {
  file: Open;
  lines: Buffer[];
  length: number;
  last: StoredEntry | null;
}

/** @param from where the copy of this stream ends */
export async function copyEntries(copying: Copying, stream: SourceStream, from: StreamTail): Promise<Step> {
  // The last one again, to be compared.
  const begin = Math.max(from.size - 1, 0);
  if (stream.size <= begin) return { status: 'done', tail: from };
  const pending = openPending(stream.name, from.file);
  const state = { tail: from };
  for await (const chunk of copying.source.entries(stream.name, begin)) {
    copying.signal.throwIfAborted();
    for (const entry of chunk) {
      const step = await take(copying, pending, state, entry);
      if (step !== null) return step;
    }
  }
  const flushed = await flush(copying, pending, state);
  return flushed ?? missingOf(stream, state.tail) ?? { status: 'done', tail: state.tail };
}

const missingOf = ({ name, size }: SourceStream, tail: StreamTail): CopyFailure | null =>
  tail.size < size ? copyFailed('trail-damaged', name) : null;

function openPending(stream: string, file: StreamTail['file']): Pending {
  // Every day is later than this one: the first entry opens a file of its own.
  const none = { stream, day: '', number: 0, length: 0, blocks: 0 };
  return { file: file ?? none, lines: [], length: 0, last: null };
}

interface State {
  tail: StreamTail;
}

/** @returns null to go on */
async function take(
  copying: Copying,
  pending: Pending,
  state: State,
  entry: StoredEntry,
): Promise<Step | null> {
  const { last, size } = state.tail;
  const next = pending.last === null ? size : pending.last.index + 1;
  if (last !== null && entry.index === last.index && pending.last === null)
    return isSame(entry, last) ? null : copyFailed('copy-differs', pending.file.stream);
  if (entry.index !== next) return copyFailed('trail-damaged', pending.file.stream);
  if (isOver(pending, entry)) {
    const step = await flush(copying, pending, state);
    if (step !== null) return step;
    pending.file = fileBehind(pending.file, entry);
  }
  const line = Buffer.from(entryLine(entry), 'utf8');
  // A line of its own beside others that already fill an append.
  if (pending.length + line.length > appendLength && pending.length > 0) {
    const step = await flush(copying, pending, state);
    if (step !== null) return step;
  }
  pending.lines.push(line);
  pending.length += line.length;
  pending.last = entry;
  return null;
}

const isSame = (one: StoredEntry, other: StoredEntry): boolean =>
  one.sequenceNumber === other.sequenceNumber &&
  one.enqueuedMs === other.enqueuedMs &&
  Buffer.compare(one.bodySha256, other.bodySha256) === 0;

const isOver = ({ file, length }: Pending, entry: StoredEntry): boolean =>
  dayOf(entry.enqueuedMs) > file.day || file.length + length >= fileLengthMax || file.blocks >= blocksMax;

/** The hub's times may be a little out of order: a file never goes back to an earlier day. */
function fileBehind({ stream, day, number }: Open, entry: StoredEntry): Open {
  const today = dayOf(entry.enqueuedMs);
  const next = today > day ? { day: today, number: 1 } : { day, number: number + 1 };
  return { stream, ...next, length: 0, blocks: 0 };
}

/** Writes what waits. @returns null when it stands */
async function flush(copying: Copying, pending: Pending, state: State): Promise<Step | null> {
  const { file, lines, last } = pending;
  if (last === null || lines.length === 0) return null;
  const name = entriesName(file);
  const answer = await copying.files.append(name, Buffer.concat(lines), file.length, copying.signal);
  if (answer.status === 'failed') return copyFailed(answer.reason, name);
  // Another writer, a lost answer to this very append, or a file that takes no more: what stands there tells.
  if (answer.status !== 'appended') return { status: 'moved', tail: state.tail };
  pending.file = { ...file, length: answer.length, blocks: answer.blocks };
  copying.counts.entries += lines.length;
  copying.counts.bytes += pending.length;
  copying.budget.left -= pending.length;
  state.tail = { ...state.tail, size: last.index + 1, last: { ...last, body: null }, file: pending.file };
  Object.assign(pending, { lines: [], length: 0 });
  return copying.budget.left > 0 ? null : { status: 'more', tail: state.tail };
}
