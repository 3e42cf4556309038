// Who may read a partition: owner levels and the quota of readers without one.
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { producerFor, type Reception, startReception } from '../../support/hub-clients.ts';
import { until } from '../../support/until.ts';

const oneHub = { hubs: [{ name: 'hub', partitions: 2, consumerGroups: ['other'] }] };

const errorOf = (reception: Reception, what: string) => until(what, () => reception.errors[0]);

it('takes a partition from its reader for one of a higher or the same owner level', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using first = startReception(emulator, { partition: '0', ownerLevel: 1 });
  await until('the first reads', () => emulator.counters.readers === 1);
  await using second = startReception(emulator, { partition: '0', ownerLevel: 2 });
  const stolen = { code: 'ReceiverDisconnectedError', retryable: false };
  expect(await errorOf(first, 'the first loses')).toMatchObject(stolen);
  await using third = startReception(emulator, { partition: '0', ownerLevel: 2 });
  expect(await errorOf(second, 'the second loses')).toMatchObject(stolen);
  await using producer = producerFor(emulator);
  await producer.client.sendBatch([{ body: 1 }], { partitionId: '0' });
  await until('the third reads', () => third.events.length === 1);
  expect(emulator.counters.readers).toBe(1);
  expect([first.events, second.events]).toEqual([[], []]);
});

it('refuses a lower owner level, and readers without one, where one reads', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using owner = startReception(emulator, { partition: '0', ownerLevel: 5 });
  await until('the owner reads', () => emulator.counters.readers === 1);
  await using lower = startReception(emulator, { partition: '0', ownerLevel: 4 });
  await using none = startReception(emulator, { partition: '0' });
  for (const reception of [lower, none])
    expect(await errorOf(reception, 'a refusal')).toMatchObject({ code: 'ReceiverDisconnectedError' });
  await using elsewhere = startReception(emulator, { partition: '1' });
  await using otherGroup = startReception(emulator, { partition: '0', group: 'other' });
  await until('others read elsewhere', () => emulator.counters.readers === 3);
  expect([...owner.errors, ...elsewhere.errors, ...otherGroup.errors]).toEqual([]);
});

it('disconnects readers without owner level when one with an owner level comes', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using shared = startReception(emulator, { partition: '0' });
  await until('it reads', () => emulator.counters.readers === 1);
  await using _owner = startReception(emulator, { partition: '0', ownerLevel: 1 });
  expect(await errorOf(shared, 'it loses')).toMatchObject({ code: 'ReceiverDisconnectedError' });
});

it('lets five readers share a partition, refuses the sixth, and takes it when one has left', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using owned = new AsyncDisposableStack();
  const first = startReception(emulator, { partition: '0' });
  for (let index = 0; index < 4; index++) owned.use(startReception(emulator, { partition: '0' }));
  await until('five read', () => emulator.counters.readers === 5);
  const sixth = owned.use(startReception(emulator, { partition: '0' }));
  expect(await errorOf(sixth, 'the refusal')).toMatchObject({ code: 'QuotaExceededError', retryable: false });
  await first[Symbol.asyncDispose]();
  await until('four read', () => emulator.counters.readers === 4);
  owned.use(startReception(emulator, { partition: '0' }));
  await until('five read again', () => emulator.counters.readers === 5);
});

it('forgets readers whose connections died, so that they may come back', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using owned = new AsyncDisposableStack();
  const five = Array.from({ length: 5 }, () => owned.use(startReception(emulator, { partition: '0' })));
  await until('five read', () => emulator.counters.readers === 5);
  emulator.dropConnections();
  await until('none reads', () => emulator.counters.readers === 0);
  await until('five read again', () => emulator.counters.readers === 5);
  expect(five.flatMap(({ errors }) => errors)).toEqual([]);
});

it('forgets connections that were closed', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  {
    await using _reader = startReception(emulator, { partition: '0' });
    await until('it reads', () => emulator.counters.readers === 1);
    expect(emulator.connections).toBe(1);
  }
  await until('it is gone', () => emulator.connections === 0);
  expect(emulator.counters.readers).toBe(0);
});
