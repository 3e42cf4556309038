// What is SQLite's own about a trail: rules that the file keeps, full disks, locks, and what pruning leaves in the file.
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { asHubEvents, liveMigration, saying } from '../support/synthetic.ts';
import { sqliteWorld } from '../support/trail/sqlite-world.ts';
import { append, clean, headsOf, inHex, other, positionIn, sign, stream } from '../support/trail/world.ts';

test('the file itself refuses to change, drop, replace or insert what it has to keep', async () => {
  await using world = sqliteWorld();
  await using trail = await world.open({ sign });
  await append(trail, asHubEvents(liveMigration(), 10));
  await trail.seal({ size: 0, lastSequenceNumber: -1 }, await headsOf(trail));
  using database = new DatabaseSync(world.path);
  const values = "VALUES (1, ?, ?, 0, x'00', x'00')";
  const attempts: [string, number[]][] = [
    ['UPDATE entry SET enqueued_ms = 0 WHERE idx = ?', [1]],
    ["UPDATE entry SET body = x'00' WHERE idx = ?", [1]],
    ["UPDATE entry SET body = NULL, body_sha256 = x'00' WHERE idx = ?", [1]],
    ['UPDATE entry SET body = NULL, seq = 99 WHERE idx = ?', [2]],
    ['DELETE FROM entry WHERE idx = ?', [2]],
    [`INSERT OR REPLACE INTO entry ${values}`, [1, 11]],
    [`INSERT OR REPLACE INTO entry ${values}`, [3, 11]],
    [`INSERT OR REPLACE INTO entry ${values}`, [1, 99]],
    [`INSERT INTO entry ${values}`, [-1, 9]],
    ['UPDATE stream SET size = ?', [1]],
    ['UPDATE stream SET last_seq = ?', [1]],
    ['DELETE FROM stream WHERE id = ?', [1]],
    ["INSERT OR REPLACE INTO stream SELECT ?, name, 0, -1, NULL, x'', NULL FROM stream WHERE id = 1", [9]],
    ["INSERT OR REPLACE INTO stream VALUES (?, 'another', 0, -1, NULL, x'', NULL)", [1]],
    ["UPDATE checkpoint SET note = 'forged' WHERE size = ?", [3]],
    ['DELETE FROM checkpoint WHERE size = ?', [3]],
    ["INSERT OR REPLACE INTO checkpoint SELECT stream, size, 'forged' FROM checkpoint WHERE size = ?", [3]],
    ["UPDATE trail SET id = 'forged' WHERE number = ?", [1]],
    ['DELETE FROM trail WHERE number = ?', [1]],
    ["INSERT OR REPLACE INTO trail VALUES (?, 'forged')", [1]],
    ['INSERT OR REPLACE INTO trail SELECT ?, id FROM trail', [7]],
  ];
  for (const [sql, given] of attempts) {
    expect(() => database.prepare(sql).run(...given), sql).toThrow('the trail only grows');
  }
  expect(await trail.check()).toEqual(clean(3));
});

/** Everything a trail holds, to be compared with what it holds later. */
function contentOf(path: string): unknown {
  using database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all();
  return inHex(tables.map(({ name }) => [name, database.prepare(`SELECT * FROM ${name}`).all()]));
}

// A repeat, a conflict, poison and a new event, so that an append writes to every table there is.
const first = [saying({ kind: 'scheduled' }), ...liveMigration(1)];
const { data, ...rest } = saying({ kind: 'scheduled' });
const everything = [
  ...liveMigration(2),
  'poison',
  { ...rest, data: { ...data, noticeSeconds: 7 } },
  ...first,
];

test('an append that fails in any of the tables it writes to leaves all of them as they were', async () => {
  const failing = ['observation', 'conflict', 'parked', 'event', 'event_vm', 'event_observer', 'agent']
    .map((table) => `BEFORE INSERT ON ${table}`)
    .concat([
      'BEFORE INSERT ON entry WHEN NEW.stream = 1',
      'BEFORE UPDATE ON stream WHEN NEW.id = 1',
      // Its own journal: what an append says of itself is part of it.
      'BEFORE INSERT ON entry WHEN NEW.stream <> 1',
      'BEFORE UPDATE ON stream WHEN NEW.id <> 1',
    ]);
  await using world = sqliteWorld();
  await using trail = await world.open({ sign });
  await append(trail, asHubEvents(first));
  const before = contentOf(world.path);
  using database = new DatabaseSync(world.path);
  for (const when of failing) {
    database.exec(`CREATE TRIGGER failing ${when} BEGIN SELECT RAISE(ABORT, 'it fails here'); END`);
    await expect(append(trail, asHubEvents(everything, 4)), when).rejects.toThrow('it fails here');
    database.exec('DROP TRIGGER failing');
    expect(contentOf(world.path), when).toEqual(before);
  }
  expect(await append(trail, asHubEvents(everything, 4))).toMatchObject({
    status: 'appended',
    counts: { records: 3, repeats: 4, conflicts: 1, parked: 1 },
  });
  expect(await trail.check()).toEqual(clean(13));
});

