// Writers of a copy that are killed at any moment, and readers meanwhile: what is there in the end is the whole trail, once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { openArchiveSource } from '../../../src/audit/archive/archive-source.ts';
import { openFolderFiles } from '../../../src/audit/archive/folder-files.ts';
import {
  contentOf,
  copyTo,
  dayMs,
  eventsFrom,
  firstDay,
  readCopy,
  seal,
} from '../../support/archive/copies.ts';
import { projectRoot } from '../../support/source-files.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { sqliteWorld } from '../../support/trail/sqlite-world.ts';
import { append, other, sign, stream } from '../../support/trail/world.ts';

const program = join(projectRoot, 'test/support/archive/copy-forever.ts');

function startWriter(trail: string, folder: string): ChildProcess {
  const words = [program, trail, folder, '20000'];
  return spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Lets it write a few steps, one more or less each time, and kills it. */
async function killAfter(child: ChildProcess, steps: number): Promise<void> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  let seen = 0;
  for await (const line of lines) {
    expect(line).toMatch(/"status":"(done|more)"/);
    seen += 1;
    if (seen >= steps) break;
  }
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** A trail of some megabytes over three days, sealed now and then. */
async function bigTrail() {
  const world = sqliteWorld();
  await using trail = await world.open({ sign });
  for (let round = 0; round < 6; round += 1) {
    for (const name of [stream, other])
      await append(trail, eventsFrom(round * 100, 100, firstDay + (round * dayMs) / 2, 1_000), name);
    await seal(trail);
  }
  return world;
}

it('two writers that are killed again and again leave a copy that any other one completes', async () => {
  await using world = await bigTrail();
  using directory = temporaryDirectory();
  for (let round = 0; round < 3; round += 1) {
    const writers = [startWriter(world.path, directory.path), startWriter(world.path, directory.path)];
    await Promise.all(writers.map((child, place) => killAfter(child, 1 + round + place)));
    const { faults } = await readCopy(openFolderFiles(directory.path));
    expect(faults).toEqual([]);
  }
  await using source = await world.source();
  await copyTo(openFolderFiles(directory.path), source);
  expect(await readCopy(openFolderFiles(directory.path))).toEqual({
    ...{ content: await contentOf(source), faults: [] },
  });
});

it('a copy that ends anywhere, as after a power cut, is completed and has nothing twice', async () => {
  await using world = await bigTrail();
  await using source = await world.source();
  using directory = temporaryDirectory();
  const root = join(directory.path, 'copy');
  await copyTo(openFolderFiles(root), source);
  const whole = await readCopy(openFolderFiles(root));
  const cutAt = (name: string, length: number): void => truncateSync(join(root, name), length);
  const listed = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const last =
    listed
      .filter((name) => name.endsWith('.jsonl'))
      .toSorted()
      .findLast((name) => name.startsWith(stream)) ?? '';
  for (const [name, length] of [
    [last, 0],
    [last, 1],
    [last, 5_000],
    [`${stream}/checkpoints.notes`, 0],
    [`${stream}/checkpoints.notes`, 100],
    [`${stream}/checkpoints.notes`, 300],
  ] as const) {
    cutAt(name, length);
    await copyTo(openFolderFiles(root), source);
    expect(await readCopy(openFolderFiles(root))).toEqual(whole);
  }
});

it('a reader takes a line that is being written for what comes later, and not for damage', async () => {
  await using world = await bigTrail();
  using directory = temporaryDirectory();
  const writer = startWriter(world.path, directory.path);
  const killed = killAfter(writer, 20);
  for (let looks = 0; looks < 6; ) {
    const found = readdirSync(directory.path, { recursive: true, encoding: 'utf8' });
    if (!found.some((name) => name.endsWith('.jsonl'))) {
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    looks += 1;
    await using copy = await openArchiveSource(openFolderFiles(directory.path));
    for (const { name, size } of await copy.streams()) {
      let read = 0;
      for await (const chunk of copy.entries(name)) read += chunk.length;
      expect([name, read]).toEqual([name, size]);
    }
    expect(copy.faults?.()).toEqual([]);
  }
  await killed;
});
