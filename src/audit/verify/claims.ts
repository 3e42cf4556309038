// What signed heads, prunings and anchors say of one stream's tree, to be compared as its entries go by.

import { base64 } from '../../core/base64.ts';
import type { Findings } from '../../core/finding.ts';
import type { VerifierKey } from '../../core/signed-note.ts';
import type { PinnedNote, SourceStream, TrailSource } from '../store.ts';
import { readNote, signersNamed } from './note-check.ts';
import { type Claim, type Claims, rangeText } from './stream-pass.ts';

/** How far a stream is vouched for. */
export interface Standing {
  /** Up to where a signature that was checked covers its entries. */
  signedSize: number;
  /** The last size at which a root was what somebody said it is. */
  agreedSize: number;
  /** Notes with a signature, whoever made it. */
  signed: number;
  verified: number;
  /** Who made the signatures that were checked. */
  readonly keys: Set<string>;
  /** Who signed the last note that was checked, as verifier keys. */
  signers: { readonly size: number; readonly keys: readonly string[] } | null;
  /** The last note that only other keys signed, and who that was. */
  otherKeys: { readonly size: number; readonly names: string } | null;
  /** The size of the last note that was pinned; -1 while there was none. */
  pinnedSize: number;
}

export const newStanding = (): Standing => ({
  ...{ signedSize: 0, agreedSize: 0, signed: 0, verified: 0 },
  ...{ signers: null, otherKeys: null, pinnedSize: -1, keys: new Set() },
});

export interface ClaimsOptions {
  readonly source: TrailSource;
  readonly stream: SourceStream;
  readonly standing: Standing;
  readonly keys: readonly VerifierKey[];
  readonly findings: Findings;
  /** By rising size. */
  readonly others: readonly Claim[];
}

/** Pinned notes as they come from the source, and the other claims beside them. */
export function openClaims(options: ClaimsOptions): Claims {
  const { source, stream, others } = options;
  const chunks = source.notes(stream.name)[Symbol.asyncIterator]();
  let notes: readonly PinnedNote[] = [];
  let [noteAt, otherAt, isOver] = [0, 0, false];
  const peek = async (): Promise<PinnedNote | null> => {
    while (noteAt >= notes.length && !isOver) {
      const next = await chunks.next();
      if (next.done === true) isOver = true;
      else [notes, noteAt] = [next.value, 0];
    }
    return notes[noteAt] ?? null;
  };
  const passed = (size: number): boolean => (notes[noteAt]?.size ?? Number.POSITIVE_INFINITY) < size;
  return {
    next: async (size) => {
      // A note that files itself behind the one before it is about nothing that is still to come.
      while ((await peek()) !== null && passed(size)) judgeNote(options, notes[noteAt++], () => null);
      for (; (others[otherAt]?.size ?? size) < size; otherAt += 1) others[otherAt]?.judge(null, 0);
      const sizes = [(await peek())?.size, others[otherAt]?.size].filter((each) => each !== undefined);
      return sizes.length === 0 ? null : Math.min(...sizes);
    },
    reach: (size, root, at) => {
      for (; notes[noteAt]?.size === size; noteAt += 1) judgeNote(options, notes[noteAt], root);
      for (; (others[otherAt]?.size ?? size + 1) <= size; otherAt += 1) others[otherAt]?.judge(root(), at);
    },
    finish: async (sizeHere) => {
      for (let note = await peek(); note !== null; noteAt += 1, note = await peek()) {
        tellMissing(options, note, sizeHere);
      }
      for (const claim of others.slice(otherAt)) claim.beyond(sizeHere);
    },
  };
}

function tellMissing(
  { stream: { name }, findings }: ClaimsOptions,
  { size }: PinnedNote,
  sizeHere: number,
): void {
  const text = `a head of ${name} speaks of ${size} entries, and only ${sizeHere} are here`;
  findings.add('entries-missing', { stream: name, index: sizeHere, text });
}

function judgeNote(
  options: ClaimsOptions,
  pinned: PinnedNote | undefined,
  root: () => Uint8Array | null,
): void {
  if (pinned === undefined) return;
  options.standing.pinnedSize = Math.max(options.standing.pinnedSize, pinned.size);
  judgeSignedHead(options, pinned.note, { size: pinned.size, root: root() });
}

/** Compares a signed head with the entries, and counts who signed it. @param at where the stream stands now */
export function judgeSignedHead(
  { stream: { name }, standing, keys, findings }: Omit<ClaimsOptions, 'source' | 'others'>,
  note: string,
  at: { readonly size: number; readonly root: Uint8Array | null },
): void {
  const { checkpoint, trust, fault, signers } = readNote(note, { name, size: at.size }, keys);
  if (fault !== null) findings.add(fault.code, { stream: name, index: at.size, text: fault.text });
  if (trust === 'verified' || trust === 'unchecked' || trust === 'unknown-keys') standing.signed += 1;
  if (trust === 'unsigned') {
    const text = `the head of size ${at.size} of ${name} has lost its signatures`;
    findings.add('signature-missing', { stream: name, index: at.size, text });
  }
  if (trust === 'unknown-keys') standing.otherKeys = { size: at.size, names: signersNamed(note) };
  if (checkpoint === null || fault?.code === 'note-of-another') return;
  const isRight = compareRoots(findings, standing, {
    name,
    what: 'its signed head',
    said: checkpoint.root,
    ...at,
  });
  if (!isRight || trust !== 'verified') return;
  standing.verified += 1;
  standing.signers = { size: at.size, keys: signers.map(({ text }) => text) };
  for (const { name: signer } of signers) standing.keys.add(signer);
  standing.signedSize = Math.max(standing.signedSize, at.size);
}

/** Whether the root of the entries is what somebody says; null says nothing, as a missing entry was told already. */
function compareRoots(
  findings: Findings,
  standing: Standing,
  { name, what, said, size, root }: RootClaim,
): boolean {
  if (root === null) return false;
  if (Buffer.compare(root, said) === 0) {
    standing.agreedSize = Math.max(standing.agreedSize, size);
    return true;
  }
  const where = rangeText(standing.agreedSize, size - 1, 'entry', 'entries');
  const text = `${where} of ${name} are not what ${what} of size ${size} says: its root is ${base64(said)}, and theirs ${base64(root)}`;
  findings.add('root-differs', { stream: name, index: standing.agreedSize, text });
  return false;
}

export interface RootClaim {
  readonly name: string;
  /** Who says it. */
  readonly what: string;
  readonly said: Uint8Array;
  readonly size: number;
  readonly root: Uint8Array | null;
}
