// Copies the signed heads of one stream, as far as the copy has the entries that they cover.
import { blocksMax } from '../../blobs/append-blobs.ts';
import { listedNote } from '../../core/note-list.ts';
import type { PinnedNote, SourceStream } from '../store.ts';
import { copyFailed } from './fault.ts';
import { appendLength } from './files.ts';
import { notesName } from './layout.ts';
import type { StreamTail } from './tail.ts';
import type { Copying, Step } from './writer.ts';

/** @param withHead whether the stream's newest head is kept too, which no seal has named yet */
export async function copyNotes(
  copying: Copying,
  stream: SourceStream,
  from: StreamTail,
  withHead: boolean,
): Promise<Step> {
  const waiting: PinnedNote[] = [];
  let tail = from;
  const flush = async (): Promise<Step | null> => {
    const step = await write(copying, stream.name, tail, waiting.splice(0));
    if (step.status !== 'done') return step;
    tail = step.tail;
    return null;
  };
  for await (const chunk of copying.source.notes(stream.name, from.notes.lastSize + 1)) {
    copying.signal.throwIfAborted();
    waiting.push(...chunk.filter(({ size }) => size > tail.notes.lastSize && size <= from.size));
    const step = await flush();
    if (step !== null) return step;
  }
  const { note, size } = stream;
  if (withHead && note !== null && size > tail.notes.lastSize && size <= from.size)
    waiting.push({ note, size });
  return (await flush()) ?? { status: 'done', tail };
}

async function write(
  copying: Copying,
  stream: string,
  from: StreamTail,
  notes: readonly PinnedNote[],
): Promise<Step> {
  let tail = from;
  for (const part of partsOf(notes)) {
    const bytes = Buffer.from(part.map(({ note }) => listedNote(note)).join(''), 'utf8');
    const { number, blocks } = tail.notes;
    const open =
      blocks < blocksMax ? tail.notes : { ...tail.notes, number: number + 1, length: 0, blocks: 0 };
    const name = notesName({ stream, number: open.number });
    const answer = await copying.files.append(name, bytes, open.length, copying.signal);
    if (answer.status === 'failed') return copyFailed(answer.reason, name);
    if (answer.status !== 'appended') return { status: 'moved', tail };
    copying.counts.bytes += bytes.length;
    copying.budget.left -= bytes.length;
    const { length, blocks: written } = answer;
    tail = { ...tail, notes: { ...open, length, blocks: written, lastSize: part.at(-1)?.size ?? 0 } };
  }
  return { status: 'done', tail };
}

/** Each as long as one append should be. */
function partsOf(notes: readonly PinnedNote[]): PinnedNote[][] {
  const parts: PinnedNote[][] = [];
  let length = appendLength;
  for (const note of notes) {
    length += note.note.length;
    if (length >= appendLength) {
      parts.push([]);
      length = note.note.length;
    }
    parts.at(-1)?.push(note);
  }
  return parts;
}
