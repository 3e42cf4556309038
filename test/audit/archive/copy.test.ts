// Copies of a trail in plain files: complete, continued from what stands there, and read as a trail again.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openArchiveSource } from '../../../src/audit/archive/archive-source.ts';
import type { ArchiveFiles } from '../../../src/audit/archive/files.ts';
import { openFolderFiles } from '../../../src/audit/archive/folder-files.ts';
import { openArchiveWriter } from '../../../src/audit/archive/writer.ts';
import type { StoredEntry } from '../../../src/audit/store.ts';
import { blocksMax } from '../../../src/blobs/append-blobs.ts';
import { type SealedHead, sealOf } from '../../../src/core/seal.ts';
import {
  contentOf,
  copyTo,
  dayMs,
  eventAt,
  firstDay,
  grow,
  readCopy,
  seal,
} from '../../support/archive/copies.ts';
import { patience } from '../../support/archive/files-contract.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { sqliteWorld } from '../../support/trail/sqlite-world.ts';
import { append, idOf, other, sign, stream } from '../../support/trail/world.ts';

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(path.length + 1))
    .filter((name) => name !== '.lock')
    .sort();

const textsIn = (path: string): Record<string, string> =>
  Object.fromEntries(filesIn(path).map((name) => [name, readFileSync(join(path, name), 'utf8')]));

const headsIn = ({ body, enqueuedMs }: StoredEntry): readonly SealedHead[] =>
  (body === null ? null : sealOf({ body, enqueuedMs }))?.heads ?? [];

/** Counts appends to each file from a number on, as blobs count their blocks. */
function countingFiles(files: ArchiveFiles, first: number): ArchiveFiles {
  const appends = new Map<string, number>();
  const blocksOf = (name: string): number => first + (appends.get(name) ?? 0);
  return {
    ...files,
    append: async (name, bytes, at, signal) => {
      const answer = await files.append(name, bytes, at, signal);
      if (answer.status !== 'appended') return answer;
      appends.set(name, (appends.get(name) ?? 0) + 1);
      return { ...answer, blocks: blocksOf(name) };
    },
    blocks: async (name) => ({ status: 'known', blocks: blocksOf(name) }),
  };
}

