// The trail in SQLite: all or nothing, once only, and growing only.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import { type AppendResult, emptyStream, type TrailStore } from '../../src/audit/store.ts';
import type { HubEvent } from '../../src/core/leaf.ts';
import { encodeRecord } from '../../src/core/record.ts';
import { asHubEvents, freeze, liveMigration, saying } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const stream = 'ns/hub/0/20261110T000000000Z';
const other = 'ns/hub/1/20261110T000000000Z';

async function append(trail: TrailStore, events: readonly HubEvent[], into = stream): Promise<AppendResult> {
  const known = await trail.position(into);
  if (known.status !== 'known') return known;
  return trail.append(into, known.position, events);
}

async function countsIn(path: string) {
  await using reader = openSqliteReader(path);
  return reader.counts();
}

test('an append stores the raw bytes, moves the position and survives a reopening', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const events = asHubEvents(liveMigration(), 7);
  {
    await using trail = openSqliteTrail(path);
    expect(await trail.position(stream)).toEqual({ status: 'known', position: emptyStream });
    expect(await append(trail, events)).toEqual({
      status: 'appended',
      position: { size: 3, lastSequenceNumber: 9 },
      counts: { entries: 3, records: 3, repeats: 0, conflicts: 0, parked: 0 },
    });
  }
  await using trail = openSqliteTrail(path);
  expect(await trail.position(stream)).toMatchObject({ position: { size: 3, lastSequenceNumber: 9 } });
  using database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare('SELECT idx, seq, enqueued_ms, body FROM entry ORDER BY idx').all();
  expect(rows.map(({ body }) => Buffer.from(body as Uint8Array))).toEqual(
    events.map(({ body }) => Buffer.from(body)),
  );
  expect(rows.map(({ idx, seq }) => [idx, seq])).toEqual([
    [0, 7],
    [1, 8],
    [2, 9],
  ]);
});

test('an append from a place where the stream no longer stands writes nothing and says where it stands', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using one = openSqliteTrail(path);
  await using two = openSqliteTrail(path);
  await append(one, asHubEvents(liveMigration()));
  expect(await two.append(stream, emptyStream, asHubEvents(liveMigration(1)))).toEqual({
    status: 'moved',
    position: { size: 3, lastSequenceNumber: 2 },
  });
  const short = { size: 2, lastSequenceNumber: 2 };
  expect(await two.append(stream, short, asHubEvents(liveMigration(1), 3))).toMatchObject({
    status: 'moved',
  });
  const behind = { size: 3, lastSequenceNumber: 1 };
  expect(await two.append(stream, behind, asHubEvents(liveMigration(1), 3))).toMatchObject({
    status: 'moved',
  });
  expect(await countsIn(path)).toMatchObject({ entries: 3, events: 1 });
});

test('a record that comes again is an entry and a repeat, but no second fact', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  await append(trail, asHubEvents(liveMigration()));
  expect(await append(trail, asHubEvents(liveMigration(), 3))).toMatchObject({
    counts: { entries: 3, records: 0, repeats: 3, conflicts: 0 },
  });
  expect(await countsIn(path)).toMatchObject({ entries: 6, records: 3, repeats: 3, conflicts: 0, events: 1 });
});

test('the same source and id with other bytes is a conflict, and both are kept', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  const record = saying({ kind: 'started', event: freeze(0, { eventStatus: 'Started' }) });
  const forged = { ...record, data: { ...record.data, noticeSeconds: 7 } };
  expect(await append(trail, asHubEvents([record, forged, forged]))).toMatchObject({
    counts: { entries: 3, records: 1, repeats: 1, conflicts: 1 },
  });
  expect(await countsIn(path)).toMatchObject({ entries: 3, records: 1, repeats: 1, conflicts: 1 });
  using database = new DatabaseSync(path, { readOnly: true });
  const bodies = database.prepare('SELECT body FROM entry ORDER BY idx LIMIT 2').all();
  expect(bodies.map(({ body }) => Buffer.from(body as Uint8Array))).toEqual([
    encodeRecord(record),
    encodeRecord(forged),
  ]);
});

test('what cannot be read is an entry all the same, and is parked with the reason', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  const poison = [Buffer.from([0xff]), '', 'null', '[]', '{"specversion":"1.0"}'];
  expect(await append(trail, asHubEvents([...poison, ...liveMigration()]))).toMatchObject({
    counts: { entries: 8, records: 3, parked: 5 },
  });
  using database = new DatabaseSync(path, { readOnly: true });
  const reasons = database.prepare('SELECT reason FROM parked ORDER BY idx').all();
  expect(reasons.map(({ reason }) => reason)).toEqual([
    'not-utf8',
    'not-json',
    'not-a-cloudevent',
    'not-a-cloudevent',
    'not-a-cloudevent',
  ]);
});

