// Verifying what lies on a server: a trail in PostgreSQL, whole, living and changed, and heads anchored in blobs.
import { expect, test } from 'vitest';
import { openPostgresSource } from '../../src/audit/postgres/source.ts';
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import { readAnchor } from '../../src/audit/verify/anchors.ts';
import { reportOf } from '../../src/audit/verify/report.ts';
import { verifyTrail } from '../../src/audit/verify/verify.ts';
import { Secret } from '../../src/config/secret.ts';
import { openBlobAnchor } from '../../src/consumer/anchors/blob.ts';
import { leafHash, leafOf } from '../../src/core/leaf.ts';
import { notesIn } from '../../src/core/note-list.ts';
import { localStreams } from '../../src/core/stream.ts';
import { emptyTree, encodeRange, growTree } from '../../src/core/tree.ts';
import { runCommandLine } from '../support/command-line.ts';
import {
  fillHonestly,
  type Keeper,
  keeperOf,
  migrations,
  signWith,
  streamOf,
  TrailClock,
} from '../support/honest-trail.ts';
import { headsOf } from '../support/trail/world.ts';
import { found, honestKey, keptTrail, verified } from '../support/verifying.ts';
import { openContainer } from './support/azurite.ts';
import { rowsOf } from './support/postgres.ts';
import { openPostgresWorld, type PostgresWorld } from './support/postgres-world.ts';

/** An honest trail in PostgreSQL. */
async function filled(
  world: PostgresWorld,
  fill: (keeper: Keeper) => Promise<void> = fillHonestly,
): Promise<Keeper> {
  const clock = new TrailClock();
  await using store = await world.open({ sign: signWith(honestKey), now: clock.now });
  const keeper = keeperOf(store, clock, honestKey);
  await fill(keeper);
  return keeper;
}

async function verifiedDatabase(world: PostgresWorld, { clock, anchored }: Keeper) {
  await using source = await openPostgresSource(world.readSettings);
  return await verified(source, { now: clock.at + 10_000, anchored: anchored.join('') });
}

const p0 = `(SELECT id FROM stream WHERE name = '${streamOf(0)}')`;

const rows: readonly (readonly [name: string, statement: string, names: readonly string[]])[] = [
  ['a body', `UPDATE entry SET body = 'x' WHERE stream = ${p0} AND idx = 3`, ['body-changed p0:3']],
  [
    'a body with the hash that fits it',
    `UPDATE entry SET body = 'x', body_sha256 = sha256('x') WHERE stream = ${p0} AND idx = 20`,
    ['root-differs p0:18', 'seal-root-differs p0:18', 'head-differs p0:18'],
  ],
  ['a row deleted', `DELETE FROM entry WHERE stream = ${p0} AND idx = 7`, ['entry-missing p0:7']],
  [
    'the end cut off',
    `DELETE FROM entry WHERE stream = ${p0} AND idx >= 18`,
    ['entries-missing p0:18', 'seal-beyond p0:18'],
  ],
  [
    'the signatures taken away',
    'UPDATE stream SET note = NULL; DELETE FROM checkpoint',
    ['signature-missing'],
  ],
  ['the trail’s id', "INSERT INTO trail (id) VALUES ('another')", ['trail-changed journal']],
  ['a projection', "UPDATE agent SET vm_name = 'another'", ['projection-differs']],
];

test.each(rows)('in PostgreSQL it finds and names a change of %s', async (_, statement, names) => {
  await using world = await openPostgresWorld('seb_writer');
  const keeper = await filled(world);
  await world.tamper(...statement.split(';'));
  const report = await verifiedDatabase(world, keeper);
  expect({ exit: report.exitCode, names: found(report) }).toEqual({
    exit: 10,
    names: expect.arrayContaining([...names]),
  });
});

test('what the role of a consumer adds without the key is told by the consumer that goes on from it', async () => {
  await using world = await openPostgresWorld('seb_writer');
  const clock = new TrailClock();
  await using store = await world.open({ sign: signWith(honestKey), now: clock.now });
  const keeper = keeperOf(store, clock, honestKey);
  await fillHonestly(keeper);
  const heads = await headsOf(store);
  const forged = migrations(0, 1, 8).map((event, at) => ({
    ...leafOf(event),
    index: 24 + at,
    body: event.body,
  }));
  for (const [at, { sequenceNumber, enqueuedMs, bodySha256, body, index }] of forged.entries()) {
    const tree = growTree(
      heads.find(({ name }) => name === streamOf(0))?.tree ?? emptyTree,
      forged.slice(0, at + 1).map(leafHash),
    );
    await rowsOf(
      world.settings.url.reveal(),
      `WITH put AS (INSERT INTO seb.entry (stream, idx, seq, enqueued_ms, body_sha256, body)
         SELECT id, $1, $2, $3, $4, $5 FROM seb.stream WHERE name = $6)
       UPDATE seb.stream SET size = $1::bigint + 1, last_seq = $2, range = $7, note = NULL WHERE name = $6`,
      [index, sequenceNumber, enqueuedMs, bodySha256, body, streamOf(0), encodeRange(tree)],
    );
  }
  await store.rebuild();
  await keeper.continue();
  await keeper.append(0, migrations(0, 1, 9));
  await keeper.seal();
  await keeper.anchor();
  expect(found(await verifiedDatabase(world, keeper))).toEqual(['head-unvouched p0:27']);
});

