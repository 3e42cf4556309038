// What the journal says of a run: who, with which settings and keys, and when the clock was not to be believed.
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newKey, openSigner } from '../../src/audit/signing.ts';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import { systemClock } from '../../src/clock.ts';
import { watchClock } from '../../src/consumer/clock-watch.ts';
import { changedSettings } from '../../src/consumer/start-facts.ts';
import { notesIn } from '../../src/core/note-list.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { steppedClock } from '../support/clocks.ts';
import { runCommandLine } from '../support/command-line.ts';
import { linesInHub, linesInTrail } from '../support/hub-and-trail.ts';
import { factsIn, sealsIn } from '../support/own-streams.ts';
import { recordingLog } from '../support/recording-log.ts';
import { entriesIn, keyBeside, openSender, startConsumer } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const kindsIn = (path: string): string[] => factsIn(path).map(({ kind }) => kind);

test('settings and keys are journaled when they are others than the journal said last, and only then', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const run = async (settingsSha256: string | null, keys: readonly string[]): Promise<readonly string[]> => {
    const facts = await changedSettings(trail, { instance: 'one', settingsSha256, keys });
    if ('status' in facts) throw new Error(facts.reason);
    await trail.journal([...facts, { kind: 'consumer-stopped', instance: 'one' }]);
    return facts.map(({ kind }) => kind);
  };
  expect(await run('a', ['k1'])).toEqual(['configuration-changed', 'keys-changed']);
  expect(await run('a', ['k1'])).toEqual([]);
  expect(await run(null, ['k2', 'k1'])).toEqual(['keys-changed']);
  expect(await run('b', ['k1', 'k2'])).toEqual(['configuration-changed']);
  // Behind more than one read of the journal.
  for (let times = 0; times < 6; times++) {
    await trail.journal(Array.from({ length: 100 }, () => ({ kind: 'exported', entries: 1 }) as const));
  }
  expect(await run('b', ['k1', 'k2'])).toEqual([]);
  expect(await run('b', [])).toEqual(['keys-changed']);
  expect(await run('b', [])).toEqual([]);
});

test('a clock that was set, or a machine that slept, is journaled with how far it went; NTP is not', async () => {
  const [clock, log, over] = [steppedClock(), recordingLog(), new AbortController()];
  let aheadMs = 0;
  const jumps: number[] = [];
  const watched = watchClock(
    { clock: { ...clock, now: () => clock.now() + aheadMs }, log, onJump: (byMs) => jumps.push(byMs) },
    over.signal,
  );
  await clock.pass(60_000);
  aheadMs += 4_000;
  await clock.pass(60_000);
  expect(jumps).toEqual([]);
  aheadMs += 3_600_000;
  await clock.pass(20_000);
  aheadMs -= 7_200_000;
  await clock.pass(20_000);
  expect(jumps).toEqual([3_600_000, -7_200_000]);
  expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'warn']);
  over.abort();
  await watched;
});

test('a consumer without a key says once what that means, seals all the same, and is unsigned', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await startEventHubsEmulator();
  await using consumer = startConsumer(path, emulator, { settings: { signing: undefined } });
  await until('a seal', () =>
    consumer.progress.some((news) => news.kind === 'seals' && news.sealedAt !== null),
  );
  await consumer.stop();
  const said = consumer.log.lines.filter(({ message }) => message.includes('seb audit keygen'));
  expect(said).toHaveLength(1);
  expect(sealsIn(path).length).toBeGreaterThan(0);
  expect(kindsIn(path)[0]).toBe('consumer-started');
  expect(kindsIn(path).at(-1)).toBe('consumer-stopped');
  expect(kindsIn(path)).not.toContain('keys-changed');
  await using source = openSqliteSource(path);
  expect((await source.streams()).map(({ note }) => note).filter((note) => note !== null)).toEqual([]);
});

test('a key that everybody may read is no key: the consumer does not start with it', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const keyFile = join(directory.path, 'key');
  writeFileSync(keyFile, newKey('test.example/fleet').privateKey, { mode: 0o644 });
  chmodSync(directory.path, 0o755);
  await using emulator = await startEventHubsEmulator();
  await using consumer = startConsumer(path, emulator, { settings: { signing: { keyFile } } });
  expect(await consumer.stop()).toMatchObject({ ok: false, reason: expect.stringContaining(keyFile) });
});

test('an older copy that was put back reads again what the hub still holds, and comes to the same trees', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const [notes, copy] = [join(directory.path, 'seals.notes'), join(directory.path, 'copy')];
  const settings = {
    anchors: [{ type: 'file', path: notes, interval: '1s' }],
    archive: { type: 'folder', path: copy, interval: '1h' },
  };
  /** Of the trail, and of the copy in the folder: which is never behind what is anchored. */
  const verified = async (trail: string): Promise<string> => {
    const { keys } = openSigner([keyBeside(path)]);
    const args = ['--trail', trail, '--anchor', notes, '--key', keys[0] ?? ''];
    const { exitCode, stdout } = await runCommandLine(['audit', 'verify', ...args]);
    return `${exitCode} ${stdout}`;
  };
  await using emulator = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 2 }] });
  await using sender = openSender(emulator);
  await sender.send([...liveMigration(0), ...liveMigration(1)]);
  const live = async (entries: number) => {
    await using consumer = startConsumer(path, emulator, { clock: systemClock, settings });
    await entriesIn(path, entries);
    await consumer.stop();
    return consumer.log.lines.filter(({ level }) => level === 'error').length;
  };
  /** Until the anchor has all seals: on a busy machine the end of one run may not be time enough. */
  const liveUntilAnchored = (entries: number) =>
    until(
      'the anchor',
      async () => {
        expect(await live(entries)).toBe(0);
        const newest = existsSync(notes) ? notesIn(readFileSync(notes, 'utf8')).at(-1) : undefined;
        return Number(newest?.split('\n')[1]) === sealsIn(path).length;
      },
      40_000,
    );
  await liveUntilAnchored(6);
  copyFileSync(path, `${path}.copy`);
  await sender.send([...liveMigration(2), ...liveMigration(3)]);
  await liveUntilAnchored(12);
  expect(await verified(path)).toMatch(/^0 /);
  expect(await verified(copy)).toMatch(/^0 /);
  const rootsOf = async () => {
    await using source = openSqliteSource(path);
    const streams = await source.streams();
    return streams.filter(({ kind }) => kind === 'hub').map(({ name, size, root }) => ({ name, size, root }));
  };
  const before = await rootsOf();
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  copyFileSync(`${path}.copy`, path);
  expect(await live(12)).toBe(1);
  expect(await rootsOf()).toEqual(before);
  expect(linesInTrail(path)).toEqual(linesInHub(emulator));
  expect(kindsIn(path).filter((kind) => kind === 'restored')).toHaveLength(1);
  // What was said locally after the copy was made is gone from the trail, and still stands in the archive.
  expect(await verified(path)).toMatch(/^11 /);
  expect(await verified(copy)).toMatch(/^0 /);
  // Nothing of that is said again.
  expect(await live(12)).toBe(0);
  expect(kindsIn(path).filter((kind) => kind === 'restored')).toHaveLength(1);
}, 90_000);