test('the file itself refuses to change, drop, replace or insert entries', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  await append(trail, asHubEvents(liveMigration(), 10));
  using database = new DatabaseSync(path);
  const values = "VALUES (1, ?, ?, 0, x'00', x'00')";
  const attempts: [string, number[]][] = [
    ['UPDATE entry SET enqueued_ms = 0 WHERE idx = ?', [1]],
    ['DELETE FROM entry WHERE idx = ?', [2]],
    [`INSERT OR REPLACE INTO entry ${values}`, [1, 11]],
    [`INSERT OR REPLACE INTO entry ${values}`, [3, 11]],
    [`INSERT OR REPLACE INTO entry ${values}`, [1, 99]],
    [`INSERT INTO entry ${values}`, [-1, 9]],
    ['UPDATE stream SET size = ?', [1]],
    ['UPDATE stream SET last_seq = ?', [1]],
    ['DELETE FROM stream WHERE id = ?', [1]],
  ];
  for (const [sql, given] of attempts) {
    expect(() => database.prepare(sql).run(...given), sql).toThrow('the trail only grows');
  }
  expect(await countsIn(path)).toMatchObject({ entries: 3 });
});

test('a full disk leaves the position where it was, and the same append succeeds once there is room', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const batches = Array.from({ length: 400 }, (_, at) => asHubEvents(liveMigration(at), at * 3));
  let stored = 0;
  {
    await using trail = openSqliteTrail(path, { pagesMax: 60 });
    let result = await append(trail, batches[0] ?? []);
    while (result.status === 'appended') {
      stored += 1;
      result = await append(trail, batches[stored] ?? []);
    }
    expect(result).toEqual({ status: 'unavailable', reason: 'disk-full' });
    expect(await trail.position(stream)).toMatchObject({ position: { size: stored * 3 } });
    expect(await append(trail, batches[stored] ?? [])).toMatchObject({ status: 'unavailable' });
  }
  await using trail = openSqliteTrail(path);
  expect(await append(trail, batches[stored] ?? [])).toMatchObject({ status: 'appended' });
  expect(await trail.check()).toMatchObject({ different: [], damaged: [] });
});

test('a trail that another program holds locked is unavailable for the moment', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  using database = new DatabaseSync(path);
  database.exec('BEGIN IMMEDIATE');
  expect(await append(trail, asHubEvents(liveMigration()))).toEqual({
    status: 'unavailable',
    reason: 'locked',
  });
  database.exec('COMMIT');
  expect(await append(trail, asHubEvents(liveMigration()))).toMatchObject({ status: 'appended' });
});

// A few facts of two events from three VMs, so that repeats, conflicts and poison are frequent.
const bodies = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...[0, 1].flatMap((event) => [0, 1, 2].flatMap((vm) => liveMigration(event, vm))),
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('poison', '{}') },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 3 }).map((noticeSeconds) => {
      const record = saying({ kind: 'scheduled' });
      return { ...record, data: { ...record.data, noticeSeconds } };
    }),
  },
);

test('projections are what the entries give, in whatever order, batches and streams they came', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          batch: fc.array(bodies, { minLength: 1, maxLength: 5 }),
          into: fc.constantFrom(stream, other),
        }),
        {
          minLength: 1,
          maxLength: 8,
        },
      ),
      async (appends) => {
        using directory = temporaryDirectory();
        await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
        const next = { [stream]: 0, [other]: 0 };
        for (const { batch, into } of appends) {
          await append(trail, asHubEvents(batch, next[into] ?? 0), into);
          next[into] = (next[into] ?? 0) + batch.length;
        }
        const entries = (next[stream] ?? 0) + (next[other] ?? 0);
        const clean = { status: 'checked', entries, different: [], damaged: [] };
        expect(await trail.check()).toEqual(clean);
        expect(await trail.rebuild()).toEqual(clean);
      },
    ),
    { numRuns: 40 },
  ));

test('the same facts in another order and with repeats give the same events', async () => {
  using directory = temporaryDirectory();
  const facts = [0, 1, 2].flatMap((vm) => liveMigration(0, vm));
  const orders = [facts, [...facts].reverse(), [...facts, ...facts.slice(2, 6)]];
  const seen = [];
  for (const [at, order] of orders.entries()) {
    const path = join(directory.path, `${at}.db`);
    await using trail = openSqliteTrail(path);
    await append(trail, asHubEvents(order));
    await using reader = openSqliteReader(path);
    seen.push([await reader.events({ limit: 10 }), await reader.facts()]);
  }
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
});

test('a projection that was tampered with is named by the check and mended by the rebuild', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  await append(trail, asHubEvents(liveMigration()));
  using database = new DatabaseSync(path);
  database.exec("UPDATE event SET status = 'canceled'; DELETE FROM event_observer");
  expect(await trail.check()).toMatchObject({ different: ['event', 'event_observer'] });
  expect(await trail.rebuild()).toMatchObject({ different: ['event', 'event_observer'] });
  expect(await trail.check()).toMatchObject({ different: [], damaged: [] });
});

test('an entry whose bytes were changed behind the trail is called damaged, and says nothing any more', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  await append(trail, asHubEvents(liveMigration()));
  using database = new DatabaseSync(path);
  database.exec(`
    DROP TRIGGER entry_fixed;
    UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), 'Freeze', 'Reboot') AS BLOB) WHERE idx = 1`);
  expect(await trail.check()).toMatchObject({ damaged: [{ stream, index: 1 }] });
  expect(await trail.rebuild()).toMatchObject({ damaged: [{ stream, index: 1 }] });
  await using reader = openSqliteReader(path);
  expect((await reader.facts()).map(({ type }) => type.split('.').at(-2))).toEqual([
    'scheduled',
    'completed',
  ]);
});
