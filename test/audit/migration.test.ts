// A trail of an earlier schema version becomes one of today: nothing lost, trees over what was there, done whole or not at all.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import type { TrailReader } from '../../src/audit/store.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { approving, beating, feeling, hooking } from '../support/synthetic-deeds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { projectionsIn, sqliteWorld } from '../support/trail/sqlite-world.ts';
import {
  append,
  clean,
  entriesOf,
  headsOf,
  inHex,
  journalOf,
  later,
  other,
  sign,
  stream,
  treeOver,
} from '../support/trail/world.ts';
import { makeVersion2, type Version1Stream, writeVersion1Trail } from '../support/version-1-trail.ts';

// The second partition came first, and its copies have the lower number in version 1; by name they are not the lowest.
const old: readonly Version1Stream[] = [
  [other, [...asHubEvents(liveMigration(), 5), ...asHubEvents(liveMigration(1), 20)]],
  [stream, asHubEvents([...liveMigration(), 'poison', ...liveMigration(0, 1)])],
  [later, asHubEvents(liveMigration(2))],
];

async function answersOf(reader: TrailReader) {
  return [
    await reader.events({ limit: 10 }),
    await reader.facts(),
    await reader.counts(),
    await reader.streams(),
  ];
}

it('loses nothing, and has trees over its entries, notes and projections like any other trail', async () => {
  await using world = sqliteWorld();
  writeVersion1Trail(world.path, old);
  await using before = openSqliteReader(world.path);
  const answers = await answersOf(before);
  expect(answers[2]).toMatchObject({ entries: 16, records: 12, repeats: 3, parked: 1, events: 3 });

  await using trail = await world.open({ sign });
  expect(await trail.check()).toEqual(clean(16));
  for (const [name, events] of old) {
    const entries = await entriesOf(world, name);
    expect(entries.map(({ body }) => Buffer.from(body ?? 'gone').toString())).toEqual(
      events.map(({ body }) => Buffer.from(body).toString()),
    );
    const head = (await headsOf(trail)).find((each) => each.name === name);
    expect(inHex(head?.tree)).toEqual(inHex(treeOver(entries)));
  }
  expect((await headsOf(trail)).map(({ name, tree, note }) => note === sign(name, tree))).toEqual(
    Array(4).fill(true),
  );
  await using after = await world.reader();
  expect(await answersOf(after)).toEqual(answers);
  const at = { size: 6, lastSequenceNumber: 22 };
  expect(await trail.append(other, at, asHubEvents(liveMigration(3), 23))).toMatchObject({
    status: 'appended',
  });
  expect(await trail.check()).toEqual(clean(19));
});

it('writes down what version 1 only logged: beginnings, holes and epochs', async () => {
  await using world = sqliteWorld();
  writeVersion1Trail(world.path, old);
  await using trail = await world.open();
  const facts = (await journalOf(world, trail)).map(({ at: _at, ...fact }) => fact);
  expect(facts).toEqual([
    { kind: 'stream-began', stream, firstSequenceNumber: 0 },
    { kind: 'stream-began', stream: later, firstSequenceNumber: 0 },
    { kind: 'epoch-changed', stream: later, earlier: [stream] },
    { kind: 'stream-began', stream: other, firstSequenceNumber: 5 },
    { kind: 'gap', stream: other, from: 8, to: 19 },
  ]);
});

it('is as well guarded as a new one', async () => {
  await using world = sqliteWorld();
  writeVersion1Trail(world.path, old);
  await using trail = await world.open();
  await append(trail, asHubEvents(liveMigration(), 100));
  await using fresh = sqliteWorld();
  await using _other = await fresh.open();
  const rules = (path: string) => {
    using database = new DatabaseSync(path, { readOnly: true });
    return database
      .prepare('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name')
      .all()
      .map(
        ({ name, sql }) =>
          `${name}: ${String(sql)
            .replaceAll(/--.*|\s+/g, ' ')
            .replaceAll(/\s+/g, ' ')}`,
      )
      .filter((rule) => !rule.startsWith('stream:'));
  };
  expect(rules(world.path)).toEqual(rules(fresh.path));
  using database = new DatabaseSync(world.path, { readOnly: true });
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all('stream');
  expect(columns.map(({ name }) => name)).toEqual([
    ...['id', 'name', 'size', 'last_seq', 'last_enqueued_ms', 'range', 'note'],
  ]);
});

