// The consumer on PostgreSQL: from the hub into the tables, through a stop of the database and a crash of it.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPostgresSource } from '../../src/audit/postgres/source.ts';
import { streamKind } from '../../src/core/stream.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { linesInHub } from '../support/hub-and-trail.ts';
import { openSender, startConsumer } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { openDatabase, rowsOf } from './support/postgres.ts';
import { startPostgres } from './support/postgres-server.ts';
import { settingsFor } from './support/postgres-world.ts';

/** `partition sequenceNumber body` of every event in the trail. */
async function linesInTrail(url: string): Promise<string[]> {
  await using source = await openPostgresSource(settingsFor(url));
  const lines: string[] = [];
  for (const { name } of await source.streams()) {
    if (streamKind(name) !== 'hub') continue;
    for await (const entries of source.entries(name)) {
      for (const { sequenceNumber, body } of entries) {
        lines.push(`${name.split('/')[2]} ${sequenceNumber} ${Buffer.from(body ?? []).toString('utf8')}`);
      }
    }
  }
  return lines;
}

test('a consumer waits for a database that is stopped or crashes, says so, and leaves nothing out and nothing twice', async () => {
  using directory = temporaryDirectory();
  await using cluster = await startPostgres({ settings: { fsync: 'on', full_page_writes: 'on' } });
  await using database = await openDatabase(cluster.address);
  await using hub = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 4 }] });
  await using sender = openSender(hub);
  const stored = async (): Promise<number> => {
    const question = `SELECT coalesce(sum(size), 0)::integer AS size FROM seb.stream WHERE name LIKE '%/fleet/%'`;
    return await rowsOf(database.url, question).then(
      ([row]) => Number(row?.['size']),
      () => 0,
    );
  };
  const settings = {
    trail: { type: 'postgres', url: database.url },
    status: { listen: '127.0.0.1:0' },
  };
  // The first start finds no server at all.
  await cluster.stop('fast');
  await using consumer = startConsumer(join(directory.path, 'trail'), hub, { settings });
  const url = await consumer.statusUrl();
  const readiness = async (): Promise<string> => await (await fetch(`${url}/readyz`)).text();
  await sender.send([0, 1, 2, 3].flatMap((event) => liveMigration(event)));
  await cluster.start();
  await until('the first events', async () => (await stored()) === 12);
  await until('readiness', async () => (await fetch(`${url}/readyz`)).status === 200);
  for (const [round, mode] of (['fast', 'immediate'] as const).entries()) {
    await cluster.stop(mode);
    await sender.send([4, 5, 6, 7].flatMap((event) => liveMigration(event + 4 * round)));
    await until('the trouble on the page', async () => (await readiness()).includes('unreachable'));
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    await cluster.start();
    await until('what came meanwhile', async () => (await stored()) === 24 + 12 * round, 30_000);
    await until('readiness again', async () => (await fetch(`${url}/readyz`)).status === 200);
  }
  expect(await consumer.stop()).toEqual({ ok: true });
  expect((await linesInTrail(database.url)).sort()).toEqual(linesInHub(hub).sort());
  await using source = await openPostgresSource(settingsFor(database.url));
  expect(await source.check?.()).toMatchObject({ entries: 36, different: [], damaged: [] });
  const heads = await source.streams();
  expect(heads.filter(({ note }) => note === null)).toEqual([]);
  expect(new Set(heads.map(({ kind }) => kind))).toEqual(new Set(['hub', 'journal', 'seal']));
});
