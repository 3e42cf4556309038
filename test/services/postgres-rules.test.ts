// What the database itself refuses, to whom, and how its tables come to be.
import { describe, expect, inject, it } from 'vitest';
import { openPostgresReader } from '../../src/audit/postgres/reader.ts';
import { readRights } from '../../src/audit/postgres/rights.ts';
import { openPostgresSource } from '../../src/audit/postgres/source.ts';
import { openPostgresTrail } from '../../src/audit/postgres/trail.ts';
import { emptyStream } from '../../src/audit/store.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { append, headsOf } from '../support/trail/world.ts';
import { addLogin, execute, openDatabase, rowsOf, runTrailScript } from './support/postgres.ts';
import { openPostgresWorld, settingsFor } from './support/postgres-world.ts';

const tables = async (url: string): Promise<unknown> =>
  (await rowsOf(url, `SELECT tablename FROM pg_tables WHERE schemaname = 'seb' ORDER BY 1`)).map(
    ({ tablename }) => tablename,
  );

/** The SQLSTATE with which each statement is refused. */
async function refusals(url: string, statements: readonly string[]): Promise<unknown[]> {
  const states: unknown[] = [];
  for (const statement of statements) {
    const refused = await execute(url, [statement]).then(
      () => 'done',
      (error: { code?: string }) => error.code,
    );
    states.push([statement, refused]);
  }
  return states;
}

const everyWith = (statements: readonly string[], state: string) =>
  statements.map((statement) => [statement, state]);

/** A trail with an entry, a seal and a pinned note. */
async function fill(trail: Awaited<ReturnType<typeof openPostgresTrail>>): Promise<void> {
  await append(trail, asHubEvents(liveMigration()));
  await trail.seal(emptyStream, await headsOf(trail));
}

const sign = (): string => 'a note';

