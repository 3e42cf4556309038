// What may happen to several consumers of one hub: each trouble has its behaviour, its word and its end.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EventHubProducerClient } from '@azure/event-hubs';
import { expect, test } from 'vitest';
import type { Readiness } from '../../src/consumer/readiness.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { type StuckClock, stuckClock } from '../support/clocks.ts';
import { bodiesInTrail, linesInHub, linesInTrail } from '../support/hub-and-trail.ts';
import { journalFacts } from '../support/journal-facts.ts';
import { type MemoryOwnership, openMemoryOwnership } from '../support/ownership.ts';
import {
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
const settings = { status: { listen: 0 } };

/** A hub that keeps its events in a file, a trail, and the ownership of partitions. */
async function openWorld(partitions: number, more: object = {}) {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  const [path, storePath] = [join(directory.path, 'trail.db'), join(directory.path, 'hub')];
  const open = async (options: object = {}): Promise<EventHubsEmulator> =>
    resources.use(
      await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions }], ...more, ...options }),
    );
  const emulator = await open({ storePath });
  const ownership = openMemoryOwnership();
  const start = (options: ConsumerOptions = {}): RunningConsumer =>
    resources.use(
      startConsumer(path, emulator, {
        share: { ...quick, ownership },
        watchIntervalMs: 200,
        settings,
        ...options,
      }),
    );
  const send = async (bodies: Parameters<ReturnType<typeof openSender>['send']>[0], partition = '0') => {
    await using sender = openSender(emulator);
    await sender.send(bodies, partition);
  };
  /** So many events for partition 0, in few batches. */
  const flood = async (count: number): Promise<void> => {
    await using resources = new AsyncDisposableStack();
    const client = new EventHubProducerClient(emulator.connectionString, emulator.eventHubName);
    resources.defer(() => client.close());
    for (let sent = 0; sent < count; sent += 1_000) {
      const events = Array.from({ length: 1_000 }, (_, at) => ({ body: Buffer.from(String(sent + at)) }));
      await client.sendBatch(events, { partitionId: '0' });
    }
  };
  return {
    ...{ path, storePath, open, emulator, ownership, start, send, flood },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const readiness = async (consumer: RunningConsumer): Promise<Readiness> =>
  (await (await fetch(`${await consumer.statusUrl()}/readyz`)).json()) as Readiness;

const readyWith = (consumer: RunningConsumer, what: string, holds: (readiness: Readiness) => boolean) =>
  until(
    what,
    async () => {
      const found = await readiness(consumer);
      return holds(found) && found;
    },
    30_000,
  );

/** Ownership for one consumer, and how often it has begun to look who owns what. */
function watched(ownership: MemoryOwnership) {
  const rounds = { count: 0 };
  const serverNow = (): Promise<number> => {
    rounds.count += 1;
    return ownership.serverNow();
  };
  return { rounds, ownership: { ...ownership, serverNow } };
}

/** Lets time pass in steps with a round of claims behind each: all at once looks like rounds that hang. */
async function passInSteps(
  clock: StuckClock,
  rounds: { readonly count: number },
  { times, stepMs }: { readonly times: number; readonly stepMs: number },
): Promise<void> {
  for (let step = 0; step < times; step++) {
    const { count } = rounds;
    clock.pass(stepMs);
    await until('a round of claims', () => rounds.count > count);
  }
}

const owned = (ownership: MemoryOwnership): number =>
  Object.values(ownership.owners()).filter((owner) => owner !== '').length;

const reads = (ownership: MemoryOwnership, partitions: number) =>
  until(`${partitions} partitions`, () => owned(ownership) === partitions);

const ends = ({ progress }: RunningConsumer): string[] =>
  progress.flatMap((news) => (news.kind === 'ended' ? [news.end.reason] : []));

const complaints = ({ log }: RunningConsumer): string[] =>
  log.lines
    .filter(({ level }) => level !== 'info')
    .map(({ message }) => message)
    // Of a store that is down the seals and the journal have a line of their own, when it lasts.
    .filter((message) => !/^(nothing is sealed|the journal waits)/.test(message));

test.concurrent('while blob storage is down, what is read is read on, nobody takes over, and that is said once', async () => {
  await using world = await openWorld(2);
  const clock = stuckClock();
  const { ownership } = world;
  const counted = watched(ownership);
  const one = world.start({ clock, share: { ...quick, ownership: counted.ownership } });
  await readyWith(one, 'both partitions', ({ sharing }) => sharing?.here === 2);
  ownership.fail('unreachable');
  await until('the complaint', () => complaints(one).length > 0);
  const two = world.start();
  for (let event = 0; event < 4; event++) await world.send(liveMigration(event));
  await entriesIn(world.path, 12);
  // Longer than the expiry.
  await until('the second complaint', () => complaints(two).length > 0);
  const once = [
    'nobody says who reads which partition: what is read here is read on',
    'checkpoints are not written: the trail knows better, and goes on',
  ];
  expect(complaints(one)).toEqual(once);
  expect((await readiness(one)).sharing).toMatchObject({ fault: 'unreachable', here: 2 });
  await passInSteps(clock, counted.rounds, { times: 7, stepMs: 9_000 });
  expect((await readyWith(one, 'unready', ({ ready }) => !ready)).reasons).toContain('ownership-unknown');
  ownership.fail(null);
  await readyWith(
    one,
    'known again',
    ({ reasons, sharing }) => reasons.length === 0 && sharing?.fault === null,
  );
  await readyWith(two, 'ready', ({ ready }) => ready);
  await until('both', () => new Set(Object.values(ownership.owners())).size === 2);
  await world.send(liveMigration(9));
  await entriesIn(world.path, 15);
  expect(linesInTrail(world.path)).toEqual(linesInHub(world.emulator));
  expect([ends(one), ends(two)]).toEqual([[], []]);
  // What a busy machine makes of a link is another matter.
  expect(complaints(one).filter((line) => once.includes(line))).toEqual(once);
}, 90_000);

test.concurrent('a stop while blob storage is down takes no longer than it may', async () => {
  await using world = await openWorld(2);
  const one = world.start();
  await reads(world.ownership, 2);
  world.ownership.fail('unreachable');
  const before = performance.now();
  expect(await one.stop()).toEqual({ ok: true });
  expect(performance.now() - before).toBeLessThan(9_000);
}, 90_000);

test.concurrent('more consumers than partitions: who owns nothing stands by, and is ready', async () => {
  await using world = await openWorld(1);
  const one = world.start();
  await reads(world.ownership, 1);
  const two = world.start();
  const standby = await readyWith(two, 'standing by', ({ hub }) => hub.detail.startsWith('standing by'));
  expect(standby).toMatchObject({
    ready: true,
    sharing: { here: 0, consumers: 1, fault: null },
    partitions: { 0: { owner: 'elsewhere', lagEvents: null } },
  });
  expect(await readyWith(one, 'reading', ({ hub }) => hub.state === 'reading')).toMatchObject({
    hub: { detail: '1 of 1 partitions are read here' },
    partitions: { 0: { owner: 'here' } },
  });
}, 90_000);

test.concurrent('what retention ate is looked for twice, over a new link of that partition alone, and stands in the journal', async () => {
  await using world = await openWorld(2, { retentionEventsMax: 4 });
  const one = world.start();
  await world.send(['0', '1']);
  await world.send(['x'], '1');
  await entriesIn(world.path, 3);
  await one.stop();
  await world.send(['2', '3', '4', '5', '6', '7', '8', '9']);
  const two = world.start();
  await world.send(['y'], '1');
  await entriesIn(world.path, 8);
  expect(bodiesInTrail(world.path)).toEqual(['0', '1', '6', '7', '8', '9', 'x', 'y']);
  expect(ends(two)).toEqual([]);
  expect(journalFacts(world.path, 'gap')).toEqual([expect.objectContaining({ from: 2, to: 5 })]);
  expect(complaints(two)).toEqual(['events are missing: the hub no longer has them']);
}, 90_000);

test.concurrent('a hub that was made anew is read into new streams from its beginning, whatever its offsets', async () => {
  await using world = await openWorld(2);
  const one = world.start();
  await world.send(['a', 'b', 'c']);
  await entriesIn(world.path, 3);
  const { port } = world.emulator;
  await world.emulator[Symbol.asyncDispose]();
  await world.open({ port });
  await world.send(['d', 'e']);
  await entriesIn(world.path, 5, 30_000);
  await until('the change', () => journalFacts(world.path, 'epoch-changed').length === 1);
  expect(bodiesInTrail(world.path).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  // What is no longer there is closed with its session, and not only when the consumer stops.
  expect(journalFacts(world.path, 'partition-closed').length).toBeGreaterThanOrEqual(2);
  expect(
    new Set(journalFacts(world.path, 'stream-began').map((fact) => 'stream' in fact && fact.stream)).size,
  ).toBe(2);
  expect(ends(one).at(-1)).toMatch(/failed|silent|hub-changed/);
}, 90_000);

test.concurrent('a hub that holds less than it once gave is not waited for in silence, and the other partitions go on', async () => {
  await using world = await openWorld(2);
  await world.send(['a', 'b']);
  await world.send(['x'], '1');
  copyFileSync(world.storePath, `${world.storePath}.copy`);
  const one = world.start();
  await world.send(['c', 'd']);
  await entriesIn(world.path, 5);
  const { port } = world.emulator;
  await world.emulator[Symbol.asyncDispose]();
  await world.open({ port, storePath: `${world.storePath}.copy` });
  const found = await readyWith(one, 'the refusal', ({ reasons }) => reasons.includes('partition-refused'));
  expect(found.partitions['0']).toMatchObject({
    fault: 'position-refused',
    advice: expect.stringContaining('holds less'),
  });
  expect(found.partitions['1']?.fault).toBeNull();
  await world.send(['y'], '1');
  await entriesIn(world.path, 6, 30_000);
  // It grows beyond where the trail ends: what lies between would be left out, and what follows would look whole.
  await world.send(['e', 'f', 'g']);
  await readyWith(one, 'the other history', ({ partitions }) => partitions['0']?.fault === 'history-changed');
  await world.send(['z'], '1');
  await entriesIn(world.path, 7, 30_000);
  expect(bodiesInTrail(world.path)).toEqual(['a', 'b', 'c', 'd', 'x', 'y', 'z']);
}, 90_000);

test.concurrent('the only reader of a hub that was put back says so too, and reads the other partitions on', async () => {
  await using world = await openWorld(2);
  await world.send(['a', 'b']);
  await world.send(['x'], '1');
  copyFileSync(world.storePath, `${world.storePath}.copy`);
  const one = world.start({ share: {} });
  await world.send(['c', 'd']);
  await entriesIn(world.path, 5);
  const { port } = world.emulator;
  await world.emulator[Symbol.asyncDispose]();
  await world.open({ port, storePath: `${world.storePath}.copy` });
  await readyWith(one, 'the refusal', ({ reasons }) => reasons.includes('partition-refused'));
  await world.send(['e', 'f', 'g']);
  await world.send(['y'], '1');
  await entriesIn(world.path, 6, 30_000);
  expect(bodiesInTrail(world.path)).toEqual(['a', 'b', 'c', 'd', 'x', 'y']);
  const found = await readiness(one);
  expect([found.sharing, found.reasons]).toEqual([null, ['partition-refused']]);
}, 90_000);

test.concurrent('a store that is down for an hour costs a batch of memory, and neither an event nor the ownership', async () => {
  await using world = await openWorld(2);
  const waiting = 6_000;
  const clock = stuckClock();
  const counted = watched(world.ownership);
  // Rounds that do not come for an expiry would be taken for rounds that hang.
  const share = { ...quick, expiryMs: 300_000, ownership: counted.ownership };
  const one = world.start({ clock, share });
  await reads(world.ownership, 2);
  await world.send(['first']);
  await entriesIn(world.path, 1);
  const owners = world.ownership.owners();
  {
    using database = new DatabaseSync(world.path);
    database.exec('BEGIN IMMEDIATE');
    await world.flood(waiting);
    await until('the complaint', () => complaints(one).length > 0);
    const { claims } = world.ownership;
    await passInSteps(clock, counted.rounds, { times: 18, stepMs: 200_000 });
    await until('renewals', () => world.ownership.claims > claims + 18);
    // A batch in hand, one that is ready, and what the link had allowed before: 300 for each second that it was idle.
    expect(world.emulator.counters.eventsDelivered).toBeLessThan(waiting);
    expect(world.ownership.owners()).toEqual(owners);
    expect((await readiness(one)).reasons).toContain('trail-unwritable');
  }
  await entriesIn(world.path, waiting + 1, 30_000);
  expect(linesInTrail(world.path)).toEqual(linesInHub(world.emulator));
  expect(ends(one)).toEqual([]);
  expect(complaints(one)).toHaveLength(1);
}, 90_000);

test.concurrent('a partition whose idle waits allow too much ahead gets a new link, and the others keep theirs', async () => {
  await using world = await openWorld(2);
  const one = world.start({ creditMax: 600 });
  await world.send(['a']);
  await entriesIn(world.path, 1);
  const { claims } = world.ownership;
  await until('another claim', () => world.ownership.claims > claims + 2);
  await world.send(['b']);
  await world.send(['c'], '1');
  await entriesIn(world.path, 3);
  expect(ends(one)).toEqual([]);
  expect(journalFacts(world.path, 'partition-opened')).toHaveLength(2);
  expect(complaints(one)).toEqual([]);
}, 90_000);

test.concurrent('a partition that has news and brings none gets a new link, and the others keep theirs', async () => {
  await using world = await openWorld(2);
  const one = world.start();
  await reads(world.ownership, 2);
  world.emulator.faults.add({ name: 'slow-receive', partition: '0', delayMs: 3_600_000 });
  await world.send(['a']);
  await world.send(['x'], '1');
  await entriesIn(world.path, 2);
  expect(ends(one)).toEqual([]);
}, 90_000);

test.concurrent('checkpoints in the blobs follow the trail, for whoever measures lag by them', async () => {
  await using world = await openWorld(1);
  const one = world.start();
  await world.send(['a']);
  await entriesIn(world.path, 1);
  await until('the first', () => world.ownership.checkpoints.length === 1);
  // Sooner than another one is due.
  await world.send(['b', 'c']);
  await entriesIn(world.path, 3);
  await one.stop();
  const last = world.emulator.events().at(-1);
  expect(world.ownership.checkpoints.at(-1)).toMatchObject({
    ...{ partitionId: '0', sequenceNumber: 2, offset: String(last?.offset) },
    ...{ consumerGroup: '$Default', eventHubName: 'fleet' },
  });
}, 90_000);

test.concurrent('a round of claims that hangs in the SDK does not cost what is owned for longer than a look', async () => {
  await using world = await openWorld(2);
  const clock = stuckClock();
  const one = world.start({ clock, watchIntervalMs: 1_000 });
  await readyWith(one, 'both partitions', ({ sharing }) => sharing?.here === 2);
  // The SDK asks by itself ten times as often as the watchdog, and waits a minute for the answer.
  world.emulator.faults.add({ name: 'management-silent' });
  await until('the silence', () => world.emulator.faults.struck.get('management-silent') === 1);
  clock.pass(30_000);
  await until('another session', () => ends(one).length > 0, 20_000);
  expect(['sharing-stalled', 'silent']).toContain(ends(one)[0]);
  await reads(world.ownership, 2);
  await world.send(liveMigration());
  await entriesIn(world.path, 3);
}, 90_000);
