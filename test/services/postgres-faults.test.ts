// What goes wrong between a trail and PostgreSQL: every fault has a name, nothing is lost and nothing comes twice.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { openPostgresTrail } from '../../src/audit/postgres/trail.ts';
import { emptyStream, type TrailStore } from '../../src/audit/store.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { append, clean, entriesOf, headsOf, inHex, stream, treeOver } from '../support/trail/world.ts';
import { until } from '../support/until.ts';
import { type Cut, openCutLine } from './support/cut-line.ts';
import { execute, openDatabase, rowsOf } from './support/postgres.ts';
import { startPostgres } from './support/postgres-server.ts';
import { openPostgresWorld, settingsFor } from './support/postgres-world.ts';

const three = asHubEvents(liveMigration());
const unavailable = (reason: string) => ({ status: 'unavailable', reason });
/** Long enough for a busy machine, short enough for a test. */
const waits = { connectMs: 1_500, statementMs: 1_500, lockMs: 200, answerMs: 500 };

const through = (url: string, port: number): string => url.replace(/:\d+\//, `:${port}/`);

describe('a connection that dies', () => {
  const cuts: readonly (readonly [string, Cut, string])[] = [
    ['COMMIT', 'after the server answered', 'moved'],
    ['COMMIT', 'before the server hears it', 'appended'],
    ['INSERT INTO seb.entry', 'after the server answered', 'appended'],
    ['INSERT INTO seb.observation', 'before the server hears it', 'appended'],
  ];

  it.each(cuts)(
    'at %s, %s, leaves a batch that is stored once: %s when it is tried again',
    async (word, how, then) => {
      await using world = await openPostgresWorld('seb_writer');
      await using line = await openCutLine(inject('postgres').port);
      await using trail = await openPostgresTrail(
        settingsFor(through(world.settings.url.reveal(), line.port)),
      );
      // A statement of its own, and not the beginning of `COMMITTED`.
      line.cutAt(word === 'COMMIT' ? 'COMMIT\0' : word, how);
      expect(await trail.append(stream, emptyStream, three)).toEqual(unavailable('unreachable'));
      expect(line.cuts()).toBe(1);
      const again = await until('the server to notice', async () => {
        const result = await trail.append(stream, emptyStream, three);
        return result.status === 'unavailable' ? null : result;
      });
      expect(again).toMatchObject({ status: then, position: { size: 3, lastSequenceNumber: 2 } });
      const entries = await entriesOf(world, stream);
      expect(entries.map(({ sequenceNumber }) => sequenceNumber)).toEqual([0, 1, 2]);
      const [head] = await headsOf(trail);
      expect(inHex(head?.tree)).toEqual(inHex(treeOver(entries)));
      expect(await trail.check()).toEqual(clean(3));
    },
  );

  it('is given up when the server no longer answers at all, and another one is made', async () => {
    await using world = await openPostgresWorld('seb_writer');
    await using line = await openCutLine(inject('postgres').port);
    const settings = settingsFor(through(world.settings.url.reveal(), line.port));
    await using trail = await openPostgresTrail(settings, { waits });
    line.cutAt('INSERT INTO seb.entry', 'silence');
    const began = performance.now();
    expect(await trail.append(stream, emptyStream, three)).toEqual(unavailable('unreachable'));
    expect(performance.now() - began).toBeLessThan(10_000);
    // The server still holds what the dead connection locked, until it hears of its end.
    const stored = await until('the lock', async () => {
      const { status } = await trail.append(stream, emptyStream, three);
      return status === 'appended';
    });
    expect(stored).toBe(true);
  });

  it('is let go of when the server no longer hears that it ends', async () => {
    await using world = await openPostgresWorld('seb_writer');
    await using line = await openCutLine(inject('postgres').port);
    const trail = await openPostgresTrail(settingsFor(through(world.settings.url.reveal(), line.port)));
    await append(trail, three);
    // The message that ends a session.
    line.cutAt('X\0\0\0\u0004', 'silence');
    await trail[Symbol.asyncDispose]();
    expect(line.cuts()).toBe(1);
  });

  it('is not missed when nobody used it', async () => {
    await using world = await openPostgresWorld('seb_writer');
    await using trail = await world.open();
    await append(trail, three);
    const killed = await rowsOf(
      world.database.adminUrl,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    expect(killed.length).toBeGreaterThan(0);
    await until('another connection', async () => {
      const { status } = await append(trail, asHubEvents(liveMigration(1), 3));
      return status === 'appended';
    });
  });
});

describe('a server that takes nothing', () => {
  it('is called locked while another transaction holds what is needed, and goes on after it', async () => {
    await using world = await openPostgresWorld('seb_writer');
    await using trail = await openPostgresTrail(world.settings, { waits });
    await append(trail, three);
    const other = new Client({ connectionString: world.settings.url.reveal() });
    await other.connect();
    await other.query('BEGIN; SELECT FROM seb.stream FOR UPDATE');
    expect(await append(trail, asHubEvents(liveMigration(1), 3))).toEqual(unavailable('locked'));
    await other.end();
    expect(await append(trail, asHubEvents(liveMigration(1), 3))).toMatchObject({ status: 'appended' });
  });

  it('is called read-only when it is a replica or its storage is nearly full', async () => {
    await using world = await openPostgresWorld('seb_writer');
    const { name, adminUrl } = world.database;
    await execute(adminUrl, [`ALTER DATABASE ${name} SET default_transaction_read_only = on`]);
    await using trail = await world.open();
    expect(await trail.append(stream, emptyStream, three)).toEqual(unavailable('read-only'));
    await execute(adminUrl, [
      'SET default_transaction_read_only = off',
      `ALTER DATABASE ${name} RESET default_transaction_read_only`,
    ]);
  });

  it.each([
    ['53100', 'disk-full'],
    ['57014', 'locked'],
    ['40P01', 'locked'],
    ['40001', 'locked'],
    ['57P01', 'unreachable'],
    ['XX001', 'damaged'],
    ['42501', 'unauthorized'],
    ['53200', 'unexpected'],
  ])('with the error %s is called %s, and the position has not moved', async (state, reason) => {
    await using world = await openPostgresWorld('seb_writer');
    await using trail = await world.open();
    await append(trail, three);
    const { adminUrl } = world.database;
    await execute(adminUrl, [
      `CREATE FUNCTION seb.fail() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN RAISE EXCEPTION 'fault' USING ERRCODE = '${state}'; END$$`,
      'CREATE TRIGGER fail AFTER INSERT ON seb.entry FOR EACH ROW EXECUTE FUNCTION seb.fail()',
    ]);
    const from = { size: 3, lastSequenceNumber: 2 };
    const next = asHubEvents(liveMigration(1, 1), 3);
    expect(await trail.append(stream, from, next)).toEqual(unavailable(reason));
    await execute(adminUrl, ['DROP TRIGGER fail ON seb.entry', 'DROP FUNCTION seb.fail()']);
    await until('the next try', async () => (await trail.append(stream, from, next)).status === 'appended');
    expect(await trail.check()).toEqual(clean(6));
  });
});

describe('a password', () => {
  it('that is exchanged in its file counts for the next connection, without a restart', async () => {
    await using database = await openDatabase();
    using directory = temporaryDirectory();
    const file = join(directory.path, 'url');
    writeFileSync(file, `${database.url}\n`);
    await using trail = await openPostgresTrail(settingsFor({ file }));
    const position = (): Promise<unknown> => trail.position(stream);
    await execute(database.adminUrl, [`ALTER ROLE ${database.name} PASSWORD 'second'`]);
    // Who is signed in stays so.
    expect(await position()).toMatchObject({ status: 'known' });
    await rowsOf(
      database.adminUrl,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1',
      [database.name],
    );
    await until('the refusal', async () => JSON.stringify(await position()).includes('unauthorized'));
    writeFileSync(file, database.urlOf(database.name, 'second'));
    expect(await position()).toMatchObject({ status: 'known' });
    await execute(database.adminUrl, [`ALTER ROLE ${database.name} PASSWORD '${database.name}'`]);
  });

  it('that is wrong at the start, or a database that is not there, is said in one sentence without the URL', async () => {
    await using database = await openDatabase();
    const wrong = settingsFor(database.urlOf(database.name, 'hunter2'));
    await expect(openPostgresTrail(wrong)).rejects.toThrow(
      'the trail in PostgreSQL cannot be used: its server refuses this user or the password (SQLSTATE 28P01)',
    );
    const elsewhere = settingsFor(database.url.replace(/[^/]+$/, 'nowhere'));
    await expect(openPostgresTrail(elsewhere)).rejects.toThrow('its server has no database of this name');
  });
});

describe('a server that is not there', () => {
  it('at the start is waited for, and one that crashes has kept what it confirmed', async () => {
    await using cluster = await startPostgres({ settings: { fsync: 'on', full_page_writes: 'on' } });
    await using database = await openDatabase(cluster.address);
    await cluster.stop('fast');
    await using trail = await openPostgresTrail(settingsFor(database.url), { waits });
    expect(await trail.position(stream)).toEqual(unavailable('unreachable'));
    await cluster.start();
    expect(await trail.append(stream, emptyStream, three)).toMatchObject({ status: 'appended' });
    for (let round = 1; round <= 3; round += 1) {
      // What the end of all processes at once leaves behind: the log of the server has to be played again.
      await cluster.stop('immediate');
      expect(await position(trail)).toEqual(unavailable('unreachable'));
      await cluster.start();
      const size = 3 * round;
      expect(await position(trail)).toMatchObject({ position: { size, lastSequenceNumber: size - 1 } });
      expect(await append(trail, asHubEvents(liveMigration(round), size))).toMatchObject({
        status: 'appended',
      });
    }
    expect(await trail.check()).toEqual(clean(12));
  });
});

const position = (trail: TrailStore): Promise<unknown> => trail.position(stream);

describe('what is confirmed', () => {
  it('is on disk, also where the database is set to confirm sooner', async () => {
    await using world = await openPostgresWorld('seb_writer');
    const { name, adminUrl } = world.database;
    await execute(adminUrl, [
      `ALTER DATABASE ${name} SET synchronous_commit = off`,
      'CREATE TABLE seb.durability (level text)',
      'GRANT INSERT ON seb.durability TO PUBLIC',
      `CREATE FUNCTION seb.watch() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN INSERT INTO seb.durability VALUES (current_setting('synchronous_commit')); RETURN NEW; END$$`,
      'CREATE TRIGGER watch BEFORE INSERT ON seb.entry FOR EACH ROW EXECUTE FUNCTION seb.watch()',
    ]);
    await using trail = await world.open();
    expect(await append(trail, three)).toMatchObject({ status: 'appended' });
    expect(await rowsOf(adminUrl, 'SELECT DISTINCT level FROM seb.durability')).toEqual([{ level: 'on' }]);
    await execute(adminUrl, [
      `ALTER DATABASE ${name} RESET synchronous_commit`,
      'DROP FUNCTION seb.watch() CASCADE',
      'DROP TABLE seb.durability',
    ]);
  });
});

describe('many who write at once', () => {
  it('to one stream from one place are told apart: one has appended, the others have moved', async () => {
    await using world = await openPostgresWorld('seb_writer');
    await using one = await world.open();
    await using two = await world.open();
    await append(one, three);
    for (let round = 1; round <= 5; round += 1) {
      const at = { size: 3 * round, lastSequenceNumber: 3 * round - 1 };
      const events = asHubEvents(liveMigration(round), at.size);
      const results = await Promise.all([one, two, one].map((trail) => trail.append(stream, at, events)));
      expect(results.map(({ status }) => status).sort()).toEqual(['appended', 'moved', 'moved']);
    }
    expect(await one.check()).toEqual(clean(18));
  });

  it('to many partitions never lock each other out, and leave what one alone would', async () => {
    await using world = await openPostgresWorld('seb_writer');
    const trails = await Promise.all([0, 1, 2].map(() => world.open()));
    const deadlocks = `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`;
    const [before] = await rowsOf(world.database.adminUrl, deadlocks);
    const results: string[] = [];
    const write = async (partition: number): Promise<void> => {
      for (let round = 0; round < 6; round += 1) {
        // Everybody speaks of the same agents and events, in another order.
        const vms = [0, 1, 2, 3].map((vm) => (vm + partition) % 4);
        const events = asHubEvents(
          vms.flatMap((vm) => liveMigration(round, vm)),
          12 * round,
        );
        const trail = trails[(partition + round) % 3];
        const at = { size: 12 * round, lastSequenceNumber: 12 * round - 1 };
        const fact = { kind: 'gap', stream, from: 0, to: 0 } as const;
        results.push((await trail?.append(`ns/hub/${partition}/e`, at, events, [fact]))?.status ?? 'none');
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, partition) => write(partition)));
    expect(new Set(results)).toEqual(new Set(['appended']));
    expect(await rowsOf(world.database.adminUrl, deadlocks)).toEqual([before]);
    expect(await trails[0]?.check()).toEqual(clean(8 * 72));
    await Promise.all(trails.map((trail) => trail[Symbol.asyncDispose]()));
  });
});
