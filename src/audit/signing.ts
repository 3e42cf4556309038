// The keys that sign the heads of a trail: made anew, and read from their files.
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isOpenToAll } from '../config/secret.ts';
import { checkpointText } from '../core/checkpoint.ts';
import { signerKeyText, signerOf } from '../core/note-key.ts';
import { type KeyFault, parseSignerKey, type SignerKey, signNote } from '../core/signed-note.ts';
import type { SignHead } from './store.ts';

/** A key file that cannot be used: one sentence for a person, without the key. */
export class SigningUnusable extends Error {}

/** Who signs a trail. */
export interface Signer {
  readonly sign: SignHead;
  /** The keys that check what it signs, as verifiers pass them on. */
  readonly keys: readonly string[];
}

/**
 * Reads the keys once; a changed file counts with the next start.
 * A file that every user of the machine may read is refused: a warning would be overlooked for years, and what
 * anybody can sign proves nothing. A group may read it, as Kubernetes and systemd hand files over.
 * @param keyFiles at least one; a key that stands in two of them signs once
 * @throws SigningUnusable
 */
export function openSigner(keyFiles: readonly string[]): Signer {
  const signers = new Map(keyFiles.map(readKeyFile).map((key) => [key.verifier.text, key]));
  if (signers.size === 0) throw new SigningUnusable('no key file is given');
  const all = [...signers.values()];
  return {
    sign: (origin, tree) => signNote(checkpointText(origin, tree), all),
    keys: [...signers.keys()],
  };
}

const explanations: Readonly<Record<KeyFault, string>> = {
  malformed: 'it holds no key as "seb audit keygen" writes it, PRIVATE+KEY+name+id+base64, on one line',
  'other-algorithm': 'its key is not of the algorithm Ed25519',
  'wrong-id': 'the id in its key is not the id of this name and key: a part of it was changed',
};

function readKeyFile(path: string): SignerKey {
  const parsed = parseSignerKey(textOf(path).trim());
  if (parsed.status !== 'parsed') throw unusable(path, explanations[parsed.status]);
  return parsed.key;
}

const unusable = (path: string, why: string): SigningUnusable =>
  new SigningUnusable(`the key file ${path} cannot be used: ${why}`);

const fileLengthMax = 4096;

function textOf(path: string): string {
  try {
    if (statSync(path).size > fileLengthMax) throw unusable(path, 'it is too long for a key');
    if (isOpenToAll(path)) {
      throw unusable(path, 'every user of this machine may read it; take that away with chmod 600');
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof SigningUnusable) throw error;
    throw unusable(path, reasons[codeOf(error)] ?? `the system says ${codeOf(error)}`);
  }
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? 'unknown error');

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; "seb audit keygen" makes one',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
};

/** A new key: what signs, which is a secret, and what everybody may have to check it. */
export interface NewKey {
  readonly privateKey: string;
  readonly verifierKey: string;
}

const seedLength = 32;

/**
 * Makes a key.
 * @param name such as `audit.example.com/fleet`
 * @throws RangeError when no key may have this name: ask `isKeyName` first
 */
export function newKey(name: string): NewKey {
  const seed = randomBytes(seedLength);
  return { privateKey: signerKeyText(name, seed), verifierKey: signerOf(name, seed).verifier.text };
}
