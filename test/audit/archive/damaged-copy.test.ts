// What somebody may do to a copy in plain files: nothing of it is passed over, and what is strange has a name.
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openArchiveSource } from '../../../src/audit/archive/archive-source.ts';
import { openFolderFiles } from '../../../src/audit/archive/folder-files.ts';
import { type StoredEntry, TrailUnusable } from '../../../src/audit/store.ts';
import { copyTo, dayMs, firstDay, grow, seal } from '../../support/archive/copies.ts';
import { runCommandLine } from '../../support/command-line.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/temporary-directory.ts';
import { sqliteWorld } from '../../support/trail/sqlite-world.ts';
import { sign, signer, stream } from '../../support/trail/world.ts';

const day10 = `${stream}/2026/11/10/entries-001.jsonl`;
const day11 = `${stream}/2026/11/11/entries-001.jsonl`;
const notes = `${stream}/checkpoints.notes`;

/** Every file of a sound copy, as it is written anew for each test. */
const sound = new Map<string, Buffer>();
let directory: TemporaryDirectory;

beforeAll(async () => {
  directory = temporaryDirectory();
  await using world = sqliteWorld();
  await using trail = await world.open({ sign });
  await grow(trail, 5);
  await seal(trail);
  await grow(trail, 3, firstDay + dayMs);
  await seal(trail);
  await using source = await world.source();
  await using files = openFolderFiles(join(directory.path, 'sound'));
  await copyTo(files, source);
  const listed = await files.list('', new AbortController().signal);
  if (listed.status !== 'listed') throw new Error(listed.status);
  for (const { name } of listed.files) sound.set(name, readFileSync(join(files.place, name)));
});
afterAll(() => directory[Symbol.dispose]());

interface Copy {
  /** Where a file of it is. */
  at(name: string): string;
  edit(name: string, change: (text: string) => string): void;
}

let copies = 0;

async function read(damage: (copy: Copy) => void) {
  copies += 1;
  const root = join(directory.path, `copy-${copies}`);
  const at = (name: string): string => join(root, name);
  for (const [name, bytes] of sound) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), bytes);
  }
  damage({ at, edit: (name, change) => writeFileSync(at(name), change(readFileSync(at(name), 'utf8'))) });
  await using source = await openArchiveSource(openFolderFiles(root));
  const streams = await source.streams();
  const entries: StoredEntry[] = [];
  for (const { name } of streams) {
    for await (const chunk of source.entries(name)) if (name === stream) entries.push(...chunk);
    for await (const _ of source.notes(name));
  }
  const words = ['--trail', root, '--key', signer.verifier.text, '--accept', 'no-anchor'];
  const verified = await runCommandLine(['audit', 'verify', ...words]);
  return {
    exitCode: verified.exitCode,
    said: verified.stdout,
    trail: source.trail,
    size: streams.find(({ name }) => name === stream)?.size,
    indexes: entries.map(({ index }) => index),
    faults: (source.faults?.() ?? []).map(({ kind, place, count }) => `${kind} ${place} ${count}`),
  };
}

const all = [0, 1, 2, 3, 4, 5, 6, 7];
const lineAt = (text: string, line: number): string => `${text.split('\n')[line] ?? ''}\n`;
const rewrite = (line: (entry: Record<string, unknown>) => unknown) => (text: string) =>
  text.replace(lineAt(text, 1), (found) => `${JSON.stringify(line(JSON.parse(found)))}\n`);

