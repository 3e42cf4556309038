// A trail that nobody signed at first, as one that was brought up to date: the key that came later is no fault for good.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../../src/audit/sqlite.ts';
import {
  type Keeper,
  keeperOf,
  migrations,
  signWith,
  startFacts,
  TrailClock,
} from '../../support/honest-trail.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { found, honestKey, verifiedFile } from '../../support/verifying.ts';

/** Runs a consumer on the trail at `path`, with the key or without. */
async function live(
  path: string,
  { clock, isSigning }: { readonly clock: TrailClock; readonly isSigning: boolean },
  work: (keeper: Keeper) => Promise<void>,
): Promise<Keeper> {
  await using store = openSqliteTrail(path, { sign: isSigning ? signWith(honestKey) : null, now: clock.now });
  const keeper = keeperOf(store, clock, honestKey);
  await keeper.continue();
  await keeper.journal(...startFacts(isSigning ? [honestKey.verifier.text] : []));
  await work(keeper);
  return keeper;
}

/** Sealed without a key, and then with one. */
async function trailWithLaterKey(path: string): Promise<Keeper> {
  const clock = new TrailClock();
  await live(path, { clock, isSigning: false }, async (keeper) => {
    await keeper.append(0, migrations(0, 2));
    await keeper.seal();
  });
  clock.at += 60_000;
  return await live(path, { clock, isSigning: true }, async (keeper) => {
    await keeper.append(0, migrations(0, 2, 2));
    await keeper.seal();
    await keeper.anchor();
  });
}

const asked = ({ clock, anchored }: Keeper) => ({ now: clock.at + 10_000, anchored: anchored.join('') });

test('seals from before the first key are only noted, because later signed heads are over the same entries', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const report = await verifiedFile(path, asked(await trailWithLaterKey(path)));
  expect({ exit: report.exitCode, names: found(report) }).toEqual({ exit: 0, names: [] });
  expect(report.findings.map(({ code }) => code)).toContain('before-keys');
});

test('a head that was signed and is taken away is missed all the same', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const keeper = await trailWithLaterKey(path);
  {
    using database = new DatabaseSync(path);
    database.exec('DROP TRIGGER checkpoint_kept; DELETE FROM checkpoint');
  }
  const report = await verifiedFile(path, asked(keeper));
  expect(report.exitCode).toBe(11);
  expect(found(report)).toContain('note-missing p0:11');
});
