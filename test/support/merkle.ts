// The tree of RFC 6962 as the RFC defines it, recursively and slowly, and the leaves that its tests use.
import { createHash } from 'node:crypto';

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

export const naiveLeafHash = (leaf: Uint8Array): Uint8Array => sha256(Uint8Array.of(0), leaf);

/** MTH of https://www.rfc-editor.org/rfc/rfc6962#section-2.1. @param leaves their hashes */
export function naiveRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const [first] = leaves;
  if (first === undefined) return sha256();
  if (leaves.length === 1) return first;
  const split = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  return sha256(Uint8Array.of(1), naiveRoot(leaves.slice(0, split)), naiveRoot(leaves.slice(split)));
}

/** The hashes of so many different leaves. */
export const someLeaves = (count: number): readonly Uint8Array[] =>
  Array.from({ length: count }, (_, index) => naiveLeafHash(Buffer.from(`leaf ${index}`)));

/** The eight leaves that the tests of the reference implementation of Certificate Transparency grow their tree from. */
export const referenceLeaves: readonly Uint8Array[] = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => naiveLeafHash(Buffer.from(hex, 'hex')));

/** The roots of the trees of the first 0 to 8 of them, as that implementation has them. */
export const referenceRoots: readonly string[] = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
