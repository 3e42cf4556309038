// The consumer's copy of its trail: at each interval, in steps, with one line of log when something changes, and never in the way.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFolderFiles } from '../../src/audit/archive/folder-files.ts';
import { type TrailSource, TrailUnusable } from '../../src/audit/store.ts';
import type { Clock } from '../../src/clock.ts';
import { type ArchiveState, runArchive } from '../../src/consumer/archiving.ts';
import { contentOf, eventsFrom, firstDay, grow, readCopy, seal } from '../support/archive/copies.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { sqliteWorld } from '../support/trail/sqlite-world.ts';
import { append, sign } from '../support/trail/world.ts';

interface Turn {
  readonly waitMs: number;
  readonly state: ArchiveState | undefined;
}

/** Runs the copying until it waits `turns` times. @param before is done before each turn of it, from the second on */
async function copyFor(
  turns: number,
  path: string,
  openSource: () => Promise<TrailSource>,
  before: (turn: number) => Promise<void> | void = () => undefined,
) {
  const [log, stop, states, seen] = [
    recordingLog(),
    new AbortController(),
    [] as ArchiveState[],
    [] as Turn[],
  ];
  const clock: Clock = {
    now: () => firstDay + seen.length,
    monotonic: () => seen.length,
    sleep: async (waitMs) => {
      seen.push({ waitMs, state: states.at(-1) });
      if (seen.length >= turns) stop.abort();
      else await before(seen.length);
    },
  };
  await runArchive({
    settings: { type: 'folder', path, interval: 60_000 },
    ...{ openSource, clock, log, signal: stop.signal, onState: (state) => states.push(state) },
  });
  return { seen, lines: log.lines.map(({ level, message }) => `${level}: ${message}`), log };
}

it('copies what is new at each interval, and says once that the copy is complete', async () => {
  await using world = sqliteWorld();
  using directory = temporaryDirectory();
  await using trail = await world.open({ sign });
  await grow(trail, 5);
  const { seen, lines } = await copyFor(3, directory.path, world.source, async () => {
    await grow(trail, 5);
    await seal(trail);
  });
  expect(seen).toEqual([
    { waitMs: 60_000, state: { state: 'complete', at: firstDay } },
    { waitMs: 60_000, state: { state: 'complete', at: firstDay + 1 } },
    { waitMs: 60_000, state: { state: 'complete', at: firstDay + 2 } },
  ]);
  expect(lines).toEqual(['info: the copy of the trail is complete']);
  await using source = await world.source();
  expect((await readCopy(openFolderFiles(directory.path))).content).toEqual(await contentOf(source));
});

it('waits longer and longer while it fails, says it once, and goes on by itself', async () => {
  await using world = sqliteWorld();
  using directory = temporaryDirectory();
  await using trail = await world.open();
  await grow(trail, 5);
  const path = join(directory.path, 'copy');
  writeFileSync(path, 'a file where the folder should be');
  const { seen, lines, log } = await copyFor(6, path, world.source, (turn) => {
    if (turn === 4) rmSync(path);
  });
  expect(seen.map(({ waitMs }) => waitMs)).toEqual([120_000, 240_000, 300_000, 300_000, 60_000, 60_000]);
  expect(seen[3]?.state).toMatchObject({ state: 'failing', reason: 'not-found', since: firstDay });
  expect(lines).toEqual([
    'error: the copy of the trail does not go on; it is tried again',
    'info: the copy of the trail is complete',
  ]);
  expect(log.lines[0]?.fields).toMatchObject({ archive: path, reason: 'not-found' });
});

it('takes a trail that cannot be read, and a bug, for a failure like others', async () => {
  using directory = temporaryDirectory();
  const faults = [new TrailUnusable('secret place'), new TypeError('a bug')];
  const { seen, log } = await copyFor(2, directory.path, async () => {
    throw faults.shift() ?? new Error('no more');
  });
  const reasons = seen.map(({ state }) => state?.state === 'failing' && state.reason);
  expect(reasons).toEqual(['trail-unreadable', 'unexpected']);
  expect(JSON.stringify(log.lines)).not.toMatch(/secret|bug/);
});

it('copies what is big in steps without a pause between them, each from the trail as it stands then', async () => {
  await using world = sqliteWorld();
  using directory = temporaryDirectory();
  await using trail = await world.open();
  for (let first = 0; first < 40; first += 20)
    await append(trail, eventsFrom(first, 20, firstDay, 1_000_000));
  let opened = 0;
  const open = (): Promise<TrailSource> => {
    opened += 1;
    return world.source();
  };
  const { seen, lines } = await copyFor(3, directory.path, open);
  expect(seen.map(({ waitMs, state }) => [waitMs, state?.state])).toEqual([
    [0, 'catching-up'],
    [0, 'catching-up'],
    [60_000, 'complete'],
  ]);
  expect(opened).toBe(3);
  expect(lines).toEqual([
    'info: the copy of the trail catches up',
    'info: the copy of the trail is complete',
  ]);
});
