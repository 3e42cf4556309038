// Whether keys are read from their files, and a file that cannot be used is refused in one sentence without the key.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newKey, openSigner, SigningUnusable } from '../../src/audit/signing.ts';
import { parseCheckpoint } from '../../src/core/checkpoint.ts';
import { openNote, parseVerifierKey, type VerifierKey } from '../../src/core/signed-note.ts';
import { emptyTree, growTree, rootOf } from '../../src/core/tree.ts';
import { someLeaves } from '../support/merkle.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

let directory: TemporaryDirectory;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

function keyFile(name: string, text: string, mode = 0o600): string {
  const path = join(directory.path, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function verifier(text = ''): VerifierKey {
  const parsed = parseVerifierKey(text);
  if (parsed.status !== 'parsed') throw new Error(parsed.status);
  return parsed.key;
}

const tree = growTree(emptyTree, someLeaves(5));

describe('a signer', () => {
  it('signs the head of a tree with every key, each once, and names the keys that check it', () => {
    const [first, second] = [newKey('a.example/1'), newKey('a.example/2')];
    const files = [
      keyFile('1', first.privateKey),
      keyFile('2', second.privateKey),
      keyFile('3', first.privateKey),
    ];
    const { sign, keys } = openSigner(files);
    expect(keys).toEqual([first.verifierKey, second.verifierKey]);
    const known = keys.map(verifier);
    const opened = openNote(sign('ns/hub/0/epoch', tree), known);
    if (opened.status !== 'verified') throw new Error(opened.status);
    expect(opened.keys).toEqual(known);
    expect(parseCheckpoint(opened.text)).toEqual({
      origin: 'ns/hub/0/epoch',
      size: 5,
      root: Buffer.from(rootOf(tree)),
    });
  });

  it('makes no two keys alike', () => {
    expect(newKey('a').privateKey).not.toBe(newKey('a').privateKey);
  });

  it.each(['\n', '\r\n', ' \n\n'])('takes a file that ends in %j', (end) => {
    const { privateKey, verifierKey } = newKey('a');
    expect(openSigner([keyFile('k', `${privateKey}${end}`)]).keys).toEqual([verifierKey]);
  });

  it('takes a file that a group may read, and one that all may read where only its user gets to', () => {
    const { privateKey, verifierKey } = newKey('a');
    expect(openSigner([keyFile('k', privateKey, 0o640)]).keys).toEqual([verifierKey]);
    // A temporary directory is closed to others.
    expect(openSigner([keyFile('k', privateKey, 0o644)]).keys).toEqual([verifierKey]);
  });
});

/** What is refused, and the sentence for it. */
const refused: readonly (readonly [what: string, make: () => string, why: RegExp])[] = [
  [
    'a file that is not there',
    () => join(directory.path, 'none'),
    /there is no such file; "seb audit keygen" makes one$/,
  ],
  ['a directory', () => directory.path, /it is a directory$/],
  ['an empty file', () => keyFile('k', ''), /it holds no key as "seb audit keygen" writes it/],
  [
    'a verifier key',
    () => keyFile('k', newKey('a').verifierKey),
    /it holds no key as "seb audit keygen" writes it/,
  ],
  ['two keys', () => keyFile('k', `${newKey('a').privateKey}\n${newKey('b').privateKey}`), /it holds no key/],
  ['a PEM file', () => keyFile('k', '-----BEGIN PRIVATE KEY-----\n'), /it holds no key/],
  [
    'a key under another name',
    () => keyFile('k', newKey('aa').privateKey.replace('aa', 'ab')),
    /the id in its key is not/,
  ],
  [
    'another algorithm',
    () => keyFile('k', `PRIVATE+KEY+a+00000000+${Buffer.alloc(33, 2).toString('base64')}`),
    /not of the algorithm Ed25519$/,
  ],
  ['a file that is too long', () => keyFile('k', 'x'.repeat(5000)), /it is too long for a key$/],
  ['a file below a file', () => join(keyFile('k', ''), 'k'), /the system says ENOTDIR$/],
];

describe('a key file', () => {
  it.each(refused)(
    'is refused when it is %s, in one sentence that names it and quotes nothing of it',
    (_, make, why) => {
      const path = make();
      const error = thrownBy(() => openSigner([path]));
      expect(error).toBeInstanceOf(SigningUnusable);
      expect(error?.message).toMatch(why);
      expect(error?.message).toContain(`the key file ${path} cannot be used: `);
      expect(error?.message).not.toMatch(/PRIVATE\+KEY\+a|BEGIN|xxx|\n/);
    },
  );

  it('is refused when every user of the machine may read it', () => {
    // What all may enter from the root down is only what stands directly in /tmp.
    const open = join('/tmp', `seb-test-open-${process.pid}`);
    mkdirSync(open, { mode: 0o755 });
    try {
      const path = join(open, 'k');
      writeFileSync(path, newKey('a').privateKey);
      chmodSync(path, 0o644);
      expect(thrownBy(() => openSigner([path]))?.message).toBe(
        `the key file ${path} cannot be used: every user of this machine may read it; take that away with chmod 600`,
      );
      chmodSync(path, 0o600);
      expect(openSigner([path]).keys).toHaveLength(1);
    } finally {
      rmSync(open, { recursive: true });
    }
  });

  it('must be given', () => {
    expect(thrownBy(() => openSigner([]))?.message).toBe('no key file is given');
  });
});

function thrownBy(action: () => unknown): Error | null {
  try {
    action();
    return null;
  } catch (error) {
    return error as Error;
  }
}