test('a key that comes later signs what stands there, and nothing is said of it', async () => {
  await using world = await openPostgresWorld('seb_writer');
  const clock = new TrailClock();
  {
    await using store = await world.open({ now: clock.now });
    const keeper = keeperOf(store, clock, honestKey);
    await keeper.append(0, migrations(0, 1));
    await keeper.append(1, migrations(1, 1));
    await keeper.seal();
  }
  clock.at += 60_000;
  await using store = await world.open({ sign: signWith(honestKey), now: clock.now });
  expect((await headsOf(store)).map(({ note }) => note === null)).toEqual([false, false, false, false]);
  const keeper = keeperOf(store, clock, honestKey);
  await keeper.continue();
  await keeper.journal({ kind: 'keys-changed', keys: [honestKey.verifier.text] });
  await keeper.append(0, migrations(0, 1, 1));
  await keeper.seal();
  await keeper.anchor();
  expect(found(await verifiedDatabase(world, keeper))).toEqual([]);
});

test('a trail in PostgreSQL is verified each time while a consumer writes to it', async () => {
  await using world = await openPostgresWorld('seb_writer');
  const clock = new TrailClock();
  await using store = await world.open({ sign: signWith(honestKey), now: clock.now });
  const keeper = keeperOf(store, clock, honestKey);
  await fillHonestly(keeper);
  let isWriting = true;
  const writing = (async () => {
    for (let first = 8; isWriting; first += 1) {
      await keeper.append(0, migrations(0, 1, first));
      await keeper.append(1, migrations(1, 1, first));
      await keeper.seal();
    }
  })();
  const sizes: number[] = [];
  try {
    for (let turn = 0; turn < 5; turn += 1) {
      // As the command does: the anchors before the trail, and the time once it is open.
      const anchored = keeper.anchored.join('');
      await using source = await openPostgresSource(world.readSettings);
      const report = await verified(source, { now: clock.at, anchored });
      expect({ exit: report.exitCode, names: found(report) }).toEqual({ exit: 0, names: [] });
      sizes.push(report.entries);
    }
  } finally {
    isWriting = false;
    await writing;
  }
  expect(sizes.at(-1)).toBeGreaterThan(sizes[0] ?? 0);
});

test('the command reads a database by its URL and never prints it', async () => {
  await using world = await openPostgresWorld('seb_writer');
  const keeper = await filled(world);
  const url = world.readSettings.url.reveal();
  const words = [
    '--trail',
    url,
    '--key',
    honestKey.verifier.text,
    '--max-age',
    '5000d',
    '--accept',
    'no-anchor,stale',
  ];
  const { exitCode, stdout, stderr } = await runCommandLine(['audit', 'verify', ...words]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/VERIFIED 48 entries/);
  const status = await runCommandLine(['audit', 'status', '--trail', url, '-o', 'json']);
  expect(status.exitCode).toBe(0);
  expect(JSON.parse(status.stdout)).toMatchObject({ lastSeal: { index: 4 }, agentsWithHoles: [] });
  const password = new URL(url).password;
  expect(password).not.toBe('');
  for (const text of [stdout, stderr, status.stdout]) expect(text).not.toContain(password);
  expect(keeper.anchored).toHaveLength(2);
});

test('heads that the consumer anchored in blobs are read back and compared', async () => {
  await using azurite = await openContainer();
  const { connectionString, container } = azurite;
  using kept = await keptTrail();
  const { signal } = new AbortController();
  const settings = {
    type: 'blob' as const,
    connectionString: new Secret('test', () => connectionString),
    container,
  };
  {
    await using anchor = openBlobAnchor({ ...settings, interval: 1_000 });
    await using source = openSqliteSource(kept.path);
    const origin = localStreams(source.trail ?? '').seal;
    for (const note of notesIn(kept.keeper.anchored.join('')))
      expect(await anchor.put(origin, note, signal)).toMatchObject({ status: 'anchored' });
  }
  const copy = await readAnchor(settings, signal);
  expect(copy).toMatchObject({ fault: null, notes: notesIn(kept.keeper.anchored.join('')) });
  await using source = openSqliteSource(kept.path);
  const now = kept.keeper.clock.at;
  const report = reportOf(
    await verifyTrail(source, {
      keys: [honestKey.verifier],
      anchors: [copy],
      now,
      maxAgeMs: 7_200_000,
      signal,
    }),
  );
  expect({ exit: report.exitCode, names: found(report) }).toEqual({ exit: 0, names: [] });
});

test('a container that is not there is an anchor that cannot be read', async () => {
  await using azurite = await openContainer();
  const connectionString = new Secret('test', () => azurite.connectionString);
  const { signal } = new AbortController();
  const copy = await readAnchor({ type: 'blob', connectionString, container: 'no-such-container' }, signal);
  expect(copy).toMatchObject({ fault: 'not-found', notes: [] });
});