describe('tables that a consumer makes', () => {
  it('are made once when several consumers start at once for the first time', async () => {
    await using database = await openDatabase();
    const trails = await Promise.all([0, 1, 2].map(() => openPostgresTrail(settingsFor(database.url))));
    const results = await Promise.all(
      trails.map((trail, at) => trail.append(`ns/hub/${at}/e`, emptyStream, asHubEvents(liveMigration(at)))),
    );
    expect(results.map(({ status }) => status)).toEqual(['appended', 'appended', 'appended']);
    expect(await rowsOf(database.url, 'SELECT number FROM seb.version')).toEqual([
      { number: 1 },
      { number: 2 },
    ]);
    await Promise.all(trails.map((trail) => trail[Symbol.asyncDispose]()));
  });

  it('are those that the script for administrators makes', async () => {
    await using database = await openDatabase();
    await (await openPostgresTrail(settingsFor(database.url)))[Symbol.asyncDispose]();
    const made = await tables(database.url);
    expect(made).toHaveLength(14);
    await using other = await openDatabase();
    runTrailScript(other.adminUrl);
    expect(await tables(other.adminUrl)).toEqual(made);
    // It may be run again, also over tables that a consumer made.
    runTrailScript(other.adminUrl);
    runTrailScript(database.adminUrl);
    expect(await rowsOf(database.adminUrl, 'SELECT number FROM seb.version')).toEqual([
      { number: 1 },
      { number: 2 },
    ]);
  });

  it('bind even the role that owns them', async () => {
    await using database = await openDatabase();
    await using trail = await openPostgresTrail(settingsFor(database.url), { sign });
    await fill(trail);
    const forbidden = [
      'DELETE FROM seb.entry',
      'TRUNCATE seb.entry',
      `UPDATE seb.entry SET body = 'x'`,
      'UPDATE seb.entry SET body = NULL, seq = seq + 100',
      `UPDATE seb.entry SET body = NULL, body_sha256 = ''`,
      'UPDATE seb.entry SET body = NULL, enqueued_ms = 1',
      'INSERT INTO seb.entry SELECT stream, idx - 100, seq + 100, 0, body_sha256, body FROM seb.entry',
      'INSERT INTO seb.entry SELECT stream, idx + 100, seq - 100, 0, body_sha256, body FROM seb.entry',
      'DELETE FROM seb.stream',
      'TRUNCATE seb.stream',
      'UPDATE seb.stream SET size = size - 1',
      'UPDATE seb.stream SET last_seq = last_seq - 1',
      `UPDATE seb.stream SET name = name || '!'`,
      'DELETE FROM seb.checkpoint',
      'TRUNCATE seb.checkpoint',
      `UPDATE seb.checkpoint SET note = ''`,
      'DELETE FROM seb.trail',
      'UPDATE seb.trail SET number = DEFAULT',
    ];
    expect(await refusals(database.url, forbidden)).toEqual(everyWith(forbidden, '23000'));
    await execute(database.url, ['UPDATE seb.entry SET body = NULL WHERE idx = 0']);
  });

  it('are asked for in one sentence where the role may not make them', async () => {
    await using database = await openDatabase();
    await using nobody = await addLogin(database);
    await expect(openPostgresTrail(settingsFor(nobody.url))).rejects.toThrow(
      'the trail in PostgreSQL has no tables yet, and this role may not make them: run infra/postgres/trail.sql as their owner',
    );
    await expect(openPostgresSource(settingsFor(nobody.url))).rejects.toThrow(
      'there is no trail in this PostgreSQL database; "seb consumer" makes it when it first runs',
    );
    await expect(openPostgresReader(settingsFor(nobody.url))).rejects.toThrow('there is no trail');
    runTrailScript(database.adminUrl);
    await expect(openPostgresTrail(settingsFor(nobody.url))).rejects.toThrow(/cannot be used: .*42501/);
  });

  it('of a newer version are left alone, and a database that cannot hold every text is refused', async () => {
    await using database = await openDatabase();
    await (await openPostgresTrail(settingsFor(database.url)))[Symbol.asyncDispose]();
    await execute(database.url, ['INSERT INTO seb.version VALUES (99)']);
    await expect(openPostgresTrail(settingsFor(database.url))).rejects.toThrow(
      'made by a newer version of seb',
    );
    const { name, adminUrl } = database;
    await execute(adminUrl, [
      `CREATE DATABASE ${name}_ascii TEMPLATE template0 ENCODING SQL_ASCII OWNER ${name}`,
    ]);
    const ascii = database.url.replace(/[^/]+$/, `${name}_ascii`);
    await expect(openPostgresTrail(settingsFor(ascii))).rejects.toThrow('encoding UTF8');
    await execute(adminUrl, [`DROP DATABASE ${name}_ascii`]);
  });
});

