// A consumer whose servers all stop in the middle of their work: it ends in time, and tells nobody its secrets.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ContainerClient } from '@azure/storage-blob';
import { expect, test } from 'vitest';
import { newKey } from '../../src/audit/signing.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { marker, tells } from '../support/every-failure.ts';
import { startNode } from '../support/process.ts';
import { openSender } from '../support/running-consumer.ts';
import { listenSilently } from '../support/silent-server.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { startAzurite } from './support/azurite-server.ts';
import { execute, openDatabase, rowsOf } from './support/postgres.ts';
import { startPostgres } from './support/postgres-server.ts';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** The server of a cluster and all that it started. */
function processesOf(folder: string): number[] {
  const parent = Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
  const children = readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === `${parent}`
      );
    } catch {
      return false;
    }
  });
  return [parent, ...children.map(Number)];
}

const signal = (pids: readonly number[], name: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
};

test('with the database, the storage account and an anchor that no longer answer it ends within 10 s, and no secret gets out', async () => {
  using directory = temporaryDirectory();
  await using cluster = await startPostgres();
  await using azurite = await startAzurite();
  await using anchor = await listenSilently();
  await using database = await openDatabase(cluster.address);
  await using hub = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 4 }] });
  await using sender = openSender(hub);
  await execute(database.adminUrl, [`ALTER ROLE ${database.name} PASSWORD '${marker}'`]);
  const { connectionString } = azurite.address;
  for (const name of ['leases', 'anchors', 'archive'])
    await new ContainerClient(connectionString, name).create();
  const key = newKey('audit.example/fleet');
  const file = (name: string): string => join(directory.path, name);
  writeFileSync(file('key'), key.privateKey, { mode: 0o600 });
  const store = (container: string) => ({ type: 'blob', connectionString, container });
  writeFileSync(
    file('consumer.yaml'),
    JSON.stringify({
      hub: { connectionString: hub.connectionString, eventHubName: 'fleet' },
      trail: { type: 'postgres', url: database.urlOf(database.name, marker) },
      ...{ checkpoints: store('leases'), archive: { ...store('archive'), interval: '100ms' } },
      signing: { keyFile: file('key') },
      anchors: [
        { ...store('anchors'), interval: '1s' },
        {
          type: 'webhook',
          url: `http://127.0.0.1:${anchor.port}/${marker}`,
          allowHttp: true,
          interval: '1s',
        },
      ],
      ...{ status: { listen: '127.0.0.1:0' }, log: { level: 'trace' } },
    }),
  );
  await using consumer = startNode([cli, 'consumer', '-c', file('consumer.yaml')]);
  const address = await until(
    'the pages',
    () => /"address":"([^"]+)"/.exec(consumer.output().stderr)?.[1],
    30_000,
  );
  await sender.send([0, 1, 2, 3].flatMap((event) => liveMigration(event)));
  const stored = `SELECT coalesce(sum(size), 0)::integer AS size FROM seb.stream WHERE name LIKE '%/fleet/%'`;
  const admin = database.adminUrl;
  await until('the events', async () => (await rowsOf(admin, stored))[0]?.['size'] === 12, 30_000);
  await until('the hanging anchor', () => anchor.connections > 0, 30_000);
  const bodies = await rowsOf(admin, `SELECT convert_from(body, 'UTF8') AS body FROM seb.entry`);
  const stopped = [...processesOf(cluster.address.folder), azurite.pid];
  signal(stopped, 'SIGSTOP');
  const pages: string[] = [];
  let tookMs: number;
  try {
    await sender.send([4, 5, 6, 7].flatMap((event) => liveMigration(event)));
    await until(
      'the trouble',
      async () => (await (await fetch(`http://${address}/readyz`)).text()).includes('unreachable'),
      40_000,
    );
    for (const page of ['readyz', 'metrics']) {
      pages.push(await (await fetch(`http://${address}/${page}`)).text());
    }
    const since = performance.now();
    consumer.child.kill('SIGTERM');
    await consumer.ended();
    tookMs = performance.now() - since;
  } finally {
    signal(stopped, 'SIGCONT');
  }
  // What ends the process after 10 s may be late on a busy machine.
  expect(tookMs).toBeLessThan(12_000);
  const { stdout, stderr } = consumer.output();
  const said = [stdout, stderr, ...pages, JSON.stringify(bodies)].join('\n');
  expect(tells(said)).toBe(false);
  const secret = key.privateKey.trim().split('+').slice(4).join('+');
  for (const each of [secret, /AccountKey=([^;]+)/.exec(connectionString)?.[1] ?? '']) {
    expect(each.length).toBeGreaterThan(10);
    expect(said.includes(each)).toBe(false);
  }
}, 120_000);
