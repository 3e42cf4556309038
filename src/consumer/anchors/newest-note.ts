// Finds the last note of one origin in a list of notes that is read from its end.
import { notesIn } from '../../core/note-list.ts';

// A note has some 250 bytes, and the last one is nearly always the one that is asked for.
const firstLength = 16 * 1024;
const growth = 16;
// Every 10 minutes for five years. What stands before that is not looked for.
const lengthMax = 64 * 1024 * 1024;

/**
 * @param length of the list, bytes
 * @param read gives a part of it; may throw
 * @returns null when no whole note of this origin stands there
 */
export async function newestNote(
  length: number,
  read: (from: number, length: number) => Promise<Uint8Array>,
  origin: string,
): Promise<string | null> {
  for (let window = firstLength; ; window *= growth) {
    const from = Math.max(0, length - Math.min(window, lengthMax));
    const text = Buffer.from(await read(from, length - from)).toString('utf8');
    // The first note of a part may lack its beginning: then it is of another origin, or of none.
    const note = notesIn(text).findLast((each) => each.startsWith(`${origin}\n`));
    if (note !== undefined) return note;
    if (from === 0 || window >= lengthMax) return null;
  }
}
