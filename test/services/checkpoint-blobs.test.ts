// Sharing a hub through blobs as Azurite keeps them: claims, hand-over, checkpoints, and a storage account that is gone.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BlobCheckpointStore } from '@azure/eventhubs-checkpointstore-blob';
import { expect, inject, test } from 'vitest';
import { openContainer as openBlobs } from '../../src/blobs/container.ts';
import { Secret } from '../../src/config/secret.ts';
import { openOwnershipBlobs } from '../../src/consumer/ownership-blobs.ts';
import type { Readiness } from '../../src/consumer/readiness.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { linesInHub, linesInTrail } from '../support/hub-and-trail.ts';
import { runNode } from '../support/process.ts';
import { entriesIn, openSender, type RunningConsumer, startConsumer } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { openContainer, type TestContainer } from './support/azurite.ts';
import { openSwitchedLine } from './support/switched-line.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');
const quick = { intervalMs: 200, expiryMs: 3_000 };

/** The address of Azurite through another port. */
const through = (connectionString: string, port: number): string =>
  connectionString.replace(/(BlobEndpoint=http:\/\/127\.0\.0\.1:)\d+/, `$1${port}`);
const portOf = (connectionString: string): number => Number(/127\.0\.0\.1:(\d+)/.exec(connectionString)?.[1]);

const ownershipIn = (connectionString: string, container: string) =>
  openOwnershipBlobs(
    openBlobs({ connectionString: new Secret('a test', () => connectionString), container }, 2_000),
    new AbortController().signal,
  );

interface World extends AsyncDisposable {
  readonly path: string;
  readonly emulator: EventHubsEmulator;
  readonly container: TestContainer;
  /** Owners of the partitions, as any other program sees them; the released ones left out. */
  owners(): Promise<string[]>;
  start(connectionString?: string): RunningConsumer;
}

