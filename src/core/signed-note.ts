// Signs notes and opens them: text that one or several Ed25519 keys vouch for, https://c2sp.org/signed-note.
import { sign, verify } from 'node:crypto';
import { base64, bytesFromBase64 } from './base64.ts';
import { isKeyName, type SignerKey, type VerifierKey } from './note-key.ts';

export {
  type KeyFault,
  parseSignerKey,
  parseVerifierKey,
  type SignerKey,
  type VerifierKey,
} from './note-key.ts';

/** What came of opening a note. Nothing of a note that is not `verified` may be believed. */
export type OpenedNote =
  /** `keys` are those of the known ones that signed. */
  | { readonly status: 'verified'; readonly text: string; readonly keys: readonly VerifierKey[] }
  | { readonly status: 'unsigned' }
  | { readonly status: 'unknown-keys' }
  /** A known key is said to have signed, and did not: this text, or at all. */
  | { readonly status: 'wrong-signature' }
  | { readonly status: 'malformed' };

// Go's sumdb/note has the same two limits; the specification asks for at least 16 signatures.
const lengthMax = 1_000_000;
const signaturesMax = 100;
const idLength = 4;
const linePrefix = '\u2014 ';

interface Signature {
  readonly name: string;
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Signs a text.
 * @param text ends with a newline, and holds no other control character
 * @throws RangeError when the text can be no note's, or nobody signs
 */
export function signNote(text: string, signers: readonly SignerKey[]): string {
  if (!isNoteText(text) || text === '') throw new RangeError('this text cannot be signed as a note');
  if (signers.length === 0 || signers.length > signaturesMax) {
    throw new RangeError(`a note has 1 to ${signaturesMax} signatures`);
  }
  const bytes = Buffer.from(text, 'utf8');
  const lines = signers.map(({ privateKey, verifier: { name, id } }) => {
    const signature = Buffer.concat([Buffer.from(id, 'hex'), sign(null, bytes, privateKey)]);
    return `${linePrefix}${name} ${base64(signature)}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/**
 * Opens a note: whether keys that are known signed its text, and none of them wrongly.
 * Signatures of other keys are left aside, so that a key can be added and taken away.
 */
export function openNote(note: string, known: readonly VerifierKey[]): OpenedNote {
  const parts = partsOf(note);
  if (parts === null) return { status: 'malformed' };
  if (parts.lines.length === 0) return { status: 'unsigned' };
  const signatures = parts.lines.map(signatureOf);
  if (!signatures.every((each) => each !== null)) return { status: 'malformed' };
  const bytes = Buffer.from(parts.text, 'utf8');
  const keys = new Set<VerifierKey>();
  for (const { name, id, bytes: signature } of signatures) {
    const key = known.find((each) => each.name === name && each.id === id);
    if (key === undefined) continue;
    if (!verify(null, bytes, key.publicKey, signature)) return { status: 'wrong-signature' };
    keys.add(key);
  }
  return keys.size === 0
    ? { status: 'unknown-keys' }
    : { status: 'verified', text: parts.text, keys: [...keys] };
}

/** The text of a note, whoever signed it: only to say what a note is about that nobody can vouch for. */
export const textOfNote = (note: string): string | null => partsOf(note)?.text ?? null;

/** Signatures stand behind the last empty line. */
function partsOf(note: string): { readonly text: string; readonly lines: readonly string[] } | null {
  if (note.length > lengthMax || note === '' || !isNoteText(note)) return null;
  const end = note.lastIndexOf('\n\n');
  const below = end === -1 ? '' : note.slice(end + 2);
  if (!below.startsWith(linePrefix))
    return note.includes(`\n${linePrefix}`) ? null : { text: note, lines: [] };
  const lines = below.slice(0, -1).split('\n');
  return lines.length > signaturesMax ? null : { text: note.slice(0, end + 1), lines };
}

const isNoteText = (text: string): boolean =>
  text.endsWith('\n') && text.isWellFormed() && !hasControlCharacter(text);

// biome-ignore lint/suspicious/noControlCharactersInRegex: a note may hold none of them but the newline.
const hasControlCharacter = (text: string): boolean => /[\u0000-\u0009\u000b-\u001f]/.test(text);

function signatureOf(line: string): Signature | null {
  if (!line.startsWith(linePrefix)) return null;
  const [name = '', encoded = '', ...rest] = line.slice(linePrefix.length).split(' ');
  const bytes = bytesFromBase64(encoded);
  if (rest.length > 0 || !isKeyName(name) || bytes === null || bytes.length <= idLength) return null;
  const id = Buffer.from(bytes.subarray(0, idLength)).toString('hex');
  return { name, id, bytes: bytes.subarray(idLength) };
}
