// Three consumers share 32 partitions and one trail, while one of them is killed every 5 s: every record once, one root.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openTrailSource } from '../../src/audit/open.ts';
import { newKey } from '../../src/audit/signing.ts';
import type { TrailSource } from '../../src/audit/store.ts';
import { Secret } from '../../src/config/secret.ts';
import { hashBody } from '../../src/core/leaf.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { type RunningProcess, runNode, startNode } from '../support/process.ts';
import { entriesIn, type HubPlace } from '../support/running-consumer.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openContainer } from './support/azurite.ts';
import { bundledChild } from './support/bundled-child.ts';
import { type Backlog, publishBacklog } from './support/fleet-backlog.ts';
import { openDatabase, rowsOf } from './support/postgres.ts';

// CI has no time for all of it in every run; `npm run test:scenario` runs it with 250 VMs, which is 200,000 records.
const vms = Number(process.env['SEB_SCENARIO_VMS'] ?? 50);
const backlog: Backlog = { vms, recordsPerVm: 800, partitions: 32 };
const total = backlog.vms * backlog.recordsPerVm;
const killEveryMs = 5_000;
const cli = join(import.meta.dirname, '../../src/cli.ts');
const child = join(import.meta.dirname, 'support/consumer-child.ts');

/** Three processes of the same settings; one after the other is killed, and started again at once. */
function openFleet(program: string, settings: object) {
  const start = (): RunningProcess => startNode([program, JSON.stringify(settings)]);
  const running = [start(), start(), start()];
  let kills = 0;
  const killNext = async (): Promise<void> => {
    const victim = kills % running.length;
    kills += 1;
    running[victim]?.child.kill('SIGKILL');
    await running[victim]?.ended();
    running[victim] = start();
  };
  return {
    killNext,
    kills: () => kills,
    stop: async (): Promise<readonly (number | null)[]> => {
      for (const each of running) {
        await each.until('started\n');
        each.child.kill('SIGTERM');
      }
      return await Promise.all(running.map((each) => each.ended()));
    },
    complaints: () => running.map((each) => each.output().stderr).join(''),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(running.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/** Until everything is stored: a kill every 5 s, and twice a second one reader loses its connection. */
async function disturb(
  { faults }: EventHubsEmulator,
  fleet: ReturnType<typeof openFleet>,
  stored: () => Promise<number>,
): Promise<void> {
  let killAt = performance.now() + killEveryMs;
  while ((await stored()) < total) {
    const partition = String(Math.floor(Math.random() * backlog.partitions));
    faults.add({ name: 'drop-on-receive', times: 1, probability: 1, delayMs: 0, partition });
    await delay(500);
    if (performance.now() < killAt) continue;
    await fleet.killNext();
    killAt += killEveryMs;
  }
  faults.clear();
}

/** One consumer that nobody shares with or disturbs, with a trail of its own. */
async function readQuietly(program: string, hub: HubPlace, path: string): Promise<void> {
  const settings = { hub, trail: { type: 'sqlite', path }, log: { level: 'error' } };
  await using quiet = startNode([program, JSON.stringify(settings)]);
  await quiet.until('started\n');
  await entriesIn(path, total, 120_000);
  quiet.child.kill('SIGTERM');
  expect(await quiet.ended(), quiet.output().stderr).toBe(0);
}

/** `sequenceNumber hash` of every entry of the hub's streams, by partition. */
async function linesOf(source: TrailSource): Promise<Map<string, string[]>> {
  const lines = new Map<string, string[]>();
  for (const { name, kind } of await source.streams()) {
    if (kind !== 'hub') continue;
    const own: string[] = [];
    for await (const chunk of source.entries(name)) {
      own.push(...chunk.map((entry) => lineOf(entry.sequenceNumber, entry.bodySha256)));
    }
    lines.set(name.split('/')[2] ?? '', own);
  }
  return lines;
}

const lineOf = (sequenceNumber: number, hash: Uint8Array): string =>
  `${sequenceNumber} ${Buffer.from(hash).toString('base64')}`;

/** The root of each of the hub's streams. */
async function rootsOf(source: TrailSource): Promise<Record<string, string>> {
  const streams = (await source.streams()).filter(({ kind }) => kind === 'hub');
  return Object.fromEntries(
    streams.map(({ name, root }) => [name, Buffer.from(root ?? []).toString('base64')]),
  );
}

test(`${total} records, 32 partitions, three consumers of which one is killed every 5 s: every record once, verified, and the roots are those of a single quiet consumer`, async () => {
  using directory = temporaryDirectory();
  await using database = await openDatabase();
  await using container = await openContainer();
  await using hub = await startEventHubsEmulator({
    hubs: [{ name: 'fleet', partitions: backlog.partitions }],
  });
  const { connectionString, eventHubName } = hub;
  const key = newKey('audit.example/fleet');
  const file = (name: string): string => join(directory.path, name);
  writeFileSync(file('key'), key.privateKey, { mode: 0o600 });
  const trail = { type: 'postgres', url: database.url };
  const program = await bundledChild(child, directory.path);
  await using fleet = openFleet(program, {
    hub: { connectionString, eventHubName },
    checkpoints: {
      type: 'blob',
      connectionString: container.connectionString,
      container: container.container,
    },
    ...{ trail, signing: { keyFile: file('key') }, log: { level: 'error' } },
    anchors: [{ type: 'file', path: file('anchors.notes'), interval: '1s' }],
  });
  const stored = async (): Promise<number> => {
    const [tables] = await rowsOf(database.url, `SELECT to_regclass('seb.stream') IS NOT NULL AS made`);
    if (tables?.['made'] !== true) return 0;
    const question = `SELECT coalesce(sum(size), 0) AS stored FROM seb.stream WHERE name NOT LIKE 'trail/%'`;
    return Number((await rowsOf(database.url, question))[0]?.['stored']);
  };
  await Promise.all([publishBacklog(hub, backlog), disturb(hub, fleet, stored)]);
  expect(await fleet.stop(), fleet.complaints()).toEqual([0, 0, 0]);
  expect(fleet.kills()).toBeGreaterThan(0);

  const quiet = file('quiet.db');
  const [verified] = await Promise.all([
    runNode([
      ...[cli, 'audit', 'verify', '--trail', database.url],
      ...['--key', key.verifierKey, '--anchor', file('anchors.notes')],
    ]),
    readQuietly(program, { connectionString, eventHubName }, quiet),
  ]);
  expect(verified, verified.stdout + verified.stderr).toMatchObject({ exitCode: 0 });

  await using shared = await openTrailSource({
    type: 'postgres',
    url: new Secret('test', () => database.url),
    identity: false,
  });
  await using single = await openTrailSource({ type: 'sqlite', path: quiet });
  const held = Map.groupBy(hub.events(), ({ partition }) => partition);
  const inTrail = await linesOf(shared);
  for (const [partition, events] of held) {
    const expected = events.map(({ sequenceNumber, body }) => lineOf(sequenceNumber, hashBody(body)));
    expect(inTrail.get(partition)?.join('\n')).toBe(expected.join('\n'));
  }
  expect(await rootsOf(shared)).toEqual(await rootsOf(single));
}, 600_000);