describe('a copy', () => {
  it('says the same as the trail, entry by entry and head by head', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open({ sign });
    await grow(trail, 20);
    await grow(trail, 5, firstDay + dayMs, other);
    await seal(trail);
    await grow(trail, 3, firstDay + 2 * dayMs);
    await seal(trail);
    await using files = openFolderFiles(directory.path);
    await using source = await world.source();
    await copyTo(files, source);
    const copy = await readCopy(openFolderFiles(directory.path));
    expect(copy).toEqual({ content: await contentOf(source), faults: [] });
    expect(filesIn(directory.path).filter((name) => name.startsWith('ns/'))).toEqual([
      `${stream}/2026/11/10/entries-001.jsonl`,
      `${stream}/2026/11/12/entries-001.jsonl`,
      `${stream}/checkpoints.notes`,
      `${other}/2026/11/11/entries-001.jsonl`,
      `${other}/checkpoints.notes`,
    ]);
  });

  it('has the same bytes whether it was written at once or step by step, by one writer or by several', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open({ sign });
    const steps = openArchiveWriter(openFolderFiles(join(directory.path, 'steps')));
    for (let step = 0; step < 8; step += 1) {
      await grow(trail, 1 + step * 3, firstDay + (step * dayMs) / 3);
      if (step % 2 === 0) await seal(trail);
      await using source = await world.source();
      // Every other time by a writer that knows nothing but what stands there.
      const writer =
        step % 3 === 0 ? openArchiveWriter(openFolderFiles(join(directory.path, 'steps'))) : steps;
      expect(await writer.copy(source, { signal: patience })).toMatchObject({ status: 'done' });
    }
    await seal(trail);
    await using source = await world.source();
    expect(await steps.copy(source, { signal: patience })).toMatchObject({ status: 'done' });
    await copyTo(openFolderFiles(join(directory.path, 'once')), source);
    const [byStep, atOnce] = [textsIn(join(directory.path, 'steps')), textsIn(join(directory.path, 'once'))];
    const withoutHeads = (texts: Record<string, string>) =>
      Object.fromEntries(Object.entries(texts).filter(([name]) => !/^trail\/.*notes$/.test(name)));
    expect(withoutHeads(byStep)).toEqual(withoutHeads(atOnce));
  });

  it('works in slices, and holds at every moment only heads and seals of what is there', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open({ sign });
    for (let round = 0; round < 6; round += 1) {
      // One of them sorts behind the trail's own streams.
      const name = round % 2 === 0 ? stream : 'zz/hub/1/20261110T000000000Z';
      await grow(trail, 10, firstDay + (round * dayMs) / 2, name);
      await seal(trail);
    }
    await using source = await world.source();
    const writer = openArchiveWriter(openFolderFiles(directory.path));
    let slices = 0;
    for (let status = 'more'; status === 'more'; slices += 1) {
      status = (await writer.copy(source, { signal: patience, lengthMax: 1 })).status;
      await using copy = await openArchiveSource(openFolderFiles(directory.path));
      const streams = await copy.streams();
      const sizes = new Map(streams.map(({ name, size }) => [name, size]));
      for (const { name, size, kind } of streams) {
        let read = 0;
        for await (const chunk of copy.entries(name)) {
          read += chunk.length;
          const sealed = kind === 'seal' ? chunk.flatMap((entry) => headsIn(entry)) : [];
          expect(sealed.filter((head) => head.size > (sizes.get(head.stream) ?? 0))).toEqual([]);
        }
        expect([name, read]).toEqual([name, size]);
      }
    }
    expect(slices).toBeGreaterThan(3);
    expect((await readCopy(openFolderFiles(directory.path))).content).toEqual(await contentOf(source));
  });

  it('never goes back to the file of an earlier day, as times of a partition may be a little out of order', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open();
    const times = [firstDay, firstDay + dayMs + 5, firstDay + dayMs - 1, firstDay + dayMs + 6];
    await append(
      trail,
      times.map((at, place) => eventAt(place, at)),
    );
    await using source = await world.source();
    await copyTo(openFolderFiles(directory.path), source);
    const lines = Object.entries(textsIn(directory.path))
      .filter(([name]) => name.startsWith(stream))
      .map(([name, text]) => [name.slice(stream.length), text.split('\n').length - 1]);
    expect(lines).toEqual([
      ['/2026/11/10/entries-001.jsonl', 1],
      ['/2026/11/11/entries-001.jsonl', 3],
    ]);
    expect((await readCopy(openFolderFiles(directory.path))).faults).toEqual([]);
  });

  it('begins another file long before a blob takes no more, of the same day even where an entry is older', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open({ sign });
    const files = countingFiles(openFolderFiles(directory.path), blocksMax - 2);
    const writer = openArchiveWriter(files);
    const times = [
      firstDay + dayMs,
      firstDay + dayMs + 1,
      firstDay + dayMs - 1,
      firstDay + dayMs + 2,
      firstDay,
    ];
    for (const [place, at] of times.entries()) {
      await append(trail, [eventAt(place, at)]);
      await seal(trail);
      await using source = await world.source();
      // Every other time by a writer that has to look for the end.
      const other = openArchiveWriter(files);
      const result = await (place % 2 === 0 ? writer : other).copy(source, { signal: patience });
      expect(result).toMatchObject({ status: 'done' });
    }
    const names = filesIn(directory.path).filter((name) => name.startsWith(stream));
    expect(names.map((name) => name.slice(stream.length + 1))).toEqual([
      ...['001', '002', '003'].map((number) => `2026/11/11/entries-${number}.jsonl`),
      ...['-002', '-003', ''].map((number) => `checkpoints${number}.notes`),
    ]);
    await using source = await world.source();
    expect(await readCopy(openFolderFiles(directory.path))).toEqual({
      ...{ content: await contentOf(source), faults: [] },
    });
  });

  it('has no head of more entries than it has, whatever the trail says', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open({ sign });
    await grow(trail, 4);
    await seal(trail);
    await world.tamper(`INSERT INTO checkpoint SELECT stream, 99, note FROM checkpoint WHERE size = 4`);
    await using source = await world.source();
    await copyTo(openFolderFiles(directory.path), source);
    const notes = readFileSync(join(directory.path, stream, 'checkpoints.notes'), 'utf8');
    expect(notes.match(/^\d+$/gm)).toEqual(['4']);
  });

  it('keeps bodies that the trail pruned later, and has none of those that were pruned before', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open({ sign });
    await grow(trail, 4);
    await grow(trail, 4, firstDay, other);
    const writer = openArchiveWriter(openFolderFiles(join(directory.path, 'early')));
    await using before = await world.source();
    await writer.copy(before, { signal: patience });
    expect(await trail.prune(firstDay + dayMs)).toMatchObject({ status: 'pruned' });
    await grow(trail, 2, firstDay + 2 * dayMs);
    await using after = await world.source();
    expect(await writer.copy(after, { signal: patience })).toMatchObject({ status: 'done' });
    await copyTo(openFolderFiles(join(directory.path, 'late')), after);
    const bodies = (name: string) =>
      Object.values(textsIn(join(directory.path, name)))
        .join('')
        .split('\n')
        .filter((line) => /"body(Base64)?":/.test(line) && !line.includes('seb.journal')).length;
    expect([bodies('early'), bodies('late')]).toEqual([10, 2]);
    expect((await readCopy(openFolderFiles(join(directory.path, 'late')))).content).toEqual(
      await contentOf(after),
    );
  });

  it('goes on under the new id of a trail that was put back', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open({ sign });
    await grow(trail, 4);
    const earlier = await idOf(trail);
    const writer = openArchiveWriter(openFolderFiles(directory.path));
    await using before = await world.source();
    await writer.copy(before, { signal: patience });
    await trail.renew({ kind: 'restored', anchor: 'file', earlier, anchoredSize: 1, anchoredRoot: 'AAAA' });
    await using after = await world.source();
    expect(await writer.copy(after, { signal: patience })).toMatchObject({ status: 'done' });
    const { content, faults } = await readCopy(openFolderFiles(directory.path));
    expect({ content, faults }).toEqual({ content: await contentOf(after), faults: [] });
    expect(content.trail).not.toBe(earlier);
  });
});

