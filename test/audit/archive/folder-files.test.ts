// The files of a copy in a folder: the contract, and what a crash or a full disk may leave behind.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFolderFiles } from '../../../src/audit/archive/folder-files.ts';
import { openFolderLock } from '../../../src/audit/archive/folder-lock.ts';
import { bytesOf, type FilesWorld, keepsFiles, patience } from '../../support/archive/files-contract.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

function folderWorld(): Promise<FilesWorld> {
  const directory = temporaryDirectory();
  return Promise.resolve({
    open: () => openFolderFiles(join(directory.path, 'copy')),
    [Symbol.asyncDispose]: async () => directory[Symbol.dispose](),
  });
}

describe('files in a folder', () => keepsFiles(folderWorld));

describe('what a writer left behind when it died', () => {
  it.each([
    ['half a line', 'x.jsonl', 'one\n', '{"index":1,"seq'],
    ['half a line longer than one look', 'x.jsonl', 'one\n', 'y'.repeat(300_000)],
    ['the text of a note without its signatures', 'x.notes', 'a\n1\nroot\n\n— key sig\n\n', 'a\n2\nroot\n\n'],
    [
      'a note without the empty line behind it',
      'x.notes',
      'a\n1\nroot\n\n— key sig\n\n',
      'a\n2\nroot\n\n— key sig\n',
    ],
    ['half of the very first line', 'x.jsonl', '', '{"in'],
  ])('is cut off before anything is added: %s', async (_, name, whole, torn) => {
    using directory = temporaryDirectory();
    const path = join(directory.path, name);
    writeFileSync(path, whole);
    appendFileSync(path, torn);
    await using files = openFolderFiles(directory.path);
    const next = name.endsWith('.notes') ? 'a\n3\nroot\n\n— key sig\n\n' : 'two\n';
    const length = Buffer.byteLength(whole);
    expect(await files.append(name, bytesOf(next), length + 1, patience)).toEqual({
      status: 'moved',
      length,
    });
    expect(readFileSync(path, 'utf8')).toBe(whole + torn);
    expect(await files.append(name, bytesOf(next), length, patience)).toMatchObject({ status: 'appended' });
    expect(readFileSync(path, 'utf8')).toBe(whole + next);
  });
});

describe('a folder', () => {
  it('is not made before something is written', async () => {
    using directory = temporaryDirectory();
    const root = join(directory.path, 'copy');
    await using files = openFolderFiles(root);
    expect(await files.list('', patience)).toEqual({ status: 'listed', files: [] });
    expect(existsSync(root)).toBe(false);
  });

  it('is left to the writer that has it, and waited for', async () => {
    using directory = temporaryDirectory();
    await using files = openFolderFiles(directory.path);
    using lock = openFolderLock(directory.path);
    expect(lock.take()).toBe(true);
    const leaving = new AbortController();
    const waiting = files.append('x.jsonl', bytesOf('x\n'), 0, leaving.signal);
    leaving.abort();
    expect(await waiting).toEqual({ status: 'failed', reason: 'aborted' });
    const patient = files.append('x.jsonl', bytesOf('x\n'), 0, patience);
    lock.release();
    expect(await patient).toMatchObject({ status: 'appended' });
  });

  it('says why nothing can be written, and goes on when it can', async () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'a'), '');
    await using files = openFolderFiles(directory.path);
    const wrong = await files.append('a/b.jsonl', bytesOf('x\n'), 0, patience);
    expect(wrong).toMatchObject({ status: 'failed' });
    mkdirSync(join(directory.path, 'c'));
    expect(await files.append('c/b.jsonl', bytesOf('x\n'), 0, patience)).toMatchObject({
      status: 'appended',
    });
  });
});