async function openWorld(partitions: number): Promise<World> {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  const container = resources.use(await openContainer());
  const hubs = [{ name: 'fleet', partitions }];
  const emulator = resources.use(await startEventHubsEmulator({ hubs }));
  const path = join(directory.path, 'trail.db');
  const store = new BlobCheckpointStore(container.client);
  return {
    ...{ path, emulator, container },
    owners: async () => {
      const listed = await store.listOwnership('127.0.0.1', 'fleet', '$Default');
      return listed.map(({ ownerId }) => ownerId).filter((owner) => owner !== '');
    },
    start: (connectionString = container.connectionString) => {
      const share = { ...quick, ownership: ownershipIn(connectionString, container.container) };
      const settings = { status: { listen: 0 } };
      return resources.use(startConsumer(path, emulator, { share, settings, watchIntervalMs: 500 }));
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const balanced = ({ owners }: World, consumers: number, partitions: number) =>
  until(`${partitions} partitions of ${consumers}`, async () => {
    const now = await owners();
    return now.length === partitions && new Set(now).size === consumers;
  });

const readiness = async (consumer: RunningConsumer): Promise<Readiness> =>
  (await (await fetch(`${await consumer.statusUrl()}/readyz`)).json()) as Readiness;

test('two consumers share partitions through blobs, one hands over at its end, and checkpoints tell how far they came', async () => {
  await using world = await openWorld(4);
  await using sender = openSender(world.emulator);
  const one = world.start();
  await balanced(world, 1, 4);
  const two = world.start();
  await balanced(world, 2, 4);
  for (let event = 0; event < 6; event++) await sender.send(liveMigration(event));
  await entriesIn(world.path, 18);
  await one.stop();
  await balanced(world, 1, 4);
  for (let event = 6; event < 10; event++) await sender.send(liveMigration(event));
  await entriesIn(world.path, 30);
  await two.stop();
  expect(await world.owners()).toEqual([]);
  expect(linesInTrail(world.path)).toEqual(linesInHub(world.emulator));
  const checkpoints = await new BlobCheckpointStore(world.container.client).listCheckpoints(
    ...(['127.0.0.1', 'fleet', '$Default'] as const),
  );
  const last = new Map(world.emulator.events().map((event) => [event.partition, event]));
  for (const { partitionId, sequenceNumber, offset } of checkpoints) {
    const { sequenceNumber: number, offset: place } = last.get(partitionId) ?? {};
    expect([sequenceNumber, offset]).toEqual([number, String(place)]);
  }
  expect(checkpoints.length).toBeGreaterThan(0);
});

test('a claim without an etag overwrites the owner, and a checkpoint goes back without a question: neither is a fence', async () => {
  await using container = await openContainer();
  const store = new BlobCheckpointStore(container.client);
  const named = { fullyQualifiedNamespace: 'ns', eventHubName: 'fleet', consumerGroup: '$Default' };
  const claim = (ownerId: string, etag?: string) =>
    store.claimOwnership([{ ...named, partitionId: '0', ownerId, ...(etag && { etag }) }]);
  const [first] = await claim('one');
  expect(await claim('two')).toHaveLength(1);
  expect(await claim('one', first?.etag)).toEqual([]);
  const place = ['ns', 'fleet', '$Default'] as const;
  expect((await store.listOwnership(...place)).map(({ ownerId }) => ownerId)).toEqual(['two']);
  for (const sequenceNumber of [9, 3]) {
    await store.updateCheckpoint({
      ...named,
      partitionId: '0',
      sequenceNumber,
      offset: String(sequenceNumber),
    });
  }
  expect(await store.listCheckpoints(...place)).toMatchObject([{ sequenceNumber: 3 }]);
});

test('with blob storage gone the partitions are read on, a stop is as quick, and its return lets others in', async () => {
  await using world = await openWorld(2);
  await using sender = openSender(world.emulator);
  await using line = await openSwitchedLine(portOf(inject('azurite').connectionString));
  const address = through(world.container.connectionString, line.port);
  const one = world.start(address);
  await until('both', async () => (await readiness(one)).sharing?.here === 2);
  await line.off();
  const complaint = 'nobody says who reads which partition: what is read here is read on';
  await until('the complaint', () => one.log.lines.some(({ message }) => message === complaint));
  for (let event = 0; event < 4; event++) await sender.send(liveMigration(event));
  await entriesIn(world.path, 12);
  expect((await readiness(one)).sharing).toMatchObject({ fault: 'unreachable', here: 2 });
  // The ownership has expired meanwhile, for everybody who still sees it.
  const two = world.start();
  await balanced(world, 1, 2);
  await until('the loss', async () => (await readiness(two)).sharing?.here === 2);
  await line.on();
  await balanced(world, 2, 2);
  await until('knowledge', async () => (await readiness(one)).sharing?.fault === null);
  await line.off();
  const before = performance.now();
  await one.stop();
  expect(performance.now() - before).toBeLessThan(9_000);
  await sender.send(liveMigration(5));
  await balanced(world, 1, 2);
  await entriesIn(world.path, 15);
  expect(linesInTrail(world.path)).toEqual(linesInHub(world.emulator));
});

test('a container that is not there is one sentence for a person, in the log, on the page and in seb check', async () => {
  using directory = temporaryDirectory();
  await using emulator = await startEventHubsEmulator();
  const { connectionString } = inject('azurite');
  const share = { ...quick, ownership: ownershipIn(connectionString, 'nobody-made-it') };
  const settings = { status: { listen: 0 } };
  await using consumer = startConsumer(join(directory.path, 'trail.db'), emulator, { share, settings });
  const said = await until('the complaint', () => consumer.log.lines.find(({ level }) => level === 'error'));
  expect(said.fields).toEqual({
    reason: 'not-found',
    advice: expect.stringContaining('there is no such container'),
  });
  expect((await readiness(consumer)).sharing).toMatchObject({ fault: 'not-found', here: 0 });

  const checked = (container: string) => {
    const { connectionString: hub, eventHubName } = emulator;
    const file = join(directory.path, 'consumer.json');
    const trail = { type: 'postgres', url: 'postgres://nobody@127.0.0.1:1/none' };
    const checkpoints = { type: 'blob', connectionString, container };
    writeFileSync(file, JSON.stringify({ hub: { connectionString: hub, eventHubName }, checkpoints, trail }));
    return runNode([cli, 'check', '-c', file]);
  };
  const { stdout, stderr } = await checked('nobody-made-it');
  expect(stdout + stderr).toMatch(/checkpoints.*not-found; there is no such container/);
  expect(stdout + stderr).not.toContain('AccountKey');
  await using container = await openContainer();
  expect((await checked(container.container)).stdout).toMatch(/checkpoints\tok\tcontainer test-/);
  for await (const { name } of container.client.listBlobsFlat()) throw new Error(`${name} was left behind`);
});
