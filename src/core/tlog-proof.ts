// Writes and reads the proof that one entry stands in a tree that somebody signed, as a text that can be passed on.
import { base64, bytesFromBase64 } from './base64.ts';
import { readCount } from './checkpoint.ts';
import { hashLength } from './tree.ts';

/** A proof as https://c2sp.org/tlog-proof defines it. Nothing of it is true because it says so. */
export interface TlogProof {
  /** Here: the bytes of the leaf, `leafText`, so that its hash can be computed. Nobody signed this line itself. */
  readonly extra: Uint8Array | null;
  readonly index: number;
  /** From the leaf's sibling up to below the root. */
  readonly path: readonly Uint8Array[];
  /** The signed note of the tree's head. */
  readonly checkpoint: string;
}

const firstLine = 'c2sp.org/tlog-proof@v1';
/** More than a proof of ours can have: its checkpoint may be as long as a note. */
const lengthMax = 2_000_000;
// A tree of 2^53 leaves, more than a number here can count, has no longer path.
const pathLengthMax = 53;

/** Writes a proof. */
export function encodeProof({ extra, index, path, checkpoint }: TlogProof): string {
  const lines = [
    firstLine,
    ...(extra === null ? [] : [`extra ${base64(extra)}`]),
    `index ${index}`,
    ...path.map(base64),
  ];
  return `${lines.join('\n')}\n\n${checkpoint}`;
}

/** Reads a proof; null when the text is none. */
export function decodeProof(text: string): TlogProof | null {
  // The proof's own lines end at the first empty one; a checkpoint has empty lines too.
  const end = text.indexOf('\n\n');
  if (text.length > lengthMax || end === -1) return null;
  const [first, ...lines] = text.slice(0, end).split('\n');
  if (first !== firstLine) return null;
  const extra = valueBehind('extra', lines[0]);
  const bytes = extra === null ? null : bytesFromBase64(extra);
  const [indexLine, ...encoded] = extra === null ? lines : lines.slice(1);
  const index = readCount(valueBehind('index', indexLine) ?? '');
  const path = encoded.map(bytesFromBase64);
  if ((extra !== null && bytes === null) || index === null || path.length > pathLengthMax) return null;
  if (!path.every((node) => node?.length === hashLength)) return null;
  return { extra: bytes, index, path: path as Uint8Array[], checkpoint: text.slice(end + 2) };
}

const valueBehind = (word: string, line: string | undefined): string | null =>
  line?.startsWith(`${word} `) === true ? line.slice(word.length + 1) : null;
