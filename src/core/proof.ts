// Makes and checks proofs over a tree: that a leaf stands in it, and that one tree is the beginning of another.
import { hashLength, nodeHash, rootOf, type Tree } from './tree.ts';

/** The leaves `from` to before `to` of a tree: one side of a split that RFC 6962 makes, and its root is a node of the proof. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Makes proofs from the hashes of all leaves, in one pass and with as much memory as the proofs need. */
export interface Prover {
  /** More leaves, in their order; those beyond the tree are left aside. */
  take(leaves: Iterable<Uint8Array>): void;
  /** @throws RangeError when leaves are missing */
  finish(): Proofs;
}

export interface Proofs {
  /** Of the leaves that were taken: a proof is worth what the comparison of this root with a signed one says. */
  readonly root: Uint8Array;
  /** From the leaf's sibling up to below the root. @throws RangeError for an index that was not asked for */
  inclusion(index: number): readonly Uint8Array[];
  /** That the first `size` leaves are the beginning of the tree. @throws RangeError for a size that was not asked for */
  consistency(size: number): readonly Uint8Array[];
}

/** What is to be proven of a tree. */
export interface Wanted {
  /** Leaves. */
  readonly indexes?: Iterable<number>;
  /** Earlier trees, by how many leaves they had; at least one, at most as many as the tree. */
  readonly sizes?: Iterable<number>;
}

/**
 * Makes the proofs of https://www.rfc-editor.org/rfc/rfc6962#section-2.1 over a tree of `size` leaves.
 * @throws RangeError for an index or a size that the tree does not have
 */
export function openProver(size: number, { indexes = [], sizes = [] }: Wanted): Prover {
  const paths = new Map([...indexes].map((index) => [index, inclusionSpans(index, size)]));
  const links = new Map([...sizes].map((earlier) => [earlier, consistencySpans(earlier, size)]));
  const nodes = new Nodes([...paths.values(), ...links.values()].flat());
  return {
    take: (leaves) => {
      for (const leaf of leaves) {
        if (nodes.size === size) return;
        nodes.add(leaf);
      }
    },
    finish: () => {
      if (nodes.size !== size) throw new RangeError(`${size - nodes.size} leaves of the tree are missing`);
      return {
        root: rootOf(nodes.tree()),
        inclusion: (index) => askedFor(paths, index).map((span) => nodes.root(span)),
        consistency: (earlier) => askedFor(links, earlier).map((span) => nodes.root(span)),
      };
    },
  };
}

function askedFor(proofs: ReadonlyMap<number, readonly Span[]>, key: number): readonly Span[] {
  const spans = proofs.get(key);
  if (spans === undefined) throw new RangeError(`no proof for ${key} was asked for`);
  return spans;
}

/** Where a tree of several leaves splits: the greatest power of two below its size. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** The nodes beside the way from the root to a leaf, the lowest first. */
function inclusionSpans(index: number, size: number): Span[] {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) throw new RangeError(`no leaf ${index}`);
  const spans: Span[] = [];
  for (let [from, to] = [0, size]; to - from > 1; ) {
    const middle = from + splitOf(to - from);
    const isLeft = index < middle;
    spans.push(isLeft ? { from: middle, to } : { from, to: middle });
    [from, to] = isLeft ? [from, middle] : [middle, to];
  }
  return spans.reverse();
}

/** The nodes from which both roots can be computed, the lowest first. */
function consistencySpans(earlier: number, size: number): Span[] {
  if (!Number.isSafeInteger(earlier) || earlier < 1 || earlier > size)
    throw new RangeError(`no size ${earlier}`);
  const spans: Span[] = [];
  let [from, to] = [0, size];
  while (to !== earlier) {
    const middle = from + splitOf(to - from);
    const isLeft = earlier <= middle;
    spans.push(isLeft ? { from: middle, to } : { from, to: middle });
    [from, to] = isLeft ? [from, middle] : [middle, to];
  }
  // The root of a whole earlier tree is known to whoever checks.
  if (from > 0) spans.push({ from, to });
  return spans.reverse();
}

