// Whether proofs over trees are those of RFC 6962, and show nothing that is not so.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openProver, verifyConsistency, verifyInclusion } from '../../src/core/proof.ts';
import { naiveRoot, referenceLeaves, referenceRoots, someLeaves } from '../support/merkle.ts';

const sizeMax = 70;
/** Up to here everything else is tried as well: it takes the cube of it. */
const triedMax = 40;
const leaves = someLeaves(sizeMax + 1);
const roots = leaves.map((_, size) => naiveRoot(leaves.slice(0, size)));
const upTo = (end: number): readonly number[] => Array.from({ length: end }, (_, number) => number);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const unhex = (text: string): Uint8Array => Buffer.from(text, 'hex');
const other = (hash: Uint8Array): Uint8Array => hash.map((byte, place) => (place === 31 ? byte ^ 1 : byte));

const known = {
  second: '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
  third: '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
  fifthToEighth: '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  fifth: 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
  seventhAndEighth: 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
  fifthAndSixth: '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
};

function proven(size: number, from: readonly Uint8Array[] = leaves) {
  const prover = openProver(size, { indexes: upTo(size), sizes: upTo(size + 1).slice(1) });
  prover.take(from);
  return prover.finish();
}

describe('the reference tree', () => {
  it.each([
    [0, 8, [known.second, known.third, known.fifthToEighth]],
    [5, 8, [known.fifth, known.seventhAndEighth, referenceRoots[4]]],
    [2, 3, [referenceRoots[2]]],
    [1, 5, [referenceRoots[1], known.third, known.fifth]],
    [0, 1, []],
  ])('has the path of leaf %i of %i', (index, size, path) => {
    expect(proven(size, referenceLeaves).inclusion(index).map(hex)).toEqual(path);
    const leaf = referenceLeaves[index] ?? new Uint8Array();
    const root = unhex(referenceRoots[size] ?? '');
    expect(verifyInclusion({ leaf, index, path: path.map((each = '') => unhex(each)) }, { size, root })).toBe(
      true,
    );
  });

  it.each([
    [1, 1, []],
    [1, 8, [known.second, known.third, known.fifthToEighth]],
    [6, 8, [known.fifthAndSixth, known.seventhAndEighth, referenceRoots[4]]],
    [2, 5, [known.third, known.fifth]],
  ])('has the way from %i to %i leaves', (from, to, path) => {
    expect(proven(to, referenceLeaves).consistency(from).map(hex)).toEqual(path);
    const [earlier, later] = [from, to].map((size) => ({ size, root: unhex(referenceRoots[size] ?? '') }));
    if (earlier === undefined || later === undefined) throw new Error('two trees');
    expect(
      verifyConsistency(
        earlier,
        later,
        path.map((each = '') => unhex(each)),
      ),
    ).toBe(true);
  });
});

const tree = (size: number) => ({ size, root: roots[size] ?? new Uint8Array() });
const leafAt = (index: number): Uint8Array => leaves[index] ?? new Uint8Array();

