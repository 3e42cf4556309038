// Several consumers of one hub: they share the partitions, hand them over, and leave nothing out and nothing twice.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EventHubConsumerClient } from '@azure/event-hubs';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import type { SessionEnd } from '../../src/consumer/session.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { bodiesInTrail, linesInHub, linesInTrail } from '../support/hub-and-trail.ts';
import { journalFacts } from '../support/journal-facts.ts';
import { type MemoryOwnership, openMemoryOwnership } from '../support/ownership.ts';
import {
  ask,
  type ConsumerOptions,
  entriesIn,
  openSender,
  type RunningConsumer,
  startConsumer,
} from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const quick = { intervalMs: 100, expiryMs: 1_500 };

/** A hub, a trail and the ownership of its partitions. */
async function openWorld(partitions: number, more: object = {}) {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  const path = join(directory.path, 'trail.db');
  const emulator = resources.use(
    await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions }], ...more }),
  );
  const ownership = openMemoryOwnership();
  const start = (options: ConsumerOptions = {}): RunningConsumer =>
    resources.use(startConsumer(path, emulator, { share: { ...quick, ownership }, ...options }));
  return {
    ...{ path, emulator, ownership, start, sender: resources.use(openSender(emulator)) },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** How many partitions each owner has, in rising order; released ones left out. */
function shares(ownership: MemoryOwnership): number[] {
  const counts = new Map<string, number>();
  for (const owner of Object.values(ownership.owners())) {
    if (owner !== '') counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  return [...counts.values()].sort((one, other) => one - other);
}

const balanced = (ownership: MemoryOwnership, expected: readonly number[]) =>
  until(`shares of ${expected}`, () => shares(ownership).join() === expected.join());

const ends = ({ progress }: RunningConsumer): SessionEnd['reason'][] =>
  progress.flatMap((news) => (news.kind === 'ended' ? [news.end.reason] : []));

const complaints = ({ log }: RunningConsumer): string[] =>
  log.lines.filter(({ level }) => level !== 'info').map(({ message }) => message);

test.concurrent('two consumers share the partitions, and the trail has each event once', async () => {
  await using world = await openWorld(4);
  const { path, emulator, ownership, sender } = world;
  const one = world.start();
  await balanced(ownership, [4]);
  await sender.send(liveMigration(0));
  const two = world.start();
  await balanced(ownership, [2, 2]);
  for (let event = 1; event < 10; event++) await sender.send(liveMigration(event));
  await entriesIn(path, 30);
  await Promise.all([one.stop(), two.stop()]);
  expect(linesInTrail(path)).toEqual(linesInHub(emulator));
  expect([ends(one), ends(two)]).toEqual([['stopped'], ['stopped']]);
  expect([...complaints(one), ...complaints(two)]).toEqual([]);
  expect(Object.values(ownership.owners())).toEqual(['', '', '', '']);
}, 60_000);

test.concurrent('who opens and closes a partition stands in the journal, with where it stood', async () => {
  await using world = await openWorld(1);
  const one = world.start();
  await world.sender.send(['a', 'b'], '0');
  await entriesIn(world.path, 2);
  await one.stop();
  const two = world.start();
  await balanced(world.ownership, [1]);
  await until('the opening', () => journalFacts(world.path, 'partition-opened').length === 2);
  await two.stop();
  const facts = journalFacts(world.path, 'partition-opened', 'partition-closed');
  expect(facts.map((fact) => [fact.kind, 'size' in fact && fact.size])).toEqual([
    ['partition-opened', 0],
    ['partition-closed', 2],
    ['partition-opened', 2],
    ['partition-closed', 2],
  ]);
  const instances = facts.map((fact) => 'instance' in fact && fact.instance);
  expect(instances[0]).toBe(instances[1]);
  expect(instances[2]).not.toBe(instances[0]);
}, 60_000);

test.concurrent('a consumer that stops hands over at once, long before its ownership expires', async () => {
  await using world = await openWorld(4);
  const share = { ...quick, expiryMs: 3_600_000, ownership: world.ownership };
  const one = world.start({ share });
  await balanced(world.ownership, [4]);
  const two = world.start({ share });
  await balanced(world.ownership, [2, 2]);
  await one.stop();
  await balanced(world.ownership, [4]);
  for (let event = 0; event < 4; event++) await world.sender.send(liveMigration(event));
  await entriesIn(world.path, 12);
  await two.stop();
  expect(linesInTrail(world.path)).toEqual(linesInHub(world.emulator));
}, 60_000);

test.concurrent('the partitions of a consumer that died are taken over when its ownership expires', async () => {
  await using world = await openWorld(4);
  world.start();
  await balanced(world.ownership, [4]);
  const before = performance.now();
  // Whoever is dead does not renew.
  for (const partition of ['1', '2']) world.ownership.give(partition, 'dead');
  await balanced(world.ownership, [2, 2]);
  await balanced(world.ownership, [4]);
  expect(performance.now() - before).toBeGreaterThan(quick.expiryMs);
  for (let event = 0; event < 4; event++) await world.sender.send(liveMigration(event));
  await entriesIn(world.path, 12);
  expect(linesInTrail(world.path)).toEqual(linesInHub(world.emulator));
}, 60_000);

test.concurrent.each([-3_600_000, 3_600_000])(
  'a clock that is wrong by %i ms neither steals what is alive nor leaves what is dead',
  async (aheadMs) => {
    await using world = await openWorld(2);
    world.ownership.aheadMs = aheadMs;
    const one = world.start();
    await balanced(world.ownership, [2]);
    world.start();
    await balanced(world.ownership, [1, 1]);
    const owners = world.ownership.owners();
    const { claims } = world.ownership;
    // Renewals of both, so several rounds have gone by.
    await until('renewals', () => world.ownership.claims > claims + 6);
    expect(world.ownership.owners()).toEqual(owners);
    world.ownership.give('0', 'dead');
    await until('a successor', () => world.ownership.owners()['0'] !== 'dead');
    expect(ends(one)).toEqual([]);
  },
  30_000,
);

test.concurrent('a former owner that still stores is fenced: what both have in hand stands there once', async () => {
  await using world = await openWorld(1);
  const { path, sender } = world;
  const one = world.start();
  await balanced(world.ownership, [1]);
  // As after a claim without an etag: each is the owner by what it knows, and takes the link from the other.
  const ownership = openMemoryOwnership();
  const share = { ...quick, ownership };
  const inHand = (consumer: RunningConsumer) =>
    until('a batch in hand', () => consumer.log.lines.some(({ fields }) => fields['reason'] === 'locked'));
  const two = world.start({ share });
  await balanced(ownership, [1]);
  {
    using database = new DatabaseSync(path);
    database.exec('BEGIN IMMEDIATE');
    const bodies = Array.from({ length: 20 }, (_, at) => String(at));
    await sender.send(bodies, '0');
    await Promise.all([inHand(one), inHand(two)]);
  }
  await entriesIn(path, 20);
  for (let round = 20; round < 30; round++) await sender.send([String(round)], '0');
  await entriesIn(path, 30);
  await Promise.all([one.stop(), two.stop()]);
  expect(linesInTrail(path)).toEqual(linesInHub(world.emulator));
  expect(await ask(path, (reader) => reader.counts())).toMatchObject({ entries: 30 });
  // Who comes second drops what is there, and has no trouble with it.
  const troubles = [one, two].flatMap(({ progress }) =>
    progress.flatMap((news) => (news.kind === 'trouble' && news.reason !== null ? [news.reason] : [])),
  );
  expect(new Set(troubles)).toEqual(new Set(['locked']));
  expect([ends(one), ends(two)]).toEqual([['stopped'], ['stopped']]);
}, 40_000);

test.concurrent('a reader that is robbed, as rebalancing does, complains to nobody and comes back', async () => {
  await using world = await openWorld(2);
  const one = world.start();
  await balanced(world.ownership, [2]);
  await world.sender.send(['a', 'b', 'c'], '0');
  await entriesIn(world.path, 3);
  // A reader that the blobs know nothing of, as the loser of a claim without an etag is one.
  const thief = new EventHubConsumerClient('$Default', world.emulator.connectionString, 'fleet');
  let robbed = 0;
  const processEvents = async () => {
    robbed += 1;
  };
  const handlers = { processEvents, processError: async () => undefined };
  thief.subscribe('0', handlers, { ownerLevel: 1, startPosition: { offset: '-1' } });
  await until('the robbery', () => robbed > 0);
  await world.sender.send(['d', 'e'], '0');
  await thief.close();
  await entriesIn(world.path, 5);
  expect(bodiesInTrail(world.path)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(ends(one)).toEqual([]);
  expect(complaints(one)).toEqual([]);
  expect(journalFacts(world.path, 'partition-closed')).toEqual([]);
}, 60_000);

test.concurrent('a partition that comes back is read from where the others brought it', async () => {
  await using world = await openWorld(1);
  const { path, ownership, sender } = world;
  const one = world.start();
  await sender.send(['a', 'b'], '0');
  await entriesIn(path, 2);
  ownership.give('0', 'other');
  await until('the loss', () => journalFacts(path, 'partition-closed').length === 1);
  // What the other owner stores meanwhile.
  const [stream] = (await ask(path, (reader) => reader.streams()))?.filter(({ size }) => size === 2) ?? [];
  await sender.send(['c', 'd', 'e'], '0');
  {
    await using trail = openSqliteTrail(path);
    const at = { size: 2, lastSequenceNumber: 1 };
    const events = world.emulator
      .events()
      .slice(2, 4)
      .map((event) => ({
        ...{
          sequenceNumber: event.sequenceNumber,
          enqueuedMs: event.enqueuedAt,
          body: Buffer.from(event.body),
        },
      }));
    expect(await trail.append(stream?.name ?? '', at, events)).toMatchObject({ status: 'appended' });
  }
  await entriesIn(path, 5);
  expect(linesInTrail(path)).toEqual(linesInHub(world.emulator));
  expect(ends(one)).toEqual([]);
}, 60_000);

test.concurrent('connections that drop at any moment, while partitions change hands, cost nothing', async () => {
  await using world = await openWorld(4);
  const one = world.start({ watchIntervalMs: 500 });
  await balanced(world.ownership, [4]);
  const two = world.start({ watchIntervalMs: 500 });
  for (let round = 0; round < 5; round++) {
    {
      // A sender whose connection is dropped takes a minute to close.
      await using sender = openSender(world.emulator);
      await sender.send(liveMigration(round));
    }
    world.emulator.dropConnections();
  }
  await entriesIn(world.path, 15, 40_000);
  await Promise.all([one.stop(), two.stop()]);
  expect(linesInTrail(world.path)).toEqual(linesInHub(world.emulator));
  expect((await ask(world.path, (reader) => reader.counts()))?.repeats).toBe(0);
  expect([...complaints(one), ...complaints(two)].filter((line) => line.includes('missing'))).toEqual([]);
}, 60_000);