describe('roles of their own', () => {
  const changes = [
    'UPDATE seb.entry SET body = NULL',
    'DELETE FROM seb.entry',
    'TRUNCATE seb.entry',
    `UPDATE seb.checkpoint SET note = ''`,
    'DELETE FROM seb.checkpoint',
    'TRUNCATE seb.checkpoint',
    'DELETE FROM seb.stream',
    'TRUNCATE seb.stream',
    `UPDATE seb.stream SET name = ''`,
    `UPDATE seb.trail SET id = ''`,
    'DELETE FROM seb.trail',
    'ALTER TABLE seb.entry DISABLE TRIGGER ALL',
    'DROP TRIGGER entry_kept ON seb.entry',
    'CREATE OR REPLACE FUNCTION seb.refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN OLD; END$$',
    'DROP TABLE seb.entry',
    'INSERT INTO seb.version VALUES (2)',
    'SET session_replication_role = replica',
  ];

  it('let the consumer add and nothing else: by rights, before any trigger', async () => {
    await using world = await openPostgresWorld('seb_writer');
    await using trail = await world.open({ sign });
    await fill(trail);
    expect(await refusals(world.settings.url.reveal(), changes)).toEqual(everyWith(changes, '42501'));
    expect(await trail.prune(Number.MAX_SAFE_INTEGER)).toEqual({
      status: 'unavailable',
      reason: 'unauthorized',
    });
    expect(await trail.check()).toMatchObject({ entries: 3, pruned: 0, different: [] });
  });

  it('let whoever prunes drop bodies, and change nothing else', async () => {
    await using world = await openPostgresWorld('seb_writer', 'seb_pruner');
    await using trail = await world.open({ sign });
    await fill(trail);
    const [dropping, ...others] = changes;
    expect(await refusals(world.settings.url.reveal(), others)).toEqual(everyWith(others, '42501'));
    expect(
      await refusals(world.settings.url.reveal(), [String(dropping), `UPDATE seb.entry SET body = 'x'`]),
    ).toEqual([
      [dropping, 'done'],
      [`UPDATE seb.entry SET body = 'x'`, '23000'],
    ]);
  });

  it('let a reader read everything, and write nothing', async () => {
    await using world = await openPostgresWorld('seb_writer');
    await using trail = await world.open({ sign });
    await fill(trail);
    const settings = world.readSettings;
    const url = settings.url.reveal();
    await using source = await openPostgresSource(settings);
    expect((await source.streams()).map(({ size }) => size)).toEqual([3, 1, 1]);
    expect(await source.check?.()).toMatchObject({ entries: 3, different: [] });
    await using answers = await openPostgresReader(settings);
    expect(await answers.events({ limit: 10 })).toHaveLength(1);
    await using asStore = await openPostgresTrail(settings);
    expect(await append(asStore, asHubEvents(liveMigration(1), 3))).toEqual({
      ...{ status: 'unavailable', reason: 'unauthorized' },
    });
    const writes = ((await tables(url)) as string[]).flatMap((name) => [
      `INSERT INTO seb.${name} SELECT * FROM seb.${name}`,
      `DELETE FROM seb.${name}`,
    ]);
    expect(writes).toHaveLength(28);
    const states = (await refusals(url, [...changes, ...writes])) as [string, string][];
    // A column that counts by itself is refused before the right is asked for.
    expect(states.filter(([, state]) => state !== '42501' && state !== '428C9')).toEqual([]);
  });
});

describe('what `seb check` says of a role', () => {
  const fast = 'fsync is off: a crash of the server may lose what it confirmed';

  it('tells append-only by rights from append-only by trigger', async () => {
    await using world = await openPostgresWorld('seb_writer');
    expect(await readRights(world.settings)).toEqual({
      ok: true,
      detail: `plain on this machine; 0 events; append-only for this role; ${fast}`,
    });
    await using pruner = await openPostgresWorld('seb_writer', 'seb_pruner');
    expect((await readRights(pruner.settings)).detail).toContain(
      'append-only for this role, which may drop bodies',
    );
    expect(await readRights(world.readSettings)).toEqual({
      ok: false,
      detail: 'plain on this machine; this role may not write: make it a member of seb_writer',
    });
    expect((await readRights(settingsFor(world.database.adminUrl))).detail).toContain(
      'append-only by trigger only: this role owns the tables',
    );
    await execute(world.database.adminUrl, ['GRANT DELETE ON seb.entry TO PUBLIC']);
    expect((await readRights(world.settings)).detail).toContain('this role may also change or delete');
    await execute(world.database.adminUrl, ['REVOKE DELETE ON seb.entry FROM PUBLIC']);
  });

  it('tells who makes the tables where there are none', async () => {
    await using database = await openDatabase();
    expect(await readRights(settingsFor(database.url))).toMatchObject({
      ok: true,
      detail: expect.stringContaining('no tables yet: the consumer makes them, and its role will own them'),
    });
    await using nobody = await addLogin(database);
    expect(await readRights(settingsFor(nobody.url))).toMatchObject({
      ok: false,
      detail: expect.stringContaining('run infra/postgres/trail.sql'),
    });
    expect(await tables(database.url)).toEqual([]);
    const wrong = database.urlOf(database.name, 'wrong');
    await expect(readRights(settingsFor(wrong))).rejects.toThrow(/refuses this user.*28P01/);
    const { port } = inject('postgres');
    const none = database.url.replace(String(port), '1');
    await expect(readRights(settingsFor(none))).rejects.toThrow('its server cannot be reached');
  });
});
