// A tree with all its nodes gives the same roots and proofs as the one that keeps none, at every size.
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { openProver, verifyInclusion } from '../../src/core/proof.ts';
import { emptyTree, growTree, rootOf } from '../../src/core/tree.ts';
import { openWholeTree } from '../../src/core/whole-tree.ts';

const leaves = Array.from({ length: 70 }, (_, place) => createHash('sha256').update(String(place)).digest());
const tree = openWholeTree();
for (const leaf of leaves) tree.add(leaf);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

it('has the root of each smaller tree', () => {
  expect(tree.size).toBe(70);
  for (let size = 0; size <= leaves.length; size += 1)
    expect(hex(tree.root(size))).toBe(hex(rootOf(growTree(emptyTree, leaves.slice(0, size)))));
});

it('proves each leaf of each of them, as the prover in one pass does', () => {
  for (let size = 1; size <= leaves.length; size += 1) {
    const indexes = [...leaves.slice(0, size).keys()];
    const prover = openProver(size, { indexes });
    prover.take(leaves);
    const proofs = prover.finish();
    for (const index of indexes) {
      const path = tree.path(index, size);
      expect(path.map(hex)).toEqual(proofs.inclusion(index).map(hex));
      const leaf = leaves[index] ?? Buffer.alloc(0);
      expect(verifyInclusion({ leaf, index, path }, { size, root: tree.root(size) })).toBe(true);
    }
  }
});

it('refuses what it does not have', () => {
  for (const ask of [
    () => tree.root(71),
    () => tree.path(70, 70),
    () => tree.path(-1, 5),
    () => tree.path(3, 71),
  ])
    expect(ask).toThrow(RangeError);
});
