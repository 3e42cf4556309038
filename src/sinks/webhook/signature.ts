// Signs what a webhook sends, as Standard Webhooks 1.0 says it: several keys at once, so that they can be rotated.
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

/** A secret, read: `v1` is HMAC-SHA256, `v1a` is ed25519. */
export type SigningKey =
  | { readonly version: 'v1'; readonly key: Buffer }
  | { readonly version: 'v1a'; readonly key: KeyObject };

/** What is signed beside the body. */
export interface SignedContent {
  /** Without a dot, because dots separate the parts of what is signed. */
  readonly id: string;
  /** Seconds since 1970 at which the attempt began. */
  readonly timestamp: number;
  readonly body: Buffer;
}

// The specification's own bounds for the key of an HMAC.
const hmacBytesMin = 24;
const hmacBytesMax = 64;
// Of a seed, and of a public key.
const seedBytes = 32;

/** What a secret has to look like, for a person who gave one that does not. */
export const signingKeyForm =
  'Expected whsec_ and 24 to 64 bytes in base64, or whsk_ and an ed25519 key of 32 or 64 bytes in base64';

/**
 * Reads a secret of Standard Webhooks. Costs less than 0.1 ms, so nobody has to keep the result.
 * @param text `whsec_…`, its bare base64 (as the libraries of the specification take it too), or `whsk_…`: the seed
 * of a key pair, or the seed with the public key behind it
 * @returns null when it is none of these
 */
export function readSigningKey(text: string): SigningKey | null {
  const [, prefix, base64 = ''] = /^(whsec_|whsk_)?(.*)$/s.exec(text) ?? [];
  const bytes = decode(base64);
  if (bytes === null) return null;
  if (prefix === 'whsk_') return readKeyPair(bytes);
  const fits = bytes.length >= hmacBytesMin && bytes.length <= hmacBytesMax;
  return fits ? { version: 'v1', key: bytes } : null;
}

/** The value of `webhook-signature`: one signature for each key, separated by spaces. */
export const signaturesOf = (keys: readonly SigningKey[], content: SignedContent): string =>
  keys.map((key) => signatureOf(key, content)).join(' ');

function signatureOf(signing: SigningKey, { id, timestamp, body }: SignedContent): string {
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const bytes =
    signing.version === 'v1'
      ? createHmac('sha256', signing.key).update(signed).digest()
      : sign(null, signed, signing.key);
  return `${signing.version},${bytes.toString('base64')}`;
}

/** Node skips over what is not base64; what another library would refuse, or read as other bytes, is refused here. */
function decode(base64: string): Buffer | null {
  const bytes = Buffer.from(base64, 'base64');
  return base64 !== '' && bytes.toString('base64') === base64 ? bytes : null;
}

function readKeyPair(bytes: Buffer): SigningKey | null {
  if (bytes.length < seedBytes) return null;
  const key = keyOfSeed(bytes.subarray(0, seedBytes));
  const publicKey = bytes.subarray(seedBytes);
  // Behind the seed of another key, or with bytes missing: every signature would be refused.
  if (publicKey.length > 0 && !publicKey.equals(publicKeyOf(key))) return null;
  return { version: 'v1a', key };
}

// What stands before the 32 bytes of a seed in PKCS #8 (RFC 8410, section 7).
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

const keyOfSeed = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' });

const publicKeyOf = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-seedBytes);
