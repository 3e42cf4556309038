// A Merkle tree that keeps all its nodes, 64 bytes for each leaf, so that the proof of any leaf can be made at once.
import { hashLength, nodeHash, rootOf } from './tree.ts';

/** Grows leaf by leaf; what it answers for a size stays the same however much is added. */
export interface WholeTree {
  readonly size: number;
  /** @param leaf its hash, 32 bytes */
  add(leaf: Uint8Array): void;
  /** The root over the first leaves. @throws RangeError when there are fewer */
  root(size: number): Uint8Array;
  /**
   * From the leaf's sibling up to below the root over the first leaves, as RFC 6962, section 2.1.1.
   * @throws RangeError when there is no such leaf among them
   */
  path(index: number, size: number): readonly Uint8Array[];
}

export function openWholeTree(): WholeTree {
  // The roots of all perfect subtrees, by the power of two that they are over.
  const levels: Nodes[] = [];
  const levelAt = (height: number): Nodes => {
    levels[height] ??= new Nodes();
    return levels[height];
  };
  const isWithin = (count: number): boolean => count >= 0 && count <= levelAt(0).count;
  /** The root over leaves `from` to before `to`, where `from` is a multiple of the greatest subtree in them. */
  const rootBetween = (from: number, to: number): Uint8Array => {
    const parts: Uint8Array[] = [];
    for (let at = from; at < to; ) {
      const height = Math.floor(Math.log2(to - at));
      parts.push(levelAt(height).at(at / 2 ** height));
      at += 2 ** height;
    }
    return rootOf({ size: to - from, range: parts });
  };
  return {
    get size() {
      return levelAt(0).count;
    },
    add: (leaf) => {
      levelAt(0).push(leaf);
      for (let height = 0; levelAt(height).count % 2 === 0; height += 1) {
        const { count } = levelAt(height);
        levelAt(height + 1).push(nodeHash(levelAt(height).at(count - 2), levelAt(height).at(count - 1)));
      }
    },
    root: (size) => {
      if (!isWithin(size)) throw new RangeError(`the tree has fewer than ${size} leaves`);
      return rootBetween(0, size);
    },
    path: (index, size) => {
      if (!isWithin(size) || index < 0 || index >= size) throw new RangeError(`no leaf ${index} of ${size}`);
      const path: Uint8Array[] = [];
      for (let [from, to] = [0, size]; to - from > 1; ) {
        const middle = from + splitOf(to - from);
        path.push(index < middle ? rootBetween(middle, to) : rootBetween(from, middle));
        [from, to] = index < middle ? [from, middle] : [middle, to];
      }
      return path.reverse();
    },
  };
}

/** The greatest power of two below a size. */
const splitOf = (size: number): number => 2 ** Math.floor(Math.log2(size - 1));

/** Hashes one after another, in bytes that grow. */
class Nodes {
  count = 0;
  #bytes = new Uint8Array(64 * hashLength);

  push(node: Uint8Array): void {
    const at = this.count * hashLength;
    if (at === this.#bytes.length) {
      const grown = new Uint8Array(at * 2);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(node, at);
    this.count += 1;
  }

  at(place: number): Uint8Array {
    return this.#bytes.slice(place * hashLength, (place + 1) * hashLength);
  }
}
