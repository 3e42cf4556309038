// Judges whether a record stands in a tree that somebody signed, from its proof and its hash alone.

import { parseCheckpoint } from './checkpoint.ts';
import { type Leaf, leafHash, readLeafText } from './leaf.ts';
import { verifyInclusion } from './proof.ts';
import { type OpenedNote, openNote, type VerifierKey } from './signed-note.ts';
import { decodeProof } from './tlog-proof.ts';

/** What a proof shows. */
export interface ProvenRecord {
  readonly status: 'proven';
  readonly stream: string;
  readonly index: number;
  /** Of the signed tree. */
  readonly size: number;
  readonly leaf: Leaf;
  /** Names of the known keys that signed. */
  readonly signedBy: readonly string[];
}

/** Why it shows nothing; each of them is as bad as the others. */
export type ProofFault =
  /** The text is no proof, or its checkpoint no head of a tree. */
  | 'malformed'
  /** It does not carry what the leaf was made of. */
  | 'without-leaf'
  /** It is the proof of another record, or of other bytes. */
  | 'other-record'
  /** The path does not lead from the leaf to the signed root. */
  | 'not-in-tree'
  | Exclude<OpenedNote['status'], 'verified' | 'malformed'>;

/**
 * Checks everything about a proof but what the record's bytes say.
 * @param bodySha256 of the record's bytes, 32 bytes
 * @param keys those that are trusted
 */
export function judgeProof(
  proof: string,
  bodySha256: Uint8Array,
  keys: readonly VerifierKey[],
): ProvenRecord | { readonly status: ProofFault } {
  const read = decodeProof(proof);
  if (read === null) return { status: 'malformed' };
  const opened = openNote(read.checkpoint, keys);
  if (opened.status !== 'verified') return opened;
  const head = parseCheckpoint(opened.text);
  if (head === null) return { status: 'malformed' };
  const leaf = read.extra === null ? null : readLeafText(Buffer.from(read.extra).toString('utf8'));
  if (leaf === null) return { status: 'without-leaf' };
  const isIncluded = verifyInclusion({ leaf: leafHash(leaf), index: read.index, path: read.path }, head);
  if (!isIncluded) return { status: 'not-in-tree' };
  if (Buffer.compare(leaf.bodySha256, bodySha256) !== 0) return { status: 'other-record' };
  const signedBy = opened.keys.map(({ name }) => name);
  return { status: 'proven', stream: head.origin, index: read.index, size: head.size, leaf, signedBy };
}