/** The perfect subtrees that a span is made of, from the left: its beginning is a multiple of each of them. */
function perfectParts({ from, to }: Span): Span[] {
  const parts: Span[] = [];
  for (let at = from; at < to; ) {
    let length = 1;
    while (at + length * 2 <= to) length *= 2;
    parts.push({ from: at, to: at + length });
    at += length;
  }
  return parts;
}

/** A number for each perfect subtree: where it stands when all nodes are counted from left to right. */
const placeOf = ({ from, to }: Span): number => from + to - 1;

/** A tree that grows leaf by leaf and keeps the nodes that are wanted of it. */
class Nodes {
  size = 0;
  readonly #wanted: Map<number, Uint8Array | null>;
  readonly #range: Uint8Array[] = [];

  constructor(spans: readonly Span[]) {
    this.#wanted = new Map(spans.flatMap(perfectParts).map((part) => [placeOf(part), null]));
  }

  add(leaf: Uint8Array): void {
    let node = leaf;
    let from = this.size;
    this.size += 1;
    this.#keep({ from, to: this.size }, node);
    for (let length = 1; (this.size / length) % 2 === 0; length *= 2) {
      node = nodeHash(this.#range.pop() as Uint8Array, node);
      from -= length;
      this.#keep({ from, to: this.size }, node);
    }
    this.#range.push(node);
  }

  tree(): Tree {
    return { size: this.size, range: this.#range };
  }

  root(span: Span): Uint8Array {
    return perfectParts(span)
      .map((part) => this.#wanted.get(placeOf(part)) as Uint8Array)
      .reduceRight((right, left) => nodeHash(left, right));
  }

  #keep(span: Span, node: Uint8Array): void {
    const place = placeOf(span);
    if (this.#wanted.has(place)) this.#wanted.set(place, node);
  }
}

/** A tree by its size and root (32 bytes). */
export interface TreeRoot {
  readonly size: number;
  readonly root: Uint8Array;
}

/** A leaf in a tree, and the proof of it. */
export interface Inclusion {
  /** The leaf's hash. */
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly path: readonly Uint8Array[];
}

/** Whether the leaf stands at this index of the tree: https://www.rfc-editor.org/rfc/rfc9162#section-2.1.3.2. */
export function verifyInclusion({ leaf, index, path }: Inclusion, { size, root }: TreeRoot): boolean {
  if (!isCount(index) || !isCount(size) || index >= size || !areHashes([leaf, root, ...path])) return false;
  let node = leaf;
  let [at, last] = [index, size - 1];
  for (const beside of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      node = nodeHash(beside, node);
      // A last node without a sibling has moved up as it was.
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, half(last)];
    } else {
      node = nodeHash(node, beside);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && same(node, root);
}

/** Whether one tree is the beginning of another: https://www.rfc-editor.org/rfc/rfc9162#section-2.1.4.2. */
export function verifyConsistency(earlier: TreeRoot, later: TreeRoot, path: readonly Uint8Array[]): boolean {
  const [from, to] = [earlier.size, later.size];
  if (!isCount(from) || !isCount(to) || from > to) return false;
  if (!areHashes([earlier.root, later.root, ...path])) return false;
  if (from === to) return path.length === 0 && same(earlier.root, later.root);
  // Every tree begins with the empty one, and there is nothing to show for it.
  if (from === 0) return path.length === 0 && same(earlier.root, rootOf({ size: 0, range: [] }));
  return isLinked(earlier, later, isPowerOfTwo(from) ? [earlier.root, ...path] : path);
}

function isLinked(earlier: TreeRoot, later: TreeRoot, [first, ...path]: readonly Uint8Array[]): boolean {
  if (first === undefined) return false;
  let [at, last] = [earlier.size - 1, later.size - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  let [before, after] = [first, first];
  for (const beside of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [before, after] = [nodeHash(beside, before), nodeHash(beside, after)];
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, half(last)];
    } else {
      after = nodeHash(after, beside);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && same(before, earlier.root) && same(after, later.root);
}

function isPowerOfTwo(count: number): boolean {
  let odd = count;
  while (odd % 2 === 0) odd /= 2;
  return odd === 1;
}

// Bitwise operators would cut a number off at 32 bits.
const half = (count: number): number => Math.floor(count / 2);
const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0;
const areHashes = (hashes: readonly Uint8Array[]): boolean =>
  hashes.every(({ length }) => length === hashLength);
const same = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
