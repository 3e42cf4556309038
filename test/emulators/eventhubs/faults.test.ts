// Faults on request, and what the real SDK makes of them.
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { readFaultSpec } from '../../../src/emulators/eventhubs/fault-spec.ts';
import type { FaultName } from '../../../src/emulators/eventhubs/faults.ts';
import { producerFor, startReception } from '../../support/hub-clients.ts';
import { until } from '../../support/until.ts';

/** The SDK does not hear of a dead connection while it sends: it waits for the end of its attempt. */
const impatient = { timeoutInMs: 1_000, retryDelayInMs: 50, maxRetries: 3 };
const oneHub = { hubs: [{ name: 'hub', partitions: 1 }] };

it.concurrent.each<[FaultName, number]>([
  ['drop-before-store', 1],
  ['drop-after-store', 2],
  ['lost-ack', 2],
  ['detach', 1],
  ['server-busy', 1],
  ['internal-error', 1],
  ['idle-close', 1],
])('%s: the event arrives after a second attempt, %i times', async (name, copies) => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using producer = producerFor(emulator, impatient);
  // Opens the link, so that the attempt is spent on sending.
  await producer.client.sendBatch([{ body: 'first' }]);
  emulator.faults.add({ name });
  await producer.client.sendBatch([{ body: 'second' }]);
  const bodies = emulator.events().map(({ body }) => String(body));
  expect(bodies).toEqual(['"first"', ...Array.from({ length: copies }, () => '"second"')]);
  expect(emulator.faults.struck).toEqual(new Map([[name, 1]]));
  expect(emulator.faults.waiting).toEqual([]);
});

it.concurrent('too-large: the events are refused for good, and not stored', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using producer = producerFor(emulator);
  emulator.faults.add({ name: 'too-large' });
  const sent = producer.client.sendBatch([{ body: 1 }, { body: 2 }]);
  await expect(sent).rejects.toMatchObject({ code: 'MessageTooLargeError', retryable: false });
  expect(emulator.events()).toEqual([]);
});

it.concurrent('slow: the event is there late', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using producer = producerFor(emulator);
  await producer.client.sendBatch([{ body: 1 }]);
  emulator.faults.add({ name: 'slow', delayMs: 300 });
  const sent = producer.client.sendBatch([{ body: 2 }]);
  await until('the fault strikes', () => emulator.faults.struck.get('slow') === 1);
  expect(emulator.events()).toHaveLength(1);
  await sent;
  expect(emulator.events()).toHaveLength(2);
});

it.concurrent.each<FaultName>(['drop-on-receive', 'detach-on-receive', 'slow-receive'])(
  '%s: the reader gets every event once all the same',
  async (name) => {
    await using emulator = await startEventHubsEmulator(oneHub);
    await using producer = producerFor(emulator);
    await producer.client.sendBatch([{ body: 1 }, { body: 2 }]);
    emulator.faults.add({ name, delayMs: 100 });
    await using reception = startReception(emulator);
    await until('both', () => reception.events.length >= 2);
    expect(reception.events.map(({ body }) => body as unknown)).toEqual([1, 2]);
    expect(emulator.faults.struck.get(name)).toBe(1);
  },
);

it.concurrent.each<FaultName>(['management-silent', 'drop-on-management'])(
  '%s: a question is answered at the second attempt',
  async (name) => {
    await using emulator = await startEventHubsEmulator(oneHub);
    await using producer = producerFor(emulator, impatient);
    emulator.faults.add({ name });
    expect(await producer.client.getPartitionIds()).toEqual(['0']);
    expect(emulator.faults.struck.get(name)).toBe(1);
  },
);

it.concurrent('unauthorized: the SDK tries again', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using producer = producerFor(emulator, impatient);
  emulator.faults.add({ name: 'unauthorized' });
  await producer.client.sendBatch([{ body: 1 }]);
  expect(emulator.faults.struck.get('unauthorized')).toBe(1);
  expect(emulator.events()).toHaveLength(1);
});

