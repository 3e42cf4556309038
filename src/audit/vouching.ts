// Says of a head that is to be gone on with whether a key that signs now signed it: whoever adds to a trail without a
// key would otherwise have it signed by the next append.
import { base64 } from '../core/base64.ts';
import type { JournalFact } from '../core/journal.ts';
import { rootOf } from '../core/tree.ts';
import type { SignHead, StreamHead } from './store.ts';

// A note has about 300 bytes, and more with several keys; somebody may have put anything in its place.
const noteLengthMax = 10_000;

type Unvouched = Extract<JournalFact, { kind: 'unvouched' }>;

/**
 * What the journal has to say of a head before something is appended behind it; null when one of the keys that sign
 * now signed it as it stands, or nobody signs. A head without a note is as it should be while no key was ever named.
 */
export function unvouched({ name, size, tree, note }: StreamHead, sign: SignHead | null): Unvouched | null {
  if (sign === null || size === 0 || isSignedBy(sign(name, tree), note)) return null;
  const kept = note === null || note.length > noteLengthMax || !note.isWellFormed() ? null : note;
  return { kind: 'unvouched', stream: name, size, root: base64(rootOf(tree)), note: kept };
}

/** Ed25519 gives one signature for one text and key, so that a key in both signed the same: RFC 8032, section 5.1.6. */
function isSignedBy(own: string, note: string | null): boolean {
  if (note === own || note === null) return note === own;
  const [[text, ownLines], [said, lines]] = [partsOf(own), partsOf(note)];
  return text === said && lines.some((line) => line !== '' && ownLines.includes(line));
}

const partsOf = (note: string): readonly [string, readonly string[]] => {
  const end = note.indexOf('\n\n');
  return [note.slice(0, end), note.slice(end + 2).split('\n')];
};

/** How a fact begins that names a key, as `journalEvent` writes it. */
export const keysNamedBytes: Uint8Array = Buffer.from('"kind":"keys-changed","keys":["', 'utf8');
