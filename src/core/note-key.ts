// The keys that sign notes and check them, in the texts that C2SP and Go's sumdb give them.
import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';
import { base64, bytesFromBase64 } from './base64.ts';

/** A key that checks signatures: https://c2sp.org/signed-note. One object for each key: making it costs more than using it. */
export interface VerifierKey {
  readonly name: string;
  /** The first four bytes, in hex, of a hash over name and key: together with the name it says which key signed. */
  readonly id: string;
  /** `name+id+base64`, as people pass it on. */
  readonly text: string;
  readonly publicKey: KeyObject;
}

/** A key that signs, and the one that checks what it signed. */
export interface SignerKey {
  readonly privateKey: KeyObject;
  readonly verifier: VerifierKey;
}

/** Why a text is no key: it is none at all; of another algorithm than Ed25519; its id is not its own, as after a slip of the pen. */
export type KeyFault = 'malformed' | 'other-algorithm' | 'wrong-id';

export type ParsedVerifierKey =
  | { readonly status: 'parsed'; readonly key: VerifierKey }
  | { readonly status: KeyFault };
export type ParsedSignerKey =
  | { readonly status: 'parsed'; readonly key: SignerKey }
  | { readonly status: KeyFault };

const ed25519 = 1;
const keyLength = 32;
const nameLengthMax = 256;
const privatePrefix = 'PRIVATE+KEY+';

/** Whether a key may have this name: not empty, neither spaces nor `+`, nothing that a note may not hold. */
export const isKeyName = (name: string): boolean =>
  name.length > 0 && name.length <= nameLengthMax && name.isWellFormed() && !/[\s+\p{Cc}]/u.test(name);

/** The id of an Ed25519 key, as the signed-note specification recommends it and Go's sumdb/note does it. */
function keyId(name: string, publicBytes: Uint8Array): string {
  const hashed = Buffer.concat([Buffer.from(`${name}\n`, 'utf8'), Uint8Array.of(ed25519), publicBytes]);
  return hash('sha256', hashed, 'hex').slice(0, 8);
}

/** Reads `name+id+base64(0x01 || public key)`, the form of https://pkg.go.dev/golang.org/x/mod/sumdb/note#NewVerifier. */
export function parseVerifierKey(text: string): ParsedVerifierKey {
  const parts = partsOf(text);
  if (parts === null) return { status: 'malformed' };
  if (parts.algorithm !== ed25519) return { status: 'other-algorithm' };
  if (parts.key.length !== keyLength) return { status: 'malformed' };
  const key = verifierOf(parts.name, parts.key);
  return key.id === parts.id ? { status: 'parsed', key } : { status: 'wrong-id' };
}

/** Reads `PRIVATE+KEY+name+id+base64(0x01 || seed)`, the form of https://pkg.go.dev/golang.org/x/mod/sumdb/note#NewSigner. */
export function parseSignerKey(text: string): ParsedSignerKey {
  const parts = text.startsWith(privatePrefix) ? partsOf(text.slice(privatePrefix.length)) : null;
  if (parts === null) return { status: 'malformed' };
  if (parts.algorithm !== ed25519) return { status: 'other-algorithm' };
  if (parts.key.length !== keyLength) return { status: 'malformed' };
  const key = signerOf(parts.name, parts.key);
  return key.verifier.id === parts.id ? { status: 'parsed', key } : { status: 'wrong-id' };
}

function partsOf(text: string) {
  // The base64 may hold a `+`; the name may not.
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const bytes = bytesFromBase64(encoded);
  const algorithm = bytes?.[0];
  if (bytes === null || algorithm === undefined || !isKeyName(name)) return null;
  return { name, id, algorithm, key: bytes.subarray(1) };
}

/** A public key by its 32 bytes. */
function verifierOf(name: string, bytes: Uint8Array): VerifierKey {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(bytes).toString('base64url') };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  const id = keyId(name, bytes);
  return { name, id, text: keyText(name, id, bytes), publicKey };
}

// The DER of PKCS #8 around an Ed25519 seed: https://www.rfc-editor.org/rfc/rfc8410#section-7.
const seedPrefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * A signing key by its 32 secret bytes.
 * @throws RangeError when no key may have this name, or the seed has another length
 */
export function signerOf(name: string, seed: Uint8Array): SignerKey {
  if (!isKeyName(name)) throw new RangeError('no key may have this name');
  if (seed.length !== keyLength) throw new RangeError(`the seed of a key has ${keyLength} bytes`);
  const der = Buffer.concat([seedPrefix, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, verifier: verifierOf(name, Buffer.from(x, 'base64url')) };
}

/** How a signing key is kept: the form that `parseSignerKey` reads. It is a secret. */
export const signerKeyText = (name: string, seed: Uint8Array): string =>
  `${privatePrefix}${keyText(name, signerOf(name, seed).verifier.id, seed)}`;

const keyText = (name: string, id: string, bytes: Uint8Array): string =>
  `${name}+${id}+${base64(Buffer.concat([Uint8Array.of(ed25519), bytes]))}`;
