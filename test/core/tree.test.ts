// Whether trees grow as RFC 6962 says, however their leaves arrive.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeTree, emptyTree, encodeRange, growTree, rootOf } from '../../src/core/tree.ts';
import { naiveRoot, referenceLeaves, referenceRoots, someLeaves } from '../support/merkle.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

it.each(referenceRoots.map((root, size) => [size, root] as const))(
  'gives %i leaves of the reference tree its root',
  (size, root) => {
    expect(hex(rootOf(growTree(emptyTree, referenceLeaves.slice(0, size))))).toBe(root);
  },
);

it('gives the root of the definition for every size up to 300', () => {
  const leaves = someLeaves(300);
  let tree = emptyTree;
  for (const [index, leaf] of leaves.entries()) {
    tree = growTree(tree, [leaf]);
    expect(hex(rootOf(tree))).toBe(hex(naiveRoot(leaves.slice(0, index + 1))));
  }
});

it('does not depend on how the leaves were split into batches, nor on having been stored in between', () => {
  const leaves = someLeaves(500);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 120 }), { maxLength: 8 }), (lengths) => {
      let [tree, taken] = [emptyTree, 0];
      for (const length of lengths) {
        const batch = leaves.slice(taken, taken + length);
        tree = decodeTree(tree.size, Buffer.from(encodeRange(tree)));
        tree = growTree(tree, batch);
        taken += batch.length;
      }
      expect(tree.size).toBe(taken);
      expect(hex(rootOf(tree))).toBe(hex(naiveRoot(leaves.slice(0, taken))));
    }),
  );
});

it('leaves the tree that it grows from as it was', () => {
  const tree = growTree(emptyTree, someLeaves(7));
  const before = hex(encodeRange(tree));
  growTree(tree, someLeaves(9));
  expect(hex(encodeRange(tree))).toBe(before);
});

it('refuses bytes that are the range of no tree of that size', () => {
  const range = encodeRange(growTree(emptyTree, someLeaves(7)));
  expect(() => decodeTree(8, range)).toThrow(RangeError);
  expect(() => decodeTree(7, range.subarray(1))).toThrow(RangeError);
  expect(() => growTree({ size: 7, range: [] }, someLeaves(1))).toThrow(RangeError);
});
