// Reads the signed heads of one stream of a copy, and names what stands between them.
import { parseCheckpoint } from '../../core/checkpoint.ts';
import { listedNote, notesIn } from '../../core/note-list.ts';
import { textOfNote } from '../../core/signed-note.ts';
import type { PinnedNote } from '../store.ts';
import type { FileFaults } from './found-faults.ts';
import { notesName } from './layout.ts';
import { isGrowing, readPieces } from './pieces.ts';
import type { Reading } from './read-entries.ts';

/** Longer than any signed note that can be opened. */
const noteLengthMax = 4 * 1024 * 1024;

/** @param named the stream's files of notes, in their order */
export async function* readNotes(
  { files, faults, signal }: Reading,
  stream: string,
  named: readonly { readonly number: number; readonly length: number }[],
  from: number,
): AsyncGenerator<readonly PinnedNote[]> {
  for (const { number, length } of named) {
    const name = notesName({ stream, number });
    const found = faults.within(name, stream);
    for await (const piece of readPieces(files, { name, length }, { pieceMax: noteLengthMax, signal })) {
      const isBeing = piece.kind === 'torn' && (await isGrowing(files, { name, length }, signal));
      if (piece.kind !== 'whole' && !isBeing) found.add('unreadable-note', 0);
      if (piece.kind === 'whole') yield notesOf(piece.bytes, found).filter(({ size }) => size >= from);
    }
  }
}

function notesOf(bytes: Buffer, found: FileFaults): PinnedNote[] {
  const text = bytes.toString('utf8');
  const notes = notesIn(text);
  if (notes.map(listedNote).join('') !== text) found.add('unreadable-note', 0);
  return notes.flatMap((note) => {
    const head = parseCheckpoint(textOfNote(note) ?? '');
    if (head === null) found.add('unreadable-note', 0);
    return head === null ? [] : [{ size: head.size, note }];
  });
}