test('a disk that is full at any page leaves nothing of an append, and the same one succeeds once there is room', async () => {
  await using world = sqliteWorld();
  const before = await (async () => {
    await using trail = await world.open({ sign });
    await append(trail, asHubEvents(first));
    return contentOf(world.path);
  })();
  using sizes = new DatabaseSync(world.path, { readOnly: true });
  const pages = Number(sizes.prepare('PRAGMA page_count').get()?.['page_count']);
  const events = asHubEvents(Array(30).fill(everything).flat(), 4);
  let failures = 0;
  for (let room = 0; ; room++) {
    await using trail = openSqliteTrail(world.path, { sign, pagesMax: pages + room });
    const result = await append(trail, events);
    if (result.status === 'appended') break;
    expect(result).toEqual({ status: 'unavailable', reason: 'disk-full' });
    expect(await positionIn(trail)).toEqual({ size: 4, lastSequenceNumber: 3 });
    expect(contentOf(world.path)).toEqual(before);
    failures += 1;
  }
  expect(failures).toBeGreaterThan(10);
  await using trail = await world.open();
  expect(await trail.check()).toEqual(clean(4 + events.length));
});

test('a disk that fills up goes on where it stood, batch by batch', async () => {
  await using world = sqliteWorld();
  const batches = Array.from({ length: 400 }, (_, at) => asHubEvents(liveMigration(at), at * 3));
  let stored = 0;
  {
    await using trail = openSqliteTrail(world.path, { pagesMax: 70 });
    let result = await append(trail, batches[0] ?? []);
    while (result.status === 'appended') {
      stored += 1;
      result = await append(trail, batches[stored] ?? []);
    }
    expect(result).toEqual({ status: 'unavailable', reason: 'disk-full' });
    expect(await positionIn(trail)).toMatchObject({ size: stored * 3 });
  }
  await using trail = await world.open();
  expect(await append(trail, batches[stored] ?? [])).toMatchObject({ status: 'appended' });
  expect(await trail.check()).toMatchObject({ different: [], damaged: [] });
});

test('a trail that another program holds locked is unavailable for the moment', async () => {
  await using world = sqliteWorld();
  await using trail = await world.open();
  using database = new DatabaseSync(world.path);
  database.exec('BEGIN IMMEDIATE');
  const unavailable = { status: 'unavailable', reason: 'locked' };
  expect(await append(trail, asHubEvents(liveMigration()))).toEqual(unavailable);
  expect(await trail.journal([{ kind: 'held', hold: 'case-1' }])).toEqual(unavailable);
  database.exec('COMMIT');
  expect(await append(trail, asHubEvents(liveMigration()))).toMatchObject({ status: 'appended' });
});

test('a trail that was kept without a key is signed when it is opened with one', async () => {
  await using world = sqliteWorld();
  {
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration()));
  }
  await using trail = await world.open({ sign });
  for (const { name, tree, note } of await headsOf(trail)) expect(note).toBe(sign(name, tree));
});

test('what was pruned is nowhere in the file, and makes room for what comes', async () => {
  await using world = sqliteWorld();
  const batch = (round: number) =>
    asHubEvents(
      Array.from({ length: 40 }, (_, at) => `${round} not to be kept ${'x'.repeat(1_000)} ${at}`),
      40 * round,
    );
  {
    await using trail = await world.open();
    for (let round = 0; round < 60; round++)
      await append(trail, batch(round), round % 2 === 0 ? stream : other);
    expect(await trail.prune(Number.MAX_SAFE_INTEGER)).toMatchObject({
      streams: [{ bodies: 1_200 }, { bodies: 1_200 }],
    });
  }
  using database = new DatabaseSync(world.path);
  expect(readFileSync(world.path).includes('not to be kept')).toBe(false);
  const pages = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  const before = pages('page_count');
  expect(pages('freelist_count')).toBeGreaterThan(before * 0.6);
  await using trail = await world.open();
  for (let round = 60; round < 90; round++) await append(trail, batch(round));
  expect(pages('page_count')).toBe(before);
  expect(await trail.check()).toMatchObject({ entries: 3_600, pruned: 2_400, different: [], damaged: [] });
});

test('the newest entry can be pruned too, again and again', async () => {
  await using world = sqliteWorld();
  await using trail = await world.open();
  for (let round = 0; round < 5; round++) {
    await append(trail, asHubEvents(['one', 'two'], 2 * round));
    await append(trail, asHubEvents(['one', 'two'], 2 * round), other);
    expect(await trail.prune(Number.MAX_SAFE_INTEGER)).toMatchObject({ status: 'pruned' });
  }
  expect(await trail.check()).toMatchObject({ entries: 20, pruned: 20, different: [], damaged: [] });
});

test('pruning goes on beside somebody who writes, and leaves neither waiting for long', async () => {
  await using world = sqliteWorld();
  await using trail = await world.open();
  await using writer = await world.open();
  const bodies = Array.from({ length: 5_000 }, (_, at) => `body ${at}`);
  await append(trail, asHubEvents(bodies));
  const pruned = trail.prune(Number.MAX_SAFE_INTEGER);
  let appended = 0;
  for (; appended < 5; appended++) {
    expect(await append(writer, asHubEvents([`while ${appended}`], 5_000 + appended), other)).toMatchObject({
      status: 'appended',
    });
    await new Promise((resolve) => setImmediate(resolve));
  }
  const result = await pruned;
  expect(result).toMatchObject({ status: 'pruned' });
  expect(await trail.check()).toMatchObject({ entries: 5_005, different: [], damaged: [] });
});
