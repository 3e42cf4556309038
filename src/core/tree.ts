// A Merkle tree as RFC 6962 defines it, kept as the roots of its perfect subtrees: it grows without its leaves.
import { hash } from 'node:crypto';

/** A tree of `size` leaves. */
export interface Tree {
  readonly size: number;
  /** The roots of its perfect subtrees, the biggest first, 32 bytes each: as many as `size` has bits set. */
  readonly range: readonly Uint8Array[];
}

export const hashLength = 32;
export const emptyTree: Tree = { size: 0, range: [] };

const nodeBytes = new Uint8Array(1 + 2 * hashLength);
nodeBytes[0] = 1;

/** The hash above two nodes. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  nodeBytes.set(left, 1);
  nodeBytes.set(right, 1 + hashLength);
  return hash('sha256', nodeBytes, 'buffer');
}

/** The tree with more leaves behind its last one. @param leaves their hashes, 32 bytes each */
export function growTree({ size, range }: Tree, leaves: Iterable<Uint8Array>): Tree {
  const grown = [...range];
  let count = size;
  for (const leaf of leaves) {
    let node = leaf;
    // Each bit set at the low end is a subtree as big as what has just been made: the two become one.
    for (let rest = count; rest % 2 === 1; rest = (rest - 1) / 2) {
      const left = grown.pop();
      if (left === undefined) throw new RangeError('the range of a tree is shorter than its size says');
      node = nodeHash(left, node);
    }
    grown.push(node);
    count += 1;
  }
  return { size: count, range: grown };
}

const emptyRoot = hash('sha256', new Uint8Array(), 'buffer');

/** The root: one hash for all leaves. */
export const rootOf = ({ range }: Tree): Uint8Array =>
  range.length === 0 ? emptyRoot : range.reduceRight((right, left) => nodeHash(left, right));

/** The range as bytes, for a store. */
export const encodeRange = ({ range }: Tree): Uint8Array => Buffer.concat(range);

/**
 * The tree of a size, with the range that `encodeRange` wrote.
 * @throws RangeError when the bytes cannot be the range of a tree of this size
 */
export function decodeTree(size: number, bytes: Uint8Array): Tree {
  const count = bitsIn(size);
  if (bytes.length !== count * hashLength) {
    throw new RangeError(`a tree of ${size} leaves has a range of ${count} hashes`);
  }
  const range = Array.from({ length: count }, (_, place) =>
    bytes.subarray(place * hashLength, (place + 1) * hashLength),
  );
  return { size, range };
}

const bitsIn = (size: number): number => size.toString(2).replaceAll('0', '').length;
