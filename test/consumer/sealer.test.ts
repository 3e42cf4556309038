// The rhythm of seals: within 30 s of what came, hourly without, one for all instances, never by their own echo.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import type { TrailStore } from '../../src/audit/store.ts';
import type { Clock } from '../../src/clock.ts';
import { openProgress } from '../../src/consumer/progress.ts';
import { openSealer, type SealNews } from '../../src/consumer/sealer.ts';
import type { JournalFact } from '../../src/core/journal.ts';
import { type SteppedClock, steppedClock } from '../support/clocks.ts';
import { sealsIn } from '../support/own-streams.ts';
import { recordingLog } from '../support/recording-log.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const first = 'ns/hub/0/20261110T000000000Z';
const other = 'ns/hub/1/20261110T000000000Z';
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const stopped: JournalFact = { kind: 'consumer-stopped', instance: 'a' };
const anchored: JournalFact = { kind: 'anchored', anchor: 'file:a', size: 1, reference: null };
const anchorFailed: JournalFact = { kind: 'anchor-failed', anchor: 'file:a', size: 1, reason: 'disk-full' };

/** One instance that seals, until it is disposed of. */
function startSealing(path: string, clock: Clock) {
  const [log, news, over] = [recordingLog(), [] as SealNews[], new AbortController()];
  const trail = openSqliteTrail(path, { now: clock.now });
  const tell = (each: SealNews): void => void news.push(each);
  const sealer = openSealer({ trail, clock, log, progress: openProgress(clock), tell });
  const run = sealer.run(over.signal);
  const stop = async (): Promise<void> => {
    over.abort();
    await run;
  };
  return {
    ...{ trail, log, news, stop, sealer },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await trail[Symbol.asyncDispose]();
    },
  };
}

async function receive(trail: TrailStore, stream: string): Promise<void> {
  const known = await trail.position(stream);
  if (known.status !== 'known') throw new Error('the trail cannot be read');
  const { position } = known;
  await trail.append(stream, position, asHubEvents(liveMigration(), position.lastSequenceNumber + 1));
}

const namedIn = (path: string): string[][] =>
  sealsIn(path).map(({ heads }) => heads.map(({ stream, size }) => `${nameOf(stream)} ${size}`));
/** The partition, or `journal`. */
const nameOf = (stream: string): string => stream.split('/')[2] ?? '';
const gapsIn = (path: string): number[] =>
  sealsIn(path).flatMap(({ at }, place, seals) => (place === 0 ? [] : [at - (seals[place - 1]?.at ?? 0)]));

