// Receiving with the real SDK: where readers start, and what they are told.
import { latestEventPosition } from '@azure/event-hubs';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import {
  bodiesFrom,
  consumerFor,
  producerFor,
  sendNumbers,
  startReception,
} from '../../support/hub-clients.ts';
import { until } from '../../support/until.ts';

const oneHub = { hubs: [{ name: 'hub', partitions: 1, consumerGroups: ['other'] }] };

/** Five events, 0 to 4, enqueued a second apart by the emulator's clock. */
async function withFiveEvents() {
  let now = 1_700_000_000_000;
  const emulator = await startEventHubsEmulator({ ...oneHub, clock: { ...systemClock, now: () => now } });
  // Tokens live by the emulator's clock too, which is behind: none of them has expired.
  await using producer = producerFor(emulator);
  for (let body = 0; body < 5; body++) {
    now += 1_000;
    await producer.client.sendBatch([{ body }]);
  }
  return emulator;
}

const eventAt = (emulator: EventHubsEmulator, index: number) => {
  const event = emulator.events()[index];
  if (event === undefined) throw new Error(`no event ${index}`);
  return event;
};

it('starts readers at offsets, sequence numbers and times, inclusive or not, and at the earliest event', async () => {
  await using emulator = await withFiveEvents();
  const { offset, sequenceNumber, enqueuedAt } = eventAt(emulator, 2);
  const positions = await Promise.all([
    bodiesFrom(emulator, '0', { offset }, 2),
    bodiesFrom(emulator, '0', { offset, isInclusive: true }, 3),
    bodiesFrom(emulator, '0', { sequenceNumber }, 2),
    bodiesFrom(emulator, '0', { sequenceNumber, isInclusive: true }, 3),
    bodiesFrom(emulator, '0', { enqueuedOn: enqueuedAt }, 2),
  ]);
  expect(positions).toEqual([
    [3, 4],
    [2, 3, 4],
    [3, 4],
    [2, 3, 4],
    [3, 4],
  ]);
  const others = await Promise.all([
    bodiesFrom(emulator, '0', { enqueuedOn: enqueuedAt - 1 }, 3),
    bodiesFrom(emulator, '0', { enqueuedOn: new Date(0) }, 5),
    bodiesFrom(emulator, '0', { offset: '-1' }, 5),
    bodiesFrom(emulator, '0', { offset: '@latest', isInclusive: true }, 1),
  ]);
  expect(others).toEqual([[2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [4]]);
});

it('gives readers that start at the latest position only what comes then', async () => {
  await using emulator = await withFiveEvents();
  await using reception = startReception(emulator, { partition: '0', startPosition: latestEventPosition });
  await until('the reader is there', () => emulator.counters.readers === 1);
  await using producer = producerFor(emulator);
  await producer.client.sendBatch([{ body: 'new' }]);
  await until('the new event', () => reception.events.length > 0);
  expect(reception.events.map(({ body }) => body as unknown)).toEqual(['new']);
});

it('refuses positions beyond the end, as after a hub was made anew', async () => {
  await using emulator = await withFiveEvents();
  for (const startPosition of [{ sequenceNumber: 17 }, { offset: '999999' }]) {
    await using reception = startReception(emulator, { partition: '0', startPosition });
    const error = await until('the refusal', () => reception.errors[0]);
    expect(error).toMatchObject({ code: 'ArgumentError', retryable: false });
  }
  expect(await bodiesFrom(emulator, '0', { sequenceNumber: 3 }, 1)).toEqual([4]);
});

it('lets every consumer group read everything, whatever the case of its name, and no group that is not there', async () => {
  await using emulator = await withFiveEvents();
  await using first = startReception(emulator, { partition: '0' });
  await using second = startReception(emulator, { partition: '0', group: 'OTHER' });
  await until('both got all', () => first.events.length === 5 && second.events.length === 5);
  await using third = startReception(emulator, { partition: '0', group: 'missing' });
  const error = await until('the refusal', () => third.errors[0]);
  expect(error).toMatchObject({ code: 'MessagingEntityNotFoundError' });
});

it('delivers many more events than a session buffer holds, each once and in order', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await sendNumbers(emulator, 8_000);
  await using reception = startReception(emulator, {
    partition: '0',
    maxBatchSize: 3_000,
    prefetchCount: 9_000,
  });
  await until('all of them', () => reception.events.length >= 8_000);
  expect(reception.events.map(({ sequenceNumber }) => sequenceNumber)).toEqual(
    Array.from({ length: 8_000 }, (_, index) => index),
  );
  expect(reception.errors).toEqual([]);
});

it('tells readers that ask for it where the end of the partition is', async () => {
  await using emulator = await withFiveEvents();
  const last = eventAt(emulator, 4);
  await using consumer = consumerFor(emulator);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const subscription = consumer.client.subscribe(
    '0',
    {
      processEvents: async (events, context) => {
        if (events.length > 0) resolve(context.lastEnqueuedEventProperties);
      },
      processError: async () => undefined,
    },
    { startPosition: { sequenceNumber: 1 }, trackLastEnqueuedEventProperties: true },
  );
  expect(await promise).toMatchObject({
    sequenceNumber: 4,
    offset: last.offset,
    enqueuedOn: new Date(last.enqueuedAt),
  });
  await subscription.close();
});

it('lets go of the oldest events beyond retention and starts readers behind them at the first that is kept', async () => {
  await using emulator = await startEventHubsEmulator({ ...oneHub, retentionEventsMax: 3 });
  await using producer = producerFor(emulator);
  for (let body = 0; body < 10; body++) await producer.client.sendBatch([{ body }]);
  expect(emulator.events().map(({ sequenceNumber }) => sequenceNumber)).toEqual([7, 8, 9]);
  expect(await bodiesFrom(emulator, '0', { sequenceNumber: 2 }, 3)).toEqual([7, 8, 9]);
  expect(await bodiesFrom(emulator, '0', { offset: '-1' }, 3)).toEqual([7, 8, 9]);
  expect(await producer.client.getPartitionProperties('0')).toMatchObject({
    beginningSequenceNumber: 7,
    lastEnqueuedSequenceNumber: 9,
  });
});

it('lets go of the oldest events beyond so many bytes, but never of the newest', async () => {
  await using emulator = await startEventHubsEmulator({ ...oneHub, retentionBytesMax: 5_000 });
  await using producer = producerFor(emulator);
  for (let index = 0; index < 4; index++) await producer.client.sendBatch([{ body: Buffer.alloc(2_000) }]);
  expect(emulator.events().map(({ sequenceNumber }) => sequenceNumber)).toEqual([2, 3]);
  await producer.client.sendBatch([{ body: Buffer.alloc(9_000) }]);
  expect(emulator.events().map(({ sequenceNumber }) => sequenceNumber)).toEqual([4]);
});
