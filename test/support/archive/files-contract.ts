// What the files of a copy must do wherever they are: the same tests for a folder and for append blobs.
import { expect, it } from 'vitest';
import type { ArchiveFiles } from '../../../src/audit/archive/files.ts';

/** A place for a copy, empty at first, opened as often as a test likes; gone with the test. */
export interface FilesWorld extends AsyncDisposable {
  open(): ArchiveFiles;
}

export const patience = new AbortController().signal;
export const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'utf8');

export async function textIn(files: ArchiveFiles, name: string): Promise<string | null> {
  const read = await files.read(name, 0, 16 * 1024 * 1024, patience);
  if (read.status === 'failed') throw new Error(read.reason);
  return read.status === 'missing' ? null : Buffer.from(read.bytes).toString('utf8');
}

export function keepsFiles(openWorld: () => Promise<FilesWorld>): void {
  it('makes a file with its first bytes, and adds only where it ends', async () => {
    await using world = await openWorld();
    await using files = world.open();
    const add = (text: string, at: number) => files.append('a/b/c.jsonl', bytesOf(text), at, patience);
    expect(await add('one\n', 0)).toMatchObject({ status: 'appended', length: 4 });
    expect(await add('two\n', 4)).toMatchObject({ status: 'appended', length: 8 });
    for (const at of [0, 4, 9]) expect(await add('no\n', at)).toEqual({ status: 'moved', length: 8 });
    expect(await textIn(files, 'a/b/c.jsonl')).toBe('one\ntwo\n');
    const missing = await files.append('none.jsonl', bytesOf('no\n'), 5, patience);
    expect(missing).toEqual({ status: 'moved', length: 0 });
  });

  it('reads any part, nothing beyond the end, and says what is missing', async () => {
    await using world = await openWorld();
    await using files = world.open();
    await files.append('x.jsonl', bytesOf('0123456789\n'), 0, patience);
    const part = async (from: number, length: number): Promise<string> => {
      const read = await files.read('x.jsonl', from, length, patience);
      return read.status === 'read' ? Buffer.from(read.bytes).toString() : read.status;
    };
    expect([await part(2, 3), await part(8, 9), await part(11, 1), await part(99, 1)]).toEqual([
      ...['234', '89\n', '', ''],
    ]);
    expect(await files.read('y.jsonl', 0, 1, patience)).toEqual({ status: 'missing' });
  });

  it('lists what is below a folder, by name and with its length', async () => {
    await using world = await openWorld();
    await using files = world.open();
    expect(await files.list('', patience)).toEqual({ status: 'listed', files: [] });
    for (const name of ['s/2/b.jsonl', 't/a.jsonl', 's/1/a.jsonl', 's2/a.jsonl'])
      await files.append(name, bytesOf(`${name}\n`), 0, patience);
    const listed = async (prefix: string) => {
      const found = await files.list(prefix, patience);
      return found.status === 'listed' ? found.files.map(({ name, length }) => `${name} ${length}`) : found;
    };
    expect(await listed('s/')).toEqual(['s/1/a.jsonl 12', 's/2/b.jsonl 12']);
    expect(await listed('')).toHaveLength(4);
  });

  it('lets one of two writers win each place, and tells the other', async () => {
    await using world = await openWorld();
    const write = async (mark: string): Promise<void> => {
      await using files = world.open();
      for (let at = 0, written = 0; written < 25; ) {
        const answer = await files.append('shared.jsonl', bytesOf(`${mark}\n`), at, patience);
        if (answer.status !== 'appended' && answer.status !== 'moved') throw new Error(answer.status);
        if (answer.status === 'appended') written += 1;
        at = answer.length;
      }
    };
    await Promise.all([write('a'), write('b')]);
    await using files = world.open();
    const lines = (await textIn(files, 'shared.jsonl'))?.split('\n') ?? [];
    expect(lines.toSorted().join('')).toBe(`${'a'.repeat(25)}${'b'.repeat(25)}`);
  });

  it('does nothing for whoever no longer wants it', async () => {
    await using world = await openWorld();
    await using files = world.open();
    const late = AbortSignal.abort();
    const aborted = { status: 'failed', reason: 'aborted' };
    expect(await files.append('x.jsonl', bytesOf('x\n'), 0, late)).toEqual(aborted);
    expect(await files.read('x.jsonl', 0, 1, late)).toEqual(aborted);
    expect(await files.list('', late)).toEqual(aborted);
    expect(await files.list('', patience)).toEqual({ status: 'listed', files: [] });
  });
}