it.concurrent('refuse-connection: the SDK gives up at once, and the next call connects', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using producer = producerFor(emulator, impatient);
  emulator.faults.add({ name: 'refuse-connection' });
  await expect(producer.client.sendBatch([{ body: 1 }])).rejects.toThrow('Failed to connect');
  await producer.client.sendBatch([{ body: 2 }]);
  expect(emulator.events().map(({ body }) => String(body))).toEqual(['2']);
});

it.concurrent('strikes only where it was asked to, as often as it was asked to', async () => {
  await using emulator = await startEventHubsEmulator({
    hubs: [{ name: 'hub', partitions: 2 }, { name: 'other' }],
  });
  await using producer = producerFor(emulator, { maxRetries: 0 });
  await using other = producerFor({ ...emulator, eventHubName: 'other' }, { maxRetries: 0 });
  emulator.faults.add({ name: 'server-busy', hub: 'HUB', partition: '1', times: 2 });
  const outcomes: unknown[] = [];
  const send = async (client: typeof producer.client, partitionId: string) => {
    const sent = client.sendBatch([{ body: 1 }], { partitionId });
    outcomes.push(
      await sent.then(
        () => 'sent',
        (error: unknown) => (error as { code?: string }).code,
      ),
    );
  };
  for (const partition of ['0', '1', '1', '1']) await send(producer.client, partition);
  emulator.faults.add({ name: 'server-busy', hub: 'hub', times: Number.POSITIVE_INFINITY });
  await send(other.client, '1');
  await send(producer.client, '0');
  emulator.faults.clear();
  await send(producer.client, '0');
  const busy = 'ServerBusyError';
  expect(outcomes).toEqual(['sent', busy, busy, 'sent', 'sent', busy, 'sent']);
});

it.concurrent('strikes at random when a fault has a probability', async () => {
  const numbers = [0.9, 0.05, 0.5];
  const random = () => numbers.shift() ?? 1;
  await using emulator = await startEventHubsEmulator({ ...oneHub, random });
  await using producer = producerFor(emulator);
  emulator.faults.add({ name: 'server-busy', probability: 0.1, times: 99 });
  for (let body = 0; body < 3; body++) await producer.client.sendBatch([{ body }]);
  expect(emulator.faults.struck.get('server-busy')).toBe(1);
  expect(emulator.faults.waiting).toMatchObject([{ name: 'server-busy', times: 98 }]);
});

it.concurrent('recovers by itself after connections were dropped while nothing was on its way', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await using producer = producerFor(emulator);
  await producer.client.sendBatch([{ body: 1 }]);
  emulator.dropConnections();
  await until('the connection is gone', () => emulator.connections === 0);
  await producer.client.sendBatch([{ body: 2 }]);
  expect(emulator.events()).toHaveLength(2);
  expect(emulator.counters.connectionsAccepted).toBe(2);
});

it.concurrent('reads faults as they stand on a command line', () => {
  expect(readFaultSpec('slow,delay=2s,times=always,probability=0.1,hub=h,partition=3,after=1m')).toEqual({
    fault: {
      name: 'slow',
      delayMs: 2_000,
      times: Number.POSITIVE_INFINITY,
      probability: 0.1,
      hub: 'h',
      partition: '3',
    },
    afterMs: 60_000,
  });
  expect(readFaultSpec('detach')).toMatchObject({ fault: { name: 'detach', times: 1 }, afterMs: 0 });
});

it.concurrent.each([
  ['explode', 'Expected one of drop-before-store'],
  ['slow,delay=2', 'span of time'],
  ['slow,times=0', 'times'],
  ['slow,probability=2', 'probability'],
  ['slow,colour=red', 'there is no key colour'],
])('says what is wrong with the fault "%s"', (spec, problem) => {
  expect(readFaultSpec(spec)).toMatchObject({ problem: expect.stringContaining(problem) });
});
