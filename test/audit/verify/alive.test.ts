// Verifying a trail that lives: while it is written, after its keys were changed, and after any bit of it was.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../../src/audit/sqlite.ts';
import { TrailUnusable } from '../../../src/audit/store.ts';
import {
  keeperOf,
  keyNamed,
  migrations,
  signWith,
  startFacts,
  streamOf,
  TrailClock,
} from '../../support/honest-trail.ts';
import { openForTampering, treeOf } from '../../support/tampering.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { found, honestKey, keptTrail, verifiedFile } from '../../support/verifying.ts';

test('a trail is verified each time while a consumer writes, seals and anchors', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const clock = new TrailClock();
  await using store = openSqliteTrail(path, { sign: signWith(honestKey), now: clock.now });
  const keeper = keeperOf(store, clock, honestKey);
  await keeper.journal(...startFacts([honestKey.verifier.text]));
  await keeper.append(0, migrations(0, 1));
  await keeper.seal();
  await keeper.anchor();
  let isWriting = true;
  const writing = (async () => {
    for (let first = 1; isWriting; first += 1) {
      await keeper.append(0, migrations(0, 1, first));
      await keeper.append(1, migrations(1, 1, first - 1));
      if (first % 3 === 0) await keeper.seal();
      if (first % 6 === 0) await keeper.anchor();
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const sizes: number[] = [];
  for (let turn = 0; turn < 15; turn += 1) {
    // As the command does: the anchors before the trail.
    const anchored = keeper.anchored.join('');
    const report = await verifiedFile(path, { now: clock.at + 60_000, anchored });
    expect({ exit: report.exitCode, names: found(report) }).toEqual({ exit: 0, names: [] });
    sizes.push(report.entries);
  }
  isWriting = false;
  await writing;
  expect(sizes.at(-1)).toBeGreaterThan(sizes[0] ?? 0);
});

test('keys that follow one another, each beside the one before for a while, leave no head uncovered', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const [old, young] = [keyNamed('old.example/key'), keyNamed('young.example/key')];
  const clock = new TrailClock();
  let first = 0;
  for (const keys of [[old], [old, young], [young]]) {
    await using store = openSqliteTrail(path, { sign: signWith(...keys), now: clock.now });
    const keeper = keeperOf(store, clock, old);
    await keeper.journal(...startFacts(keys.map(({ verifier }) => verifier.text)));
    await keeper.continue();
    await keeper.append(0, migrations(0, 1, first));
    await keeper.seal();
    first += 1;
  }
  const verify = (...keys: readonly (typeof old)[]) =>
    verifiedFile(path, {
      ...{
        now: clock.at,
        keys: keys.map(({ verifier }) => verifier),
        accept: new Set(['no-anchor'] as const),
      },
    });
  const both = await verify(old, young);
  expect({ exit: both.exitCode, names: found(both) }).toEqual({ exit: 0, names: [] });
  const youngOnly = await verify(young);
  expect({ exit: youngOnly.exitCode, names: found(youngOnly) }).toEqual({ exit: 0, names: [] });
  expect(youngOnly.findings.map(({ code }) => code)).toContain('older-keys');
  const oldOnly = await verify(old);
  expect(oldOnly.exitCode).toBe(10);
  expect(found(oldOnly)).toContain('signature-unknown p0:9');
});

test('an old head that somebody signed anew with a key of today is named', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const [old, young] = [keyNamed('old.example/key'), keyNamed('young.example/key')];
  const clock = new TrailClock();
  for (const [first, keys] of [[old], [old], [young]].entries()) {
    await using store = openSqliteTrail(path, { sign: signWith(...keys), now: clock.now });
    const keeper = keeperOf(store, clock, old);
    await keeper.journal(...startFacts(keys.map(({ verifier }) => verifier.text)));
    await keeper.continue();
    await keeper.append(0, migrations(0, 1, first));
    await keeper.seal();
  }
  {
    using trail = openForTampering(path);
    const stream = trail.id(streamOf(0));
    const note = signWith(young)(streamOf(0), treeOf(trail.database, stream, 3));
    trail.run('UPDATE checkpoint SET note = ? WHERE stream = ? AND size = 3', note, stream);
  }
  const keys = [old.verifier, young.verifier];
  const report = await verifiedFile(path, { now: clock.at, keys, accept: new Set(['no-anchor'] as const) });
  expect({ exit: report.exitCode, names: found(report) }).toEqual({
    exit: 11,
    names: ['key-too-recent p0:3'],
  });
});

test('a file that lost its end never passes, wherever it was cut', async () => {
  using kept = await keptTrail();
  const { clock, anchored } = kept.keeper;
  const whole = readFileSync(kept.path);
  const next = random(7);
  for (let turn = 0; turn < 25; turn += 1) {
    const length = Math.floor(next() * (whole.length - 1));
    const path = kept.copy('cut');
    writeFileSync(path, whole.subarray(0, length));
    const report = await verifiedFile(path, { now: clock.at, anchored: anchored.join('') }).catch((error) => {
      if (!(error instanceof TrailUnusable)) throw error;
      return null;
    });
    expect(report?.exitCode ?? 1, `${length} bytes of ${whole.length}`).not.toBe(0);
  }
});

/** The same for each run, so that a failure can be looked at again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('one bit flipped anywhere in the file is found, leaves everything as it was, or stops the reading', async () => {
  using kept = await keptTrail();
  const { clock, anchored } = kept.keeper;
  const asked = { now: clock.at, anchored: anchored.join('') };
  const whole = readFileSync(kept.path);
  const next = random(41);
  const exits = { 0: 0, 1: 0, 10: 0, 11: 0 };
  for (let turn = 0; turn < 120; turn += 1) {
    const bytes = Buffer.from(whole);
    const [at, bit] = [Math.floor(next() * bytes.length), 1 << Math.floor(next() * 8)];
    bytes[at] = (bytes[at] ?? 0) ^ bit;
    const path = kept.copy('flipped');
    writeFileSync(path, bytes);
    const report = await verifiedFile(path, asked).catch((error) => {
      if (!(error instanceof TrailUnusable)) throw error;
      return null;
    });
    const exit = (report?.exitCode ?? 1) as keyof typeof exits;
    exits[exit] += 1;
    // Free space, indexes and what SQLite keeps for itself hold nothing of the trail.
    if (exit === 0 && report !== null) {
      expect(report.entries, `byte ${at}, bit ${bit}`).toBe(48);
      expect(entriesIn(path), `byte ${at}, bit ${bit}`).toEqual(entriesIn(kept.path));
    }
  }
  expect(exits[10]).toBeGreaterThan(10);
});

/** Everything of the log, byte for byte. */
function entriesIn(path: string): unknown[] {
  using database = new DatabaseSync(path, { readOnly: true });
  return database
    .prepare('SELECT * FROM entry ORDER BY stream, idx')
    .all()
    .map((row) => ({ ...row }));
}