describe('a copy of which', () => {
  it('nothing was changed has no fault', async () => {
    const { faults, indexes, size, exitCode } = await read(() => undefined);
    expect({ faults, indexes, size, exitCode }).toEqual({ faults: [], indexes: all, size: 8, exitCode: 0 });
  });

  it.each<[what: string, damage: (copy: Copy) => void, indexes: number[], faults: string[]]>([
    [
      'a line was taken away',
      ({ edit }) => edit(day10, (text) => text.replace(lineAt(text, 2), '')),
      [0, 1, 3, 4, 5, 6, 7],
      [],
    ],
    [
      'a line stands twice',
      ({ edit }) => edit(day10, (text) => text.replace(lineAt(text, 2), (line) => line + line)),
      [0, 1, 2, 2, 3, 4, 5, 6, 7],
      [],
    ],
    [
      'two lines changed places',
      ({ edit }) =>
        edit(day10, (text) =>
          text.replace(lineAt(text, 1) + lineAt(text, 2), lineAt(text, 2) + lineAt(text, 1)),
        ),
      [0, 2, 1, 3, 4, 5, 6, 7],
      [],
    ],
    [
      'a line is broken',
      ({ edit }) => edit(day10, (text) => text.replace('{"index":1', '{"index"1')),
      [0, 2, 3, 4, 5, 6, 7],
      [`unreadable-line ${day10}:2 1`],
    ],
    [
      'a line is empty',
      ({ edit }) => edit(day10, (text) => `\n${text}`),
      all,
      [`unreadable-line ${day10}:1 1`],
    ],
    [
      'a line is not JSON but something',
      ({ edit }) => edit(day10, (text) => `null\n[1]\n${text}`),
      all,
      [`unreadable-line ${day10}:1 2`],
    ],
    [
      'a line says more than it should',
      ({ edit }) =>
        edit(
          day10,
          rewrite((entry) => ({ ...entry, more: 1 })),
        ),
      all,
      [`rewritten-line ${day10}:2 1`],
    ],
    [
      'a line has other spaces',
      ({ edit }) => edit(day10, (text) => text.replace('{"index":1,', '{"index": 1,')),
      all,
      [`rewritten-line ${day10}:2 1`],
    ],
    [
      'a line names its body twice',
      ({ edit }) => edit(day10, (text) => text.replace('{"index":1,', '{"body":"x","index":1,')),
      all,
      [`rewritten-line ${day10}:2 1`],
    ],
    [
      'a line has an index that is no number',
      ({ edit }) =>
        edit(
          day10,
          rewrite((entry) => ({ ...entry, index: '1' })),
        ),
      [0, 2, 3, 4, 5, 6, 7],
      [`unreadable-line ${day10}:2 1`],
    ],
    [
      'a line has a hash that is too short',
      ({ edit }) =>
        edit(
          day10,
          rewrite((entry) => ({ ...entry, bodySha256: 'AAAA' })),
        ),
      [0, 2, 3, 4, 5, 6, 7],
      [`unreadable-line ${day10}:2 1`],
    ],
    [
      'a line has bytes that are no text',
      ({ at }) =>
        writeFileSync(
          at(day10),
          Buffer.concat([
            Buffer.from(readFileSync(at(day10), 'latin1').replace('"record', '"rec\xffrd'), 'latin1'),
          ]),
        ),
      all,
      [`rewritten-line ${day10}:1 1`],
    ],
    [
      'the last line has no end',
      ({ at }) => truncateSync(at(day11), readFileSync(at(day11)).length - 1),
      [0, 1, 2, 3, 4, 5, 6],
      [`torn-line ${day11}:3 1`],
    ],
    [
      'an earlier file ends in the middle',
      ({ at }) => truncateSync(at(day10), readFileSync(at(day10)).length - 9),
      [0, 1, 2, 3, 5, 6, 7],
      [`torn-line ${day10}:5 1`],
    ],
    [
      'something stands behind the last line',
      ({ at }) => appendFileSync(at(day11), 'trailing\n'),
      all,
      [`unreadable-line ${day11}:4 1`],
    ],
    ['a day is missing', ({ at }) => rmSync(at(day10)), [5, 6, 7], []],
    [
      'a file has the name of another day',
      ({ at }) => {
        mkdirSync(dirname(at(day11.replace('/11/11/', '/11/12/'))));
        renameSync(at(day11), at(day11.replace('/11/11/', '/11/12/')));
      },
      all,
      [`misplaced-file ${day11.replace('/11/11/', '/11/12/')}:1 1`],
    ],
    [
      'a file has another number',
      ({ at }) => renameSync(at(day11), at(day11.replace('001', '002'))),
      all,
      [`misplaced-file ${day11.replace('001', '002')} 1`],
    ],
    [
      'two days changed places',
      ({ at }) => {
        renameSync(at(day10), at('x'));
        renameSync(at(day11), at(day10));
        renameSync(at('x'), at(day11));
      },
      [5, 6, 7, 0, 1, 2, 3, 4],
      [`misplaced-file ${day10}:1 3`, `misplaced-file ${day11}:1 1`],
    ],
    [
      'a file lies there that is none of it',
      ({ at }) => writeFileSync(at(`${stream}/entries.bak`), 'x'),
      all,
      [`foreign-file ${stream}/entries.bak 1`],
    ],
    [
      'a file is named in capitals',
      ({ at }) => renameSync(at(day11), at(day11.replace('entries', 'Entries'))),
      [0, 1, 2, 3, 4],
      [`foreign-file ${day11.replace('entries', 'Entries')} 1`],
    ],
    [
      'bytes stand between the heads',
      ({ edit }) => edit(notes, (text) => `x\n${text}`),
      all,
      [`unreadable-note ${notes} 1`],
    ],
    [
      'a head lost its signature',
      ({ edit }) => edit(notes, (text) => text.replace(/\n— .*\n/, '\n')),
      all,
      [`unreadable-note ${notes} 1`],
    ],
    [
      'the last head is cut short',
      ({ at }) => truncateSync(at(notes), readFileSync(at(notes)).length - 20),
      all,
      [`unreadable-note ${notes} 1`],
    ],
    ['nothing says whose it is', ({ at }) => rmSync(at('trail.json')), all, ['no-identity trail.json 1']],
    [
      'something else says whose it is',
      ({ at }) => writeFileSync(at('trail.json'), '{"trail":1}\n'),
      all,
      ['no-identity trail.json 1'],
    ],
  ])('%s', async (_, damage, indexes, faults) => {
    const found = await read(damage);
    expect({ indexes: found.indexes, faults: found.faults }).toEqual({ indexes, faults });
    // A file that is none of it changes nothing of the copy: it is only named.
    const isWhole = faults.every((fault) => fault.startsWith('foreign-file')) && indexes === all;
    expect(isWhole ? [0] : [10, 11], found.said).toContain(found.exitCode);
    // The first of several in one stream speaks for them.
    for (const fault of faults.slice(0, 1))
      expect(found.said).toContain(fault.split(' ')[1]?.replace(/:\d+$/, ''));
    expect(found.trail).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('the end was cut off still says by its heads how much there was', async () => {
    const { size, indexes, faults, exitCode } = await read(({ at }) => rmSync(at(day11)));
    expect({ size, indexes, faults }).toEqual({ size: 8, indexes: [0, 1, 2, 3, 4], faults: [] });
    expect(exitCode).toBe(10);
  });

  it('a line is longer than any entry', async () => {
    const long = 'x'.repeat(70 * 1024 * 1024);
    const { indexes, faults } = await read(({ edit }) =>
      edit(day10, (text) => text.replace(lineAt(text, 2), `${long}\n`)),
    );
    expect({ indexes, faults }).toEqual({
      indexes: [0, 1, 3, 4, 5, 6, 7],
      faults: [`endless-line ${day10}:3 1`],
    });
  });

  it('nothing is left, or that never was one, cannot be read', async () => {
    using empty = temporaryDirectory();
    const opening = (path: string) => openArchiveSource(openFolderFiles(path));
    await expect(opening(empty.path)).rejects.toThrow(TrailUnusable);
    await expect(opening(join(empty.path, 'none'))).rejects.toThrow(/holds no copy of a trail/);
    writeFileSync(join(empty.path, 'letter.txt'), 'x');
    await expect(opening(empty.path)).rejects.toThrow(/holds no copy of a trail/);
  });
});