async function world() {
  const directory = temporaryDirectory();
  const clock: SteppedClock = steppedClock();
  return {
    path: join(directory.path, 'trail.db'),
    clock,
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

test('what came is sealed within 30 s, and a seal names only what changed since the one before', async () => {
  using here = await world();
  await using sealing = startSealing(here.path, here.clock);
  await receive(sealing.trail, first);
  await here.clock.pass(31 * second);
  await receive(sealing.trail, other);
  await receive(sealing.trail, other);
  await here.clock.pass(31 * second);
  await here.clock.pass(10 * minute);
  expect(namedIn(here.path)).toEqual([
    ['0 3', 'journal 1'],
    ['1 6', 'journal 2'],
  ]);
  expect(sealing.news.at(-1)).toMatchObject({ kind: 'seals', entries: 11, unsealed: 0, waitingMs: null });
});

test('a trail to which events come all the time is sealed every 30 s', async () => {
  using here = await world();
  await using sealing = startSealing(here.path, here.clock);
  for (let time = 0; time < 60; time++) {
    await receive(sealing.trail, first);
    await here.clock.pass(5 * second);
  }
  expect(sealsIn(here.path)).toHaveLength(10);
  expect(gapsIn(here.path).every((gap) => gap === 30 * second)).toBe(true);
});

test('a trail to which nothing comes is sealed every hour, with an empty seal', async () => {
  using here = await world();
  await using sealing = startSealing(here.path, here.clock);
  await receive(sealing.trail, first);
  await here.clock.pass(2 * hour + minute);
  expect(namedIn(here.path)).toEqual([['0 3', 'journal 1'], [], []]);
  expect(gapsIn(here.path)).toEqual([hour, hour]);
});

test('what an anchor took or did not take is no news by itself: it would be sealed, anchored and journaled for ever', async () => {
  using here = await world();
  await using sealing = startSealing(here.path, here.clock);
  await receive(sealing.trail, first);
  await here.clock.pass(minute);
  for (let time = 0; time < 20; time++) {
    await sealing.trail.journal([time % 2 === 0 ? anchored : anchorFailed]);
    await here.clock.pass(minute);
  }
  expect(sealsIn(here.path)).toHaveLength(1);
  expect(await sealing.sealer.finish(new AbortController().signal)).toBe(true);
  expect(sealsIn(here.path)).toHaveLength(1);
  await here.clock.pass(hour);
  // The hourly seal names it, and so does any seal that another fact makes due.
  expect(namedIn(here.path).slice(1)).toEqual([['journal 21']]);
  await sealing.trail.journal([anchored, stopped]);
  await here.clock.pass(minute);
  expect(namedIn(here.path).slice(2)).toEqual([['journal 23']]);
});

test('two consumers on one trail seal once every 30 s together, and the slower one says nothing of it', async () => {
  using here = await world();
  await using one = startSealing(here.path, here.clock);
  await here.clock.pass(7 * second);
  await using two = startSealing(here.path, here.clock);
  for (let time = 0; time < 60; time++) {
    await receive(time % 2 === 0 ? one.trail : two.trail, time % 2 === 0 ? first : other);
    await here.clock.pass(5 * second);
  }
  const sizes = sealsIn(here.path).length;
  expect(sizes).toBeGreaterThanOrEqual(10);
  expect(sizes).toBeLessThanOrEqual(11);
  expect([...one.log.lines, ...two.log.lines]).toEqual([]);
  // Neither names again what the other one sealed.
  const named = namedIn(here.path).flat();
  expect(new Set(named).size).toBe(named.length);
  await one.stop();
  await receive(two.trail, first);
  await here.clock.pass(minute + second);
  expect(sealsIn(here.path).length).toBeGreaterThan(sizes);
});

test('two consumers that find the same seal due at the same moment write one', async () => {
  using here = await world();
  await using one = startSealing(here.path, here.clock);
  await using two = startSealing(here.path, here.clock);
  for (let time = 0; time < 10; time++) {
    await receive(one.trail, first);
    await here.clock.jump(30 * second);
  }
  await Promise.all([one, two].map(({ sealer }) => sealer.finish(new AbortController().signal)));
  expect(sealsIn(here.path).length).toBeLessThanOrEqual(11);
  const named = namedIn(here.path).flat();
  expect(new Set(named).size).toBe(named.length);
});

test('after a restart only what changed is named, although it was another run that sealed', async () => {
  using here = await world();
  {
    await using sealing = startSealing(here.path, here.clock);
    await receive(sealing.trail, first);
    await here.clock.pass(minute);
    await receive(sealing.trail, other);
    await here.clock.pass(minute);
  }
  await using sealing = startSealing(here.path, here.clock);
  await receive(sealing.trail, other);
  await here.clock.pass(minute);
  expect(namedIn(here.path)).toEqual([['0 3', 'journal 1'], ['1 3', 'journal 2'], ['1 6']]);
});

test('a clock that was put back by a day keeps nothing from being sealed', async () => {
  using here = await world();
  let backMs = 0;
  await using sealing = startSealing(here.path, { ...here.clock, now: () => here.clock.now() - backMs });
  await receive(sealing.trail, first);
  await here.clock.pass(minute);
  backMs = 24 * hour;
  await receive(sealing.trail, first);
  await here.clock.pass(minute);
  await receive(sealing.trail, first);
  await here.clock.pass(minute);
  expect(namedIn(here.path)).toEqual([['0 3', 'journal 1'], ['0 6'], ['0 9']]);
});

test('while the trail cannot be written that is said once, and it is sealed when it can', async () => {
  using here = await world();
  await using sealing = startSealing(here.path, here.clock);
  await receive(sealing.trail, first);
  await here.clock.pass(minute);
  await receive(sealing.trail, first);
  const holder = new DatabaseSync(here.path);
  holder.exec('BEGIN IMMEDIATE');
  await here.clock.pass(50 * second);
  expect(sealsIn(here.path)).toHaveLength(1);
  expect(sealing.log.lines.map(({ message }) => message)).toEqual([
    'nothing is sealed: the trail cannot be used',
  ]);
  holder.exec('ROLLBACK');
  holder.close();
  // Not half a minute later: whoever reads of it waits for the end of it.
  await here.clock.pass(6 * second);
  expect(namedIn(here.path)).toEqual([['0 3', 'journal 1'], ['0 6']]);
  expect(sealing.log.lines.at(-1)).toMatchObject({ level: 'info', message: 'the trail is sealed again' });
});

test('the end of a run is sealed at once, however young the last seal is', async () => {
  using here = await world();
  await using sealing = startSealing(here.path, here.clock);
  await receive(sealing.trail, first);
  await here.clock.pass(minute);
  await sealing.trail.journal([stopped]);
  await sealing.stop();
  expect(await sealing.sealer.finish(new AbortController().signal)).toBe(true);
  expect(namedIn(here.path).at(-1)).toEqual(['journal 2']);
});

test('the end of a run waits for a trail that cannot be read, as long as it may', async () => {
  using here = await world();
  await using trail = openSqliteTrail(here.path, { now: here.clock.now });
  await receive(trail, first);
  let isDown = true;
  const down = { status: 'unavailable', reason: 'locked' } as const;
  const shaky: TrailStore = { ...trail, heads: async () => (isDown ? down : await trail.heads()) };
  const sealer = openSealer({
    ...{ trail: shaky, clock: here.clock, log: recordingLog(), tell: () => undefined },
    progress: openProgress(here.clock),
  });
  const over = new AbortController();
  const given = sealer.finish(over.signal);
  await here.clock.pass(2 * second);
  over.abort();
  expect(await given).toBe(false);
  const taken = sealer.finish(new AbortController().signal);
  await here.clock.pass(2 * second);
  isDown = false;
  await here.clock.pass(2 * second);
  expect(await taken).toBe(true);
  expect(namedIn(here.path)).toEqual([['0 3', 'journal 1']]);
});

test('more of what is quiet than ever comes between two seals is sealed all the same', async () => {
  using here = await world();
  await using sealing = startSealing(here.path, here.clock);
  await receive(sealing.trail, first);
  await here.clock.pass(minute);
  await sealing.trail.journal(Array.from({ length: 1_000 }, () => anchored));
  await here.clock.pass(minute);
  expect(namedIn(here.path).slice(1)).toEqual([['journal 1001']]);
});

test('a trail whose own streams begin anew is sealed whole in the new ones, by whoever sealed the old ones', async () => {
  using here = await world();
  await using sealing = startSealing(here.path, here.clock);
  await receive(sealing.trail, first);
  await here.clock.pass(minute);
  const before = await sealing.trail.trail();
  if (before.status !== 'known') throw new Error('the trail cannot be read');
  await sealing.trail.renew({
    kind: 'restored',
    earlier: before.trail,
    anchor: 'file:a',
    anchoredSize: 9,
    anchoredRoot: '',
  });
  await here.clock.pass(minute);
  expect(namedIn(here.path).flat()).toContain('0 3');
  expect(sealsIn(here.path)).toHaveLength(2);
  expect(namedIn(here.path).filter((heads) => heads.includes('0 3'))).toHaveLength(2);
});

test('once it is over nothing more is expected of the sealing', async () => {
  using here = await world();
  await using trail = openSqliteTrail(here.path, { now: here.clock.now });
  const [progress, over] = [openProgress(here.clock), new AbortController()];
  const parts = { trail, clock: here.clock, log: recordingLog(), tell: () => undefined };
  const run = openSealer({ ...parts, progress }).run(over.signal);
  await here.clock.pass(minute);
  over.abort();
  await run;
  await here.clock.pass(hour);
  expect(progress.lateMs()).toBe(0);
});

test('an hour of news is found behind a thousand seals that did not name it', async () => {
  using here = await world();
  await using trail = openSqliteTrail(here.path, { now: here.clock.now });
  await receive(trail, first);
  for (let index = 0; index < 1_005; index++) {
    await trail.seal({ size: index, lastSequenceNumber: index - 1 }, []);
  }
  await here.clock.pass(minute);
  await using _sealing = startSealing(here.path, here.clock);
  await here.clock.pass(second);
  expect(namedIn(here.path).at(-1)).toEqual(['0 3', 'journal 1']);
});
