// Whether a leaf is what anybody can compute again from the hub, to the byte.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { leafHash, leafOf, leafText, readLeafText } from '../../src/core/leaf.ts';

const event = { sequenceNumber: 41, enqueuedMs: 1_762_813_624_118, body: Buffer.from('{"a":1}') };

// Made with printf, openssl dgst and sha256sum, not with this program.
const golden = 'seb.leaf.v1\n41\n1762813624118\nAVq9f1zFei3ZS3WQ8ErYCEJzkF7jPsXOvq5iJ2qX+GI=\n';
const goldenHash = 'f9b8e19fbe0b17f605d578330aabaf39c284647817920538accf0fdd3bda519a';

it('is the text, and has the hash, that other programs give it', () => {
  const leaf = leafOf(event);
  expect(leafText(leaf)).toBe(golden);
  expect(Buffer.from(leafHash(leaf)).toString('hex')).toBe(goldenHash);
});

const anyEvent = fc.record({
  sequenceNumber: fc.maxSafeNat(),
  enqueuedMs: fc.nat({ max: 8.64e15 }),
  body: fc.uint8Array(),
});

it('is another one for any other number, time or body', () => {
  fc.assert(
    fc.property(anyEvent, anyEvent, (a, b) => {
      const isSame =
        a.sequenceNumber === b.sequenceNumber &&
        a.enqueuedMs === b.enqueuedMs &&
        Buffer.compare(a.body, b.body) === 0;
      const [one, two] = [a, b].map((each) => Buffer.from(leafHash(leafOf(each))).toString('hex'));
      expect(one === two).toBe(isSame);
    }),
  );
});

it('is read again from its text', () => {
  fc.assert(
    fc.property(anyEvent, (each) => {
      const leaf = leafOf(each);
      expect(readLeafText(leafText(leaf))).toEqual(leaf);
    }),
  );
});

it.each([
  ['of another version', golden.replace('v1', 'v2')],
  ['with a leading zero', golden.replace('\n41', '\n041')],
  ['with a number too big', golden.replace('\n41', '\n9007199254740993')],
  ['with a time that has no date', golden.replace('1762813624118', '8640000000000001')],
  ['with a hash that has bits behind its end', golden.replace('GI=', 'GJ=')],
  ['with another line', `${golden}\n`],
  ['without its last line break', golden.trimEnd()],
  ['that is empty', ''],
])('is not read from a text %s', (_, text) => {
  expect(readLeafText(text)).toBeNull();
});