/** Lists as slowly as may be: what is written meanwhile shows in heads and seals, and not in what they speak of. */
function slowlyListed(files: ArchiveFiles, meanwhile: () => Promise<void>): ArchiveFiles {
  const isLate = (name: string): boolean => name.endsWith('.notes') || name.includes('/seal/');
  return {
    ...files,
    list: async (prefix, signal) => {
      const early = await files.list(prefix, signal);
      await meanwhile();
      const late = await files.list(prefix, signal);
      if (early.status !== 'listed' || late.status !== 'listed') return early;
      const named = [
        ...early.files.filter(({ name }) => !isLate(name)),
        ...late.files.filter(({ name }) => isLate(name)),
      ];
      return { status: 'listed', files: named };
    },
  };
}

describe('a reader', () => {
  it('sees no seal and no head of what it does not see, however long it takes to look', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open({ sign });
    const writer = openArchiveWriter(openFolderFiles(directory.path));
    let day = 0;
    const write = async (): Promise<void> => {
      day += 1;
      await grow(trail, 3, firstDay + day * dayMs);
      await seal(trail);
      await using source = await world.source();
      expect(await writer.copy(source, { signal: patience })).toMatchObject({ status: 'done' });
    };
    await write();
    await using copy = await openArchiveSource(slowlyListed(openFolderFiles(directory.path), write));
    const streams = await copy.streams();
    const sizes = new Map(streams.map(({ name, size }) => [name, size]));
    for (const { name, size } of streams) {
      let read = 0;
      for await (const chunk of copy.entries(name)) {
        read += chunk.length;
        const heads = name.endsWith('/seal') ? chunk.flatMap(headsIn) : [];
        expect(heads.filter((head) => head.size > (sizes.get(head.stream) ?? 0))).toEqual([]);
      }
      expect([name, read]).toEqual([name, size]);
    }
  });
});

describe('a writer', () => {
  it('refuses the copy of another trail, and what is no copy', async () => {
    await using one = sqliteWorld();
    await using two = sqliteWorld();
    using directory = temporaryDirectory();
    for (const world of [one, two]) {
      await using trail = await world.open();
      await grow(trail, 3);
    }
    await using first = await one.source();
    await using second = await two.source();
    await copyTo(openFolderFiles(directory.path), first);
    const before = textsIn(directory.path);
    const refused = await openArchiveWriter(openFolderFiles(directory.path)).copy(second, {
      signal: patience,
    });
    expect(refused).toMatchObject({ status: 'failed', reason: 'another-trail' });
    expect(textsIn(directory.path)).toEqual(before);
  });

  it('stops where the last entry of the copy is not the one of the trail', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open();
    await grow(trail, 3);
    await using before = await world.source();
    await copyTo(openFolderFiles(directory.path), before);
    await world.tamper(`UPDATE entry SET enqueued_ms = enqueued_ms + 1 WHERE idx = 2`);
    await grow(trail, 3);
    await using after = await world.source();
    const result = await openArchiveWriter(openFolderFiles(directory.path)).copy(after, { signal: patience });
    expect(result).toEqual({ status: 'failed', reason: 'copy-differs', at: stream });
  });

  it('writes no gap: where the trail lacks an entry it stops before it', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open();
    await grow(trail, 6);
    await world.tamper('DELETE FROM entry WHERE idx = 3');
    await using source = await world.source();
    const result = await openArchiveWriter(openFolderFiles(directory.path)).copy(source, {
      signal: patience,
    });
    expect(result).toEqual({ status: 'failed', reason: 'trail-damaged', at: stream });
  });

  it('has nothing to do where the copy is further than what it reads: another writer was quicker', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open({ sign });
    await grow(trail, 3);
    await seal(trail);
    await using early = await world.source();
    await grow(trail, 3);
    await seal(trail);
    await using late = await world.source();
    await copyTo(openFolderFiles(directory.path), late);
    const before = textsIn(directory.path);
    const result = await openArchiveWriter(openFolderFiles(directory.path)).copy(early, { signal: patience });
    expect(result).toEqual({ status: 'done', entries: 0, bytes: 0 });
    expect(textsIn(directory.path)).toEqual(before);
  });

  it('makes no folder of a name that would lead out of the copy', async () => {
    await using world = sqliteWorld();
    using directory = temporaryDirectory();
    await using trail = await world.open();
    await grow(trail, 1, firstDay, '../../out');
    await using source = await world.source();
    const result = await openArchiveWriter(openFolderFiles(join(directory.path, 'copy'))).copy(source, {
      signal: patience,
    });
    expect(result).toMatchObject({ status: 'failed', reason: 'trail-damaged' });
    expect(filesIn(directory.path)).toEqual([]);
  });
});