it('answers questions before it was brought up to date, and says of proofs that the consumer must do it first', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  writeVersion1Trail(path, old);
  const bytes = readFileSync(path);
  await using reader = openSqliteReader(path);
  expect(await reader.streams()).toHaveLength(3);
  expect(() => openSqliteSource(path)).toThrow(
    `the trail at ${path} was written by an earlier version of this program: "seb consumer" brings it up to date when it next starts`,
  );
  expect(readFileSync(path).equals(bytes)).toBe(true);
});

it('is left as it is when its entries are not those that it says it has', async () => {
  using directory = temporaryDirectory();
  const harms = [
    'DROP TRIGGER entry_kept; DELETE FROM entry WHERE stream = 2 AND idx = 1',
    'DROP TRIGGER stream_forward; UPDATE stream SET size = size - 1 WHERE id = 2',
  ];
  for (const [at, harm] of harms.entries()) {
    const path = join(directory.path, `${at}.db`);
    writeVersion1Trail(path, old);
    using database = new DatabaseSync(path);
    database.exec(harm);
    const shape = () => [
      database.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all(),
      database.prepare('PRAGMA user_version').get(),
    ];
    const before = shape();
    expect(() => openSqliteTrail(path), harm).toThrow('it is damaged');
    expect(shape()).toEqual(before);
  }
});

describe('of version 2, which knew no deeds', () => {
  const told = [
    ...[...liveMigration(), 'poison', beating(), approving(), hooking({}, { vm: 1 }), feeling()],
    ...liveMigration(0, 1),
  ];

  it('gives what a trail of today gives of the same entries, and calls nothing tampered', async () => {
    await using world = sqliteWorld();
    {
      await using trail = await world.open({ sign });
      await append(trail, asHubEvents(told));
    }
    const given = projectionsIn(world.path);
    makeVersion2(world.path);
    await using trail = await world.open({ sign });
    expect(await trail.check()).toEqual(clean(told.length));
    expect(projectionsIn(world.path)).toEqual(given);
  });

  it('keeps what rests on bodies that are gone, and has of deeds what bodies still tell', async () => {
    await using world = sqliteWorld();
    {
      await using trail = await world.open();
      await append(trail, asHubEvents([...told, approving({}, { vm: 2 })]));
    }
    makeVersion2(world.path);
    {
      using database = new DatabaseSync(world.path);
      database.exec('UPDATE entry SET body = NULL WHERE idx < 8 AND stream = 1');
    }
    await using trail = await world.open();
    expect(await trail.check()).toMatchObject({ pruned: 8, different: [], damaged: [] });
    await using reader = await world.reader();
    expect(await reader.events({ limit: 9 })).toMatchObject([{ observers: 2, outcome: 'completed' }]);
    using database = new DatabaseSync(world.path, { readOnly: true });
    expect(database.prepare('SELECT agent_id FROM deed').all()).toEqual([{ agent_id: 'instance-2' }]);
  });

  it('answers questions before it was brought up to date', async () => {
    await using world = sqliteWorld();
    {
      await using trail = await world.open();
      await append(trail, asHubEvents(told));
    }
    makeVersion2(world.path);
    await using reader = await world.reader();
    expect(await reader.events({ limit: 9 })).toMatchObject([{ observers: 2, outcome: 'completed' }]);
    expect(await reader.agents()).toMatchObject([{ vmName: 'web-0' }, { vmName: 'web-1' }]);
  });
});
