// Judges the signed head of a stream: whose it is, who signed it, and what it says of the tree.
import { type Checkpoint, parseCheckpoint } from '../../core/checkpoint.ts';
import type { FindingCode } from '../../core/finding.ts';
import { openNote, textOfNote, type VerifierKey } from '../../core/signed-note.ts';

/** What came of reading a note. What it says of the tree is compared in any case: a lie is worth knowing. */
export interface NoteReading {
  readonly checkpoint: Checkpoint | null;
  /** `unchecked` when no key was given. */
  readonly trust: 'verified' | 'unchecked' | 'unsigned' | 'unknown-keys' | 'none';
  /** Those of the given keys that signed. */
  readonly signers: readonly VerifierKey[];
  /** What is wrong with it by itself. */
  readonly fault: { readonly code: FindingCode; readonly text: string } | null;
}

/** @param size what the source files it under; null when it does not say */
export function readNote(
  note: string,
  { name, size }: { readonly name: string; readonly size: number | null },
  keys: readonly VerifierKey[],
): NoteReading {
  const opened = openNote(note, keys);
  const text = opened.status === 'verified' ? opened.text : textOfNote(note);
  const checkpoint = text === null ? null : parseCheckpoint(text);
  const bad = (code: FindingCode, words: string): NoteReading => ({
    checkpoint,
    trust: 'none',
    signers: [],
    fault: { code, text: words },
  });
  if (checkpoint === null) return bad('note-malformed', `the signed head of ${name} is no checkpoint`);
  const what = `the head of size ${checkpoint.size} of ${name}`;
  if (checkpoint.origin !== name) {
    return bad('note-of-another', `a head of ${checkpoint.origin} stands where one of ${name} belongs`);
  }
  if (size !== null && checkpoint.size !== size) {
    return bad('note-malformed', `${what} stands where that of size ${size} belongs`);
  }
  if (opened.status === 'wrong-signature') {
    return bad('signature-wrong', `${what} carries a signature that its key did not make`);
  }
  if (opened.status === 'verified')
    return {
      checkpoint,
      trust: 'verified',
      signers: opened.keys,
      fault: null,
    };
  if (opened.status === 'unsigned') return { checkpoint, trust: 'unsigned', signers: [], fault: null };
  return { checkpoint, trust: keys.length === 0 ? 'unchecked' : 'unknown-keys', signers: [], fault: null };
}

/** Who is said to have signed a note, to be named to a person; the first few. */
export const signersNamed = (note: string): string =>
  note
    .split('\n')
    .filter((line) => line.startsWith('\u2014 '))
    .slice(0, 3)
    .map((line) => line.split(' ')[1] ?? '')
    .join(', ');
