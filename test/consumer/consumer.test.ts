// The consumer over a real connection: everything the hub holds stands in the trail, in order, once.
import { join } from 'node:path';
import { EventHubProducerClient } from '@azure/event-hubs';
import { expect, test } from 'vitest';
import { encodeRecord } from '../../src/core/record.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { bodiesInTrail, linesInHub, linesInTrail } from '../support/hub-and-trail.ts';
import { ask, entriesIn, openSender, startConsumer } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const smallHub = (more: object = {}): Promise<EventHubsEmulator> =>
  startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 2 }], ...more });

test('everything that was sent before the first start is read, from every partition, byte for byte', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  await sender.send([...liveMigration(0), ...liveMigration(1)]);
  await sender.send(['{ "odd" : 1.0 }'], '0');
  await sender.send([Buffer.from([0xff, 0x00])], '1');
  await using consumer = startConsumer(path, emulator);
  await entriesIn(path, 8);
  await consumer.stop();
  const counts = await ask(path, (reader) => reader.counts());
  expect(counts).toMatchObject({ entries: 8, records: 6, parked: 2, events: 2 });
  const streams = (await ask(path, (reader) => reader.streams())) ?? [];
  expect(streams.map(({ name }) => name.split('/').slice(0, 3).join('/'))).toEqual([
    '127.0.0.1/fleet/0',
    '127.0.0.1/fleet/1',
  ]);
  expect(bodiesInTrail(path)).toContain('{ "odd" : 1.0 }');
});

test('bodies that are no bytes, or several, are entries all the same', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  const producer = new EventHubProducerClient(emulator.connectionString, emulator.eventHubName);
  await using _producer = { [Symbol.asyncDispose]: () => producer.close() };
  const raw = [
    { bodyType: 'value' as const, body: 'text' },
    { bodyType: 'value' as const, body: { a: 1 } },
    { bodyType: 'sequence' as const, body: [['b', 2]] },
    { bodyType: 'value' as const, body: null },
  ];
  await producer.sendBatch(raw, { partitionId: '0' });
  await using _consumer = startConsumer(path, emulator);
  await entriesIn(path, 4);
  expect(bodiesInTrail(path)).toEqual(['text', '{"a":1}', '[["b",2]]', 'null']);
  expect(await ask(path, (reader) => reader.counts())).toMatchObject({ parked: 4 });
});

test('a restart goes on where the trail stands: nothing twice, nothing left out', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  for (let round = 0; round < 3; round++) {
    await sender.send([...liveMigration(2 * round), ...liveMigration(2 * round + 1)]);
    await using consumer = startConsumer(path, emulator);
    await entriesIn(path, 6 * (round + 1));
    expect(await consumer.stop()).toEqual({ ok: true });
  }
  expect(linesInTrail(path)).toEqual(linesInHub(emulator));
  expect(await ask(path, (reader) => reader.counts())).toMatchObject({ entries: 18, repeats: 0 });
});

test('a hundred observers of one placement group give each fact once, with a hundred observers', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  const producer = new EventHubProducerClient(emulator.connectionString, emulator.eventHubName);
  await using _producer = { [Symbol.asyncDispose]: () => producer.close() };
  const [first, second] = [0, 1].map((event) =>
    Array.from({ length: 100 }, (_, vm) => liveMigration(event, vm)).flat(),
  );
  for (const records of [first ?? [], second ?? []]) {
    const partitionKey = records[0]?.partitionkey ?? '';
    await producer.sendBatch(
      records.map((record) => ({ body: encodeRecord(record) })),
      { partitionKey },
    );
  }
  await using _consumer = startConsumer(path, emulator);
  await entriesIn(path, 600);
  const facts = (await ask(path, (reader) => reader.facts())) ?? [];
  expect(facts.map(({ observers }) => observers)).toEqual([100, 100, 100, 100, 100, 100]);
  const events = (await ask(path, (reader) => reader.events({ limit: 10 }))) ?? [];
  expect(events.map(({ observers, status }) => [observers, status])).toEqual([
    [100, 'completed'],
    [100, 'completed'],
  ]);
});

test('two consumers on one trail store each event once', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  await using one = startConsumer(path, emulator);
  await using two = startConsumer(path, emulator);
  await Promise.all([one.reading(), two.reading()]);
  for (let event = 0; event < 10; event++) await sender.send(liveMigration(event));
  await entriesIn(path, 30);
  await Promise.all([one.stop(), two.stop()]);
  expect(linesInTrail(path)).toEqual(linesInHub(emulator));
});

test('a hub that was made anew under the same name begins new streams beside the old ones', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const first = await smallHub();
  const { port } = first;
  await using consumer = startConsumer(path, first);
  {
    await using sender = openSender(first);
    await sender.send([...liveMigration(0), ...liveMigration(1)]);
    await entriesIn(path, 6);
  }
  await first[Symbol.asyncDispose]();
  await using second = await smallHub({ port });
  await using sender = openSender(second);
  await sender.send([...liveMigration(2), ...liveMigration(3)]);
  await entriesIn(path, 12, 40_000);
  await consumer.stop();
  const streams = (await ask(path, (reader) => reader.streams())) ?? [];
  expect(new Set(streams.map(({ name }) => name.split('/')[3])).size).toBe(2);
  expect(await ask(path, (reader) => reader.counts())).toMatchObject({ entries: 12, events: 4, repeats: 0 });
}, 60_000);

test('events that the hub no longer has are looked for twice, then named, and reading goes on', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub({ retentionEventsMax: 4 });
  await using sender = openSender(emulator);
  {
    await using _consumer = startConsumer(path, emulator);
    await sender.send(['0', '1'], '0');
    await entriesIn(path, 2);
  }
  await sender.send(['2', '3', '4', '5', '6', '7', '8', '9'], '0');
  await using consumer = startConsumer(path, emulator);
  await entriesIn(path, 6);
  expect(bodiesInTrail(path)).toEqual(['0', '1', '6', '7', '8', '9']);
  const told = consumer.progress.map((news) => (news.kind === 'ended' ? news.end.reason : news.kind));
  expect(told.filter((kind) => !['keeping', 'seals', 'anchor'].includes(kind))).toEqual([
    'reading',
    'hole',
    'reading',
    'stored',
  ]);
  expect(consumer.log.lines).toContainEqual(
    expect.objectContaining({ level: 'error', fields: expect.objectContaining({ from: 2, to: 5 }) }),
  );
});

test('what no retry will mend is said at once, without the secret', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const nonsense = { connectionString: 'Endpoint=marker;nothing', eventHubName: 'fleet' };
  await using consumer = startConsumer(path, nonsense);
  const end = await consumer.stop();
  expect(end).toMatchObject({ ok: false, reason: expect.stringContaining('hub.connectionString') });
  expect(JSON.stringify(end)).not.toContain('marker');
  await using emulator = await smallHub();
  await using other = startConsumer(directory.path, emulator);
  expect(await other.stop()).toMatchObject({ ok: false, reason: expect.stringContaining('the trail at') });
});
