// Publishing with the real SDK: what is sent is what is stored, and where.
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { bufferedProducerFor, producerFor, startReception } from '../../support/hub-clients.ts';
import { until } from '../../support/until.ts';

it('keeps a batch with one key together and in order', async () => {
  await using emulator = await startEventHubsEmulator();
  await using producer = producerFor(emulator);
  const batch = await producer.client.createBatch({ partitionKey: 'a key' });
  for (let index = 0; index < 50; index++) batch.tryAdd({ body: index });
  await producer.client.sendBatch(batch);
  await producer.client.sendBatch([{ body: 50 }], { partitionKey: 'a key' });
  const events = emulator.events();
  expect(events.map(({ body }) => Number(body))).toEqual(Array.from({ length: 51 }, (_, index) => index));
  expect(new Set(events.map(({ partition }) => partition)).size).toBe(1);
  expect(events.map(({ sequenceNumber }) => sequenceNumber)).toEqual(events.map((_, index) => index));
  expect(events.every(({ partitionKey }) => partitionKey === 'a key')).toBe(true);
});

it('puts events into the partition that the sender names', async () => {
  await using emulator = await startEventHubsEmulator();
  await using producer = producerFor(emulator);
  for (const partitionId of ['3', '1'])
    await producer.client.sendBatch([{ body: partitionId }], { partitionId });
  expect(emulator.events().map(({ partition, body }) => [partition, String(body)])).toEqual([
    ['1', '"1"'],
    ['3', '"3"'],
  ]);
});

it('spreads batches without key or partition over all partitions, each batch whole', async () => {
  await using emulator = await startEventHubsEmulator();
  await using producer = producerFor(emulator);
  for (let index = 0; index < 8; index++) await producer.client.sendBatch([{ body: index }, { body: index }]);
  const spread = ['0', '1', '2', '3'].map((partition) =>
    emulator.events().filter((event) => event.partition === partition),
  );
  expect(spread.map(({ length }) => length)).toEqual([4, 4, 4, 4]);
  for (const [first, second] of spread) expect(first?.body).toEqual(second?.body);
});

it('gives offsets that grow, are text and are no sequence numbers', async () => {
  await using emulator = await startEventHubsEmulator({ hubs: [{ name: 'hub', partitions: 1 }] });
  await using producer = producerFor(emulator);
  await producer.client.sendBatch([{ body: 'a' }, { body: 'bb' }, { body: 'ccc' }]);
  await using reception = startReception(emulator);
  await until('three events', () => reception.events.length === 3);
  const offsets = reception.events.map(({ offset }) => offset);
  expect(offsets).toEqual(emulator.events().map(({ offset }) => offset));
  expect(offsets.every((offset) => typeof offset === 'string')).toBe(true);
  expect(offsets).toEqual([...offsets].sort((a, b) => Number(a) - Number(b)));
  expect(offsets.some((offset) => ['0', '1', '2'].includes(String(offset)))).toBe(false);
});

it('returns bodies of every kind, properties and identifiers as they were sent', async () => {
  await using emulator = await startEventHubsEmulator({ hubs: [{ name: 'hub', partitions: 1 }] });
  await using producer = producerFor(emulator);
  const properties = { text: 'ä', number: 7, fraction: 1.5, flag: true };
  await producer.client.sendBatch([
    { body: { nested: [1, null] }, properties, messageId: 'id', correlationId: 'other', contentType: 'a/b' },
    { body: Buffer.from('bytes') },
    { body: null },
  ]);
  const annotated = await producer.client.createBatch();
  annotated.tryAdd({ body: 'value', bodyType: 'value' });
  annotated.tryAdd({ body: [[1, 'two']], bodyType: 'sequence' });
  await producer.client.sendBatch(annotated);
  await using reception = startReception(emulator);
  await until('five events', () => reception.events.length === 5);
  const [first, ...others] = reception.events;
  expect(first).toMatchObject({
    body: { nested: [1, null] },
    properties,
    messageId: 'id',
    correlationId: 'other',
    contentType: 'a/b',
  });
  expect(others.map(({ body }) => body as unknown)).toEqual([
    Buffer.from('bytes'),
    null,
    'value',
    [[1, 'two']],
  ]);
  expect(emulator.events()[0]).toMatchObject({
    messageId: 'id',
    correlationId: 'other',
    contentType: 'a/b',
    properties,
  });
  expect(emulator.events().map(({ body }) => String(body))).toEqual([
    '{"nested":[1,null]}',
    'bytes',
    '',
    '"value"',
    '[[1,"two"]]',
  ]);
});

it('takes events from the buffered producer, in the partitions that the SDK works out itself', async () => {
  await using emulator = await startEventHubsEmulator();
  const failures: Error[] = [];
  await using buffered = bufferedProducerFor(emulator, (error) => failures.push(error));
  await using plain = producerFor(emulator);
  const keys = Array.from({ length: 40 }, (_, index) => `key ${index * 7919}`);
  for (const partitionKey of keys) {
    await buffered.client.enqueueEvent({ body: partitionKey }, { partitionKey });
    await plain.client.sendBatch([{ body: partitionKey }], { partitionKey });
  }
  await buffered.client.flush();
  expect(failures).toEqual([]);
  const places = new Map<string, string[]>();
  for (const { body, partition } of emulator.events())
    places.set(String(body), [...(places.get(String(body)) ?? []), partition]);
  expect(places.size).toBe(40);
  for (const [key, [first, second]] of places) expect(second, key).toBe(first);
});

it('tells clients its largest message, takes one of exactly that size and rejects a larger one', async () => {
  await using emulator = await startEventHubsEmulator();
  await using producer = producerFor(emulator);
  const batch = await producer.client.createBatch();
  expect(batch.maxSizeInBytes).toBe(1024 * 1024);
  const overhead = await emptyEventSize(producer.client);
  expect(batch.tryAdd({ body: Buffer.alloc(batch.maxSizeInBytes - overhead) })).toBe(true);
  expect(batch.sizeInBytes).toBe(batch.maxSizeInBytes);
  await producer.client.sendBatch(batch);
  expect(emulator.events()).toHaveLength(1);
  await expect(producer.client.sendBatch([{ body: Buffer.alloc(1024 * 1024) }])).rejects.toMatchObject({
    code: 'MessageTooLargeError',
  });
  expect(emulator.events()).toHaveLength(1);
});

/** Bytes that an event takes beyond its body, when the body needs four bytes for its length. */
async function emptyEventSize(client: ReturnType<typeof producerFor>['client']): Promise<number> {
  const bytes = 100_000;
  const batch = await client.createBatch();
  batch.tryAdd({ body: Buffer.alloc(bytes) });
  return batch.sizeInBytes - bytes;
}

it('refuses a hub and a partition that do not exist', async () => {
  await using emulator = await startEventHubsEmulator();
  await using stranger = producerFor({ connectionString: emulator.connectionString, eventHubName: 'no-hub' });
  await expect(stranger.client.sendBatch([{ body: 1 }])).rejects.toMatchObject({
    code: 'MessagingEntityNotFoundError',
  });
  await expect(stranger.client.getEventHubProperties()).rejects.toMatchObject({
    code: 'MessagingEntityNotFoundError',
  });
  await using producer = producerFor(emulator);
  await expect(producer.client.sendBatch([{ body: 1 }], { partitionId: '4' })).rejects.toMatchObject({
    code: 'ArgumentOutOfRangeError',
  });
  expect(emulator.events()).toEqual([]);
});
