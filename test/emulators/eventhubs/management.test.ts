// What the emulator says of hubs and partitions.
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { producerFor } from '../../support/hub-clients.ts';

it('describes a hub', async () => {
  const before = Date.now();
  await using emulator = await startEventHubsEmulator({
    hubs: [
      { name: 'first', partitions: 3 },
      { name: 'second', partitions: 1 },
    ],
  });
  await using producer = producerFor(emulator);
  const { createdOn, ...rest } = await producer.client.getEventHubProperties();
  expect(rest).toEqual({ name: 'first', partitionIds: ['0', '1', '2'], isGeoDrEnabled: false });
  expect(createdOn.getTime()).toBeGreaterThanOrEqual(before);
  expect(createdOn.getTime()).toBeLessThanOrEqual(Date.now());
  await using other = producerFor({ ...emulator, eventHubName: 'SECOND' });
  expect(await other.client.getPartitionIds()).toEqual(['0']);
});

it('describes a partition, empty and not', async () => {
  await using emulator = await startEventHubsEmulator({ hubs: [{ name: 'hub', partitions: 2 }] });
  await using producer = producerFor(emulator);
  expect(await producer.client.getPartitionProperties('1')).toMatchObject({
    eventHubName: 'hub',
    partitionId: '1',
    isEmpty: true,
    beginningSequenceNumber: -1,
    lastEnqueuedSequenceNumber: -1,
    lastEnqueuedOffset: '-1',
  });
  await producer.client.sendBatch([{ body: 1 }, { body: 2 }], { partitionId: '1' });
  const last = emulator.events()[1];
  expect(await producer.client.getPartitionProperties('1')).toMatchObject({
    isEmpty: false,
    beginningSequenceNumber: 0,
    lastEnqueuedSequenceNumber: 1,
    lastEnqueuedOffset: last?.offset,
    lastEnqueuedOnUtc: new Date(last?.enqueuedAt ?? 0),
  });
  expect(await producer.client.getPartitionProperties('0')).toMatchObject({ isEmpty: true });
});

it('refuses to describe a partition that is not there', async () => {
  await using emulator = await startEventHubsEmulator();
  await using producer = producerFor(emulator);
  await expect(producer.client.getPartitionProperties('9')).rejects.toMatchObject({
    code: 'ArgumentOutOfRangeError',
  });
});

it('refuses hubs that cannot be', async () => {
  await expect(startEventHubsEmulator({ hubs: [{ name: 'a/b' }] })).rejects.toThrow(
    '"a/b" cannot be the name',
  );
  await expect(startEventHubsEmulator({ hubs: [{ name: 'hub', partitions: 0 }] })).rejects.toThrow('not 0');
});
