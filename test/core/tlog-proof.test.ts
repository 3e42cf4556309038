// Whether proofs are written and read as C2SP says, and show a record only to whom they should.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkpointText } from '../../src/core/checkpoint.ts';
import { leafHash, leafOf, leafText } from '../../src/core/leaf.ts';
import { signerOf } from '../../src/core/note-key.ts';
import { openProver } from '../../src/core/proof.ts';
import { judgeProof } from '../../src/core/record-proof.ts';
import { signNote } from '../../src/core/signed-note.ts';
import { decodeProof, encodeProof, type TlogProof } from '../../src/core/tlog-proof.ts';
import { emptyTree, growTree } from '../../src/core/tree.ts';

const hashes = (count: number) => Array.from({ length: count }, (_, fill) => Buffer.alloc(32, fill));
const checkpoint =
  'example.com/log\n9\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— example.com/log AAAAAAA=\n';
const plain: TlogProof = { extra: Buffer.from('x'), index: 7, path: hashes(2), checkpoint };
const plainText = `c2sp.org/tlog-proof@v1
extra eA==
index 7
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=

${checkpoint}`;

describe('the text of a proof', () => {
  it('is that of the specification', () => {
    expect(encodeProof(plain)).toBe(plainText);
    expect(decodeProof(plainText)).toEqual(plain);
  });

  it('is read again as it was written, with or without more beside it, and for a tree of one leaf', () => {
    const anyProof = fc.record({
      extra: fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes))),
      index: fc.maxSafeNat(),
      path: fc.nat({ max: 53 }).map(hashes),
      checkpoint: fc.constant(checkpoint),
    });
    fc.assert(fc.property(anyProof, (proof) => void expect(decodeProof(encodeProof(proof))).toEqual(proof)));
  });

  it.each([
    ['another version', plainText.replace('@v1', '@v2')],
    ['no empty line', plainText.replaceAll('\n\n', '\n')],
    ['no index', plainText.replace('index 7\n', '')],
    ['an index with a leading zero', plainText.replace('index 7', 'index 07')],
    ['a negative index', plainText.replace('index 7', 'index -7')],
    ['more beside it that is not base64', plainText.replace('eA==', 'e A==')],
    ['more beside it in another spelling', plainText.replace('eA==', 'eB==')],
    ['more beside it behind the index', plainText.replace(/(extra .*)\n(index 7)/, '$2\n$1')],
    ['a short hash', plainText.replace('AQEB', '')],
    ['a line that is no hash', plainText.replace('AQEB', 'A EB')],
    ['a path longer than any', encodeProof({ ...plain, path: hashes(54) })],
    ['carriage returns', plainText.replaceAll('\n', '\r\n')],
    ['too much of it', `${plainText}${'x'.repeat(2_000_000)}`],
    ['nothing', ''],
  ])('is none with %s', (_, text) => {
    expect(decodeProof(text)).toBeNull();
  });

  it('never makes reading throw', () => {
    const pieces = fc.constantFrom(...plainText.split(/(\n)/), '\n\n', checkpoint);
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string())), (parts) => void decodeProof(parts.join(''))),
    );
  });
});

const [signer, stranger] = [1, 2].map((fill) => signerOf('audit.example.com/fleet', Buffer.alloc(32, fill)));
if (signer === undefined || stranger === undefined) throw new Error('two keys');
const stream = 'ns.servicebus.windows.net/hub/0/20261110T222704118Z';
const events = Array.from({ length: 21 }, (_, index) => ({
  sequenceNumber: 40 + index,
  enqueuedMs: 1_762_813_624_118 + index,
  body: Buffer.from(`{"record":${index}}`),
}));
const leaves = events.map(leafOf);
const tree = growTree(emptyTree, leaves.map(leafHash));
const note = signNote(checkpointText(stream, tree), [signer]);

function proofOf(index: number, changed: Partial<TlogProof> = {}): string {
  const prover = openProver(tree.size, { indexes: [index] });
  prover.take(leaves.map(leafHash));
  const [leaf] = leaves.slice(index);
  if (leaf === undefined) throw new Error('a leaf');
  const path = prover.finish().inclusion(index);
  return encodeProof({ extra: Buffer.from(leafText(leaf)), index, path, checkpoint: note, ...changed });
}

const hashOf = (index: number): Uint8Array => leaves[index]?.bodySha256 ?? new Uint8Array();
const judge = (proof: string, hash = hashOf(5), keys = [signer.verifier]) => judgeProof(proof, hash, keys);

describe('a proof', () => {
  it('shows each record where it stands, when the hub stored it, and who signed', () => {
    for (const [index, event] of events.entries()) {
      expect(judge(proofOf(index), hashOf(index))).toEqual({
        status: 'proven',
        stream,
        index,
        size: 21,
        leaf: leafOf(event),
        signedBy: ['audit.example.com/fleet'],
      });
    }
  });

  const leafOfAnother = Buffer.from(
    leafText({ ...leafOf({ ...events[5], body: Buffer.from('forged') } as never) }),
  );
  const lateLeaf = Buffer.from(leafText({ ...leafOf(events[5] as never), enqueuedMs: 0 }));
  it.each([
    ['the bytes of another record', proofOf(5), 'other-record', 6],
    ['a leaf made of forged bytes', proofOf(5, { extra: leafOfAnother }), 'not-in-tree', 5],
    ['another time', proofOf(5, { extra: lateLeaf }), 'not-in-tree', 5],
    ['another index', proofOf(5, { index: 6 }), 'not-in-tree', 5],
    [
      'the path of another entry',
      proofOf(5, { path: decodeProof(proofOf(6))?.path ?? [] }),
      'not-in-tree',
      5,
    ],
    ['no leaf', proofOf(5, { extra: null }), 'without-leaf', 5],
    ['a leaf that is none', proofOf(5, { extra: Buffer.from('leaf') }), 'without-leaf', 5],
    [
      'a checkpoint of which one digit is another',
      proofOf(5).replace('\n21\n', '\n22\n'),
      'wrong-signature',
      5,
    ],
    [
      'a checkpoint that nobody signed',
      proofOf(5, { checkpoint: `${checkpointText(stream, tree)}\n` }),
      'unsigned',
      5,
    ],
    [
      'a checkpoint that a stranger signed in the name of the key',
      proofOf(5, { checkpoint: signNote(checkpointText(stream, tree), [stranger]) }),
      'unknown-keys',
      5,
    ],
    [
      'a signed text that is no checkpoint',
      proofOf(5, { checkpoint: signNote('hello\n', [signer]) }),
      'malformed',
      5,
    ],
    [
      'a smaller signed tree',
      proofOf(20, { checkpoint: signNote(checkpointText(stream, { size: 20, root: hashOf(0) }), [signer]) }),
      'not-in-tree',
      20,
    ],
    ['a text that is no proof', 'hello', 'malformed', 5],
  ])('shows nothing with %s', (_, proof, status, index) => {
    expect(judge(proof, hashOf(index))).toEqual({ status });
  });

  it('shows nothing to somebody who trusts nobody', () => {
    expect(judge(proofOf(5), hashOf(5), [])).toEqual({ status: 'unknown-keys' });
  });

  it('shows nothing else with any bit of it changed', () => {
    const bytes = Buffer.from(proofOf(5), 'utf8');
    const shown = judge(proofOf(5));
    const passed: number[] = [];
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const judged = judge(changed.toString('utf8'));
      if (judged.status === 'proven') passed.push(bit);
      if (judged.status === 'proven') expect(judged).toEqual(shown);
    }
    expect(passed).toEqual([]);
  });
});
