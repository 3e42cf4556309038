// Whether directories are made to the end, whatever the file system says.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDirectories } from '../src/directories.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

describe('making directories', () => {
  it('makes all that are missing, with the mode, and leaves the others as they are', () => {
    using directory = temporaryDirectory();
    const there = join(directory.path, 'there');
    mkdirSync(there, { mode: 0o711 });
    makeDirectories(join(there, 'a', 'b'), 0o700);
    makeDirectories(join(there, 'a', 'b'), 0o777);
    const modes = [there, join(there, 'a'), join(there, 'a', 'b')].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o711, 0o700, 0o700]);
  });

  it.each([
    ['below a file', (path: string) => join(path, 'file', 'x'), 'EEXIST'],
    ['where there is a file', (path: string) => join(path, 'file'), 'EEXIST'],
    // Node's own way never comes back from here.
    ['in /proc, which says that it is not there', () => '/proc/nowhere/x', 'ENOENT'],
  ])('says why it cannot be done %s', (_, pathIn, code) => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'file'), '');
    expect(() => makeDirectories(pathIn(directory.path), 0o700)).toThrow(expect.objectContaining({ code }));
  });
});
