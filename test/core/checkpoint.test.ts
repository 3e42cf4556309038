// Whether the head of a tree is written and read as C2SP says.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkpointText, parseCheckpoint } from '../../src/core/checkpoint.ts';
import { emptyTree, growTree, rootOf } from '../../src/core/tree.ts';
import { someLeaves } from '../support/merkle.ts';

// The example of https://c2sp.org/tlog-checkpoint.
const example = 'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n';

it('reads and writes the example of the specification', () => {
  const head = parseCheckpoint(example);
  expect(head).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 });
  if (head === null) throw new Error('a head');
  expect(checkpointText(head.origin, head)).toBe(example);
});

it('writes a tree as it writes its size and root', () => {
  const tree = growTree(emptyTree, someLeaves(5));
  const text = checkpointText('ns/hub/0/epoch', tree);
  expect(text).toBe(checkpointText('ns/hub/0/epoch', { size: 5, root: rootOf(tree) }));
  expect(parseCheckpoint(text)).toEqual({
    origin: 'ns/hub/0/epoch',
    size: 5,
    root: Buffer.from(rootOf(tree)),
  });
});

it('writes the empty tree as the specification wants it', () => {
  expect(checkpointText('o', emptyTree)).toBe('o\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n');
});

it('leaves lines aside that somebody added', () => {
  expect(parseCheckpoint(`${example}more\nand more\n`)).toEqual(parseCheckpoint(example));
});

it.each([
  ['nothing', ''],
  ['no newline at the end', example.slice(0, -1)],
  ['no root', 'o\n1\n'],
  ['no origin', example.replace('example.com/behind-the-sofa', '')],
  ['an empty line', `${example}\n`],
  ['an empty line before more', `${example}\nmore\n`],
  ['a leading zero', example.replace('20852163', '020852163')],
  ['a sign', example.replace('20852163', '+20852163')],
  ['a size that is no number', example.replace('20852163', '2e3')],
  ['a size beyond what can be counted', example.replace('20852163', '9007199254740993')],
  ['a short root', example.replace('CsUY', '')],
  ['a root in another alphabet', example.replace('m/X', 'm_X')],
  ['a root with bits behind its end', example.replace('q2I=', 'q2J=')],
  ['spaces', example.replace('\n2', '\n 2')],
])('reads nothing from a text with %s', (_, text) => {
  expect(parseCheckpoint(text)).toBeNull();
});

it('reads every head that it wrote', () => {
  const root = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9./-]+$/), fc.maxSafeNat(), root, (origin, size, bytes) => {
      const head = { origin, size, root: Buffer.from(bytes) };
      expect(parseCheckpoint(checkpointText(origin, head))).toEqual(head);
    }),
  );
});