describe('inclusion', () => {
  it(`is proven of every leaf of every tree of up to ${sizeMax}, and of no other leaf, place or tree`, () => {
    const wrong: string[] = [];
    for (const size of upTo(sizeMax + 1).slice(1)) {
      const proofs = proven(size);
      expect(hex(proofs.root)).toBe(hex(tree(size).root));
      for (const index of upTo(size)) {
        const [leaf, path] = [leafAt(index), proofs.inclusion(index)];
        const holds = (at: number, of: number) => verifyInclusion({ leaf, index: at, path }, tree(of));
        if (!holds(index, size)) wrong.push(`${index} of ${size} is not proven`);
        if (verifyInclusion({ leaf: leafAt(index + 1), index, path }, tree(size))) wrong.push('another leaf');
        if (size > triedMax) continue;
        for (const at of [...upTo(size + 1), -1, index + 0.5]) {
          if (at !== index && holds(at, size)) wrong.push(`${index} of ${size} passes for ${at}`);
        }
        for (const of of upTo(triedMax + 1)) {
          if (of !== size && holds(index, of)) wrong.push(`${index} of ${size} passes in ${of}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('is not proven by a path that was changed, cut or made longer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: sizeMax }), fc.nat(), fc.nat(), (size, indexSeed, placeSeed) => {
        const index = indexSeed % size;
        const path = proven(size).inclusion(index);
        const place = placeSeed % path.length;
        const changed = path.map((node, at) => (at === place ? other(node) : node));
        const extra = leafAt(0);
        const mutants = [changed, path.slice(1), path.slice(0, -1), [...path, extra], [extra, ...path]];
        const holds = mutants.filter((each) =>
          verifyInclusion({ leaf: leafAt(index), index, path: each }, tree(size)),
        );
        expect(holds).toEqual([]);
      }),
    );
  });

  it('is not proven by a node that is no hash', () => {
    const short = new Uint8Array(31);
    expect(verifyInclusion({ leaf: short, index: 0, path: [] }, { size: 1, root: short })).toBe(false);
    expect(verifyInclusion({ leaf: leafAt(0), index: 0, path: [short] }, tree(2))).toBe(false);
  });

  it('is not proven in a tree of one leaf by a neighbour that it cannot have', () => {
    const root = naiveRoot([leafAt(1), leafAt(0)]);
    const path = [leafAt(1)];
    expect(verifyInclusion({ leaf: leafAt(0), index: 0, path }, { size: 1, root })).toBe(false);
    expect(
      verifyInclusion(
        { leaf: leafAt(0), index: 1, path },
        { size: 2, root: naiveRoot([leafAt(1), leafAt(0)]) },
      ),
    ).toBe(true);
  });

  it('works with more leaves than 32 bits count', () => {
    const size = 2 ** 40 + 1;
    const [leaf, root] = [leafAt(3), leafAt(4)];
    // The last leaf of such a tree has one neighbour: the root of all the others.
    const above = naiveRoot([root, leaf]);
    expect(verifyInclusion({ leaf, index: size - 1, path: [root] }, { size, root: above })).toBe(true);
    expect(verifyInclusion({ leaf, index: 0, path: [root] }, { size, root: above })).toBe(false);
    expect(verifyConsistency({ size: size - 1, root }, { size, root: above }, [leaf])).toBe(true);
  });
});

describe('consistency', () => {
  it(`is proven of every two trees of up to ${sizeMax}, and of no other two`, () => {
    const wrong: string[] = [];
    for (const to of upTo(sizeMax + 1).slice(1)) {
      const proofs = proven(to);
      for (const from of upTo(to + 1).slice(1)) {
        const path = proofs.consistency(from);
        if (!verifyConsistency(tree(from), tree(to), path)) wrong.push(`${from} in ${to} is not proven`);
        for (const size of to > triedMax ? [] : upTo(triedMax + 1).slice(1)) {
          // A tree needs no proof that it is itself.
          const isSame = size === to && path.length === 0;
          if (size !== from && !isSame && verifyConsistency(tree(size), tree(to), path)) {
            wrong.push(`${from} in ${to} passes for ${size}`);
          }
          if (size !== to && size !== from && verifyConsistency(tree(from), tree(size), path)) {
            wrong.push(`${from} in ${to} passes in ${size}`);
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('is not proven when either root is another one, or the path was changed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: sizeMax }), fc.nat(), fc.nat(), (to, fromSeed, placeSeed) => {
        const from = 1 + (fromSeed % (to - 1));
        const path = proven(to).consistency(from);
        const place = placeSeed % path.length;
        const changed = path.map((node, at) => (at === place ? other(node) : node));
        const [one, two] = [tree(from), tree(to)];
        expect(verifyConsistency({ size: from, root: other(one.root) }, two, path)).toBe(false);
        expect(verifyConsistency(one, { size: to, root: other(two.root) }, path)).toBe(false);
        for (const each of [changed, path.slice(1), path.slice(0, -1), [...path, leafAt(0)]]) {
          expect(verifyConsistency(one, two, each)).toBe(false);
        }
      }),
    );
  });

  it('of a tree with a bigger or an emptier one takes what the RFC says', () => {
    expect(verifyConsistency(tree(0), tree(5), [])).toBe(true);
    expect(verifyConsistency({ size: 0, root: leafAt(0) }, tree(5), [])).toBe(false);
    expect(verifyConsistency(tree(0), tree(5), [leafAt(0)])).toBe(false);
    expect(verifyConsistency(tree(5), tree(5), [])).toBe(true);
    expect(verifyConsistency(tree(5), tree(5), [leafAt(0)])).toBe(false);
    expect(verifyConsistency(tree(5), tree(4), [])).toBe(false);
    expect(verifyConsistency({ size: -1, root: leafAt(0) }, tree(4), [])).toBe(false);
    expect(verifyConsistency({ ...tree(2), size: 1.5 }, { ...tree(2), size: 1.5 }, [])).toBe(false);
  });

  it('is not proven of a tree that has the root of a smaller one, or a root that is no hash', () => {
    for (const size of [1, 2, 4, 8]) {
      expect(verifyConsistency(tree(size), { ...tree(size), size: size * 2 }, [])).toBe(false);
    }
    const short = { size: 4, root: new Uint8Array(31) };
    expect(verifyConsistency(short, short, [])).toBe(false);
  });
});

describe('a prover', () => {
  it('takes leaves in any portions, and leaves those beyond the tree aside', () => {
    const whole = proven(50).inclusion(17).map(hex);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 0, maxLength: 10 }), (lengths) => {
        const prover = openProver(50, { indexes: [17] });
        let taken = 0;
        for (const length of [...lengths, sizeMax]) {
          prover.take(leaves.slice(taken, taken + length));
          taken += length;
        }
        expect(prover.finish().inclusion(17).map(hex)).toEqual(whole);
      }),
    );
  });

  it('says so when leaves are missing, and for what it was not asked or cannot be', () => {
    const prover = openProver(5, { indexes: [1] });
    prover.take(leaves.slice(0, 4));
    expect(() => prover.finish()).toThrow('1 leaves of the tree are missing');
    prover.take(leaves.slice(4, 5));
    expect(() => prover.finish().inclusion(2)).toThrow(RangeError);
    expect(() => prover.finish().consistency(2)).toThrow(RangeError);
    for (const index of [5, -1, 0.5]) expect(() => openProver(5, { indexes: [index] })).toThrow(RangeError);
    for (const size of [6, 0, 1.5]) expect(() => openProver(5, { sizes: [size] })).toThrow(RangeError);
  });
});
