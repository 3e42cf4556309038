// Pins the traps of the installed @azure/event-hubs that the consumer is built around: an upgrade cannot move them unseen.
import {
  type Checkpoint,
  type CheckpointStore,
  EventHubConsumerClient,
  type EventPosition,
  type ReceivedEventData,
  type SubscribeOptions,
} from '@azure/event-hubs';
import { expect, test } from 'vitest';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { openSender } from '../support/running-consumer.ts';
import { until } from '../support/until.ts';

const oneHub = () => startEventHubsEmulator({ hubs: [{ name: 'traps', partitions: 1 }] });

interface Reading extends AsyncDisposable {
  readonly client: EventHubConsumerClient;
  /** First bodies of the batches that the handler was called with, idle waits left out. */
  readonly batches: readonly string[];
  readonly errors: readonly Error[];
  readonly closings: readonly string[];
  close(): Promise<void>;
}

/** Reads partition 0 one event at a time, from the beginning unless told otherwise. */
function readOneByOne(
  emulator: EventHubsEmulator,
  onBatch: (events: ReceivedEventData[]) => Promise<void> = async () => undefined,
  options: SubscribeOptions = {},
): Reading {
  const client = new EventHubConsumerClient('$Default', emulator.connectionString, emulator.eventHubName, {
    loadBalancingOptions: { updateIntervalInMs: 100 },
  });
  const batches: string[] = [];
  const errors: Error[] = [];
  const closings: string[] = [];
  const subscription = client.subscribe(
    '0',
    {
      processEvents: async (events) => {
        if (events[0] !== undefined) batches.push(String(events[0].body));
        await onBatch(events);
      },
      processError: async (error) => {
        errors.push(error);
      },
      processClose: async (reason) => {
        closings.push(reason);
      },
    },
    {
      startPosition: { offset: '-1' },
      maxBatchSize: 1,
      maxWaitTimeInSeconds: 1,
      skipParsingBodyAsJson: true,
      ...options,
    },
  );
  const close = () => subscription.close();
  return { client, batches, errors, closings, close, [Symbol.asyncDispose]: () => client.close() };
}

const once = (error: Error) => {
  let left = 1;
  return async (events: ReceivedEventData[]) => {
    if (events.length > 0 && left-- > 0) throw error;
  };
};

test('a handler that throws something retryable never sees that batch again', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  await sender.send(['a', 'b', 'c']);
  await using reading = readOneByOne(emulator, once(Object.assign(new Error('busy'), { retryable: true })));
  await until('the third batch', () => reading.batches.includes('c'));
  expect(reading.batches).toEqual(['a', 'b', 'c']);
  expect(reading.errors).toHaveLength(1);
});

test('a handler that throws anything else stops the pump, and the next one begins at the old start', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  await sender.send(['a', 'b']);
  let calls = 0;
  await using reading = readOneByOne(emulator, async (events) => {
    if (events.length > 0 && ++calls === 2) throw new Error('broken');
  });
  await until('the batch after the restart', () => reading.batches.length >= 4);
  expect(reading.closings).toEqual(['Shutdown']);
  expect(reading.batches.slice(0, 4)).toEqual(['a', 'b', 'a', 'b']);
});

test('closing a subscription does not wait for the handler', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  await sender.send(['a']);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let finished = false;
  await using reading = readOneByOne(emulator, async (events) => {
    if (events.length === 0) return;
    await released;
    finished = true;
  });
  await until('a batch in hand', () => reading.batches.length === 1);
  await reading.close();
  expect(finished).toBe(false);
  release();
  await until('the handler', () => finished);
});

test('without a start position all that was sent before is left out', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  await sender.send(['before']);
  const client = new EventHubConsumerClient('$Default', emulator.connectionString, emulator.eventHubName);
  await using _client = { [Symbol.asyncDispose]: () => client.close() };
  const bodies: unknown[] = [];
  const processEvents = async (events: ReceivedEventData[]) =>
    void bodies.push(...events.map(({ body }) => body));
  client.subscribe('0', { processEvents, processError: async () => undefined }, { maxWaitTimeInSeconds: 1 });
  await until('a reader', () => emulator.counters.readers === 1);
  await sender.send(['after']);
  await until('an event', () => bodies.length > 0);
  expect(bodies.map(String)).toEqual(['after']);
});

test('bodies are parsed and lose their bytes unless the reader says otherwise', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  const bytes = Buffer.from('{ "a" : 1.0 }');
  await sender.send([bytes]);
  const bodies: unknown[] = [];
  const keep = async (events: ReceivedEventData[]) => void bodies.push(...events.map(({ body }) => body));
  await using _raw = readOneByOne(emulator, keep);
  await until('the raw body', () => bodies.length === 1);
  await using _parsed = readOneByOne(emulator, keep, { skipParsingBodyAsJson: false });
  await until('the parsed body', () => bodies.length === 2);
  expect(bodies).toEqual([bytes, { a: 1 }]);
});

test('a reader that waits long is not woken when the connection drops, one that waits shortly goes on', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  await using patient = readOneByOne(emulator, undefined, { maxWaitTimeInSeconds: 60 });
  await using brisk = readOneByOne(emulator);
  await until('two readers', () => emulator.counters.readers === 2);
  emulator.dropConnections();
  await sender.send(['a']);
  await until('the event', () => brisk.batches.length > 0);
  expect(brisk.batches).toEqual(['a']);
  expect(patient.batches).toEqual([]);
  expect([...brisk.errors, ...patient.errors]).toEqual([]);
});

test('each idle wait allows more events ahead, beyond the prefetch count', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  let waits = 0;
  const never = new Promise<void>(() => undefined);
  await using _reading = readOneByOne(
    emulator,
    async (events) => {
      waits += 1;
      if (events.length > 0) await never;
    },
    { prefetchCount: 2, maxWaitTimeInSeconds: 0.05 },
  );
  await until('idle waits', () => waits >= 10);
  await sender.send(Array.from({ length: 12 }, (_, at) => String(at)));
  await until('events ahead', () => emulator.counters.eventsDelivered === 12);
});

test('a management request that nobody answers is not told when the connection drops', async () => {
  await using emulator = await oneHub();
  emulator.faults.add({ name: 'management-silent' });
  await using reading = readOneByOne(emulator);
  const limit = AbortSignal.timeout(60_000);
  let settled = false;
  const asked = reading.client.getEventHubProperties({ abortSignal: limit }).finally(() => {
    settled = true;
  });
  asked.catch(() => undefined);
  await until('the request', () => emulator.faults.struck.get('management-silent') === 1);
  emulator.dropConnections();
  await using other = readOneByOne(emulator);
  expect((await other.client.getEventHubProperties()).partitionIds).toEqual(['0']);
  expect(settled).toBe(false);
});

test('a pump whose connection is closed under it calls the handler without a pause, until the handler throws', async () => {
  await using emulator = await oneHub();
  let calls = 0;
  await using reading = readOneByOne(emulator, async () => {
    calls += 1;
    if (calls > 1_000) throw new Error('enough');
  });
  await until('it waits for events', () => calls > 0);
  // What a close does that comes between two pumps; no public call does it at will.
  const { _context: context } = reading.client as unknown as { _context: { close(): Promise<void> } };
  await context.close();
  await until('the pump ended', () => reading.closings.length > 0);
  // At a wait of a second each, a thousand calls would take a quarter of an hour.
  expect(calls).toBeGreaterThan(1_000);
  // The throw ended that pump. The SDK begins another one soon, whose first call ends it again.
  expect(calls).toBeLessThan(1_010);
  expect(new Set(reading.errors.map(({ message }) => message))).toEqual(new Set(['enough']));
});

/** Ownership that is always granted, and checkpoints as a blob would have them. */
function grantingStore(checkpoints: Checkpoint[] = []): CheckpointStore & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    listOwnership: async () => [],
    claimOwnership: async (requests) => {
      asked.push(...requests.map(({ partitionId, ownerId }) => `claim ${partitionId} ${ownerId}`));
      return requests;
    },
    listCheckpoints: async () => {
      asked.push('checkpoints');
      return checkpoints;
    },
    updateCheckpoint: async () => undefined,
  };
}

function shareAll(emulator: EventHubsEmulator, store: CheckpointStore, options: SubscribeOptions = {}) {
  const place = ['$Default', emulator.connectionString, emulator.eventHubName] as const;
  const client = new EventHubConsumerClient(...place, store, {
    identifier: 'me',
    loadBalancingOptions: { strategy: 'greedy', updateIntervalInMs: 100 },
  });
  const bodies: string[] = [];
  const subscription = client.subscribe(
    {
      processEvents: async (events) => void bodies.push(...events.map(({ body }) => String(body))),
      processError: async () => undefined,
    },
    { maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true, ...options },
  );
  const close = () => subscription.close();
  return { bodies, close, [Symbol.asyncDispose]: () => client.close() };
}

test('whoever shares is asked for a position after each claim, and a map that changed meanwhile counts', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  await sender.send(['a', 'b', 'c']);
  const startPosition: Record<string, EventPosition> = { 0: { offset: '-1' } };
  const store = grantingStore();
  const { claimOwnership } = store;
  store.claimOwnership = async (requests) => {
    startPosition['0'] = { sequenceNumber: 1, isInclusive: false };
    return claimOwnership(requests);
  };
  await using reading = shareAll(emulator, store, { startPosition });
  await until('an event', () => reading.bodies.length > 0);
  expect(reading.bodies).toEqual(['c']);
  expect(store.asked.slice(0, 2)).toEqual(['claim 0 me', 'checkpoints']);
});

test('of a checkpoint nothing but its offset counts, and before any start position', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  await sender.send(['a', 'b', 'c']);
  const offset = String(emulator.events()[0]?.offset);
  const named = { fullyQualifiedNamespace: 'ns', eventHubName: 'traps', consumerGroup: '$Default' };
  // A position by its number alone would begin behind the end.
  const store = grantingStore([{ ...named, partitionId: '0', offset, sequenceNumber: 2 }]);
  await using reading = shareAll(emulator, store, { startPosition: { 0: { offset: '-1' } } });
  await until('an event', () => reading.bodies.length > 0);
  expect(reading.bodies).toEqual(['b', 'c']);
});

test('an empty map of positions is refused', async () => {
  await using emulator = await oneHub();
  expect(() => shareAll(emulator, grantingStore(), { startPosition: {} })).toThrow(TypeError);
});

test('a close releases what the store lists as owned, with an empty name', async () => {
  await using emulator = await oneHub();
  const store = grantingStore();
  const named = { fullyQualifiedNamespace: 'ns', eventHubName: 'traps', consumerGroup: '$Default' };
  const owned = { ...named, partitionId: '0', ownerId: 'me', lastModifiedTimeInMs: Date.now(), etag: '1' };
  await using reading = shareAll(emulator, store, { startPosition: { offset: '-1' } });
  await until('a reader', () => emulator.counters.readers === 1);
  store.listOwnership = async () => [owned];
  await reading.close();
  expect(store.asked.at(-1)).toBe('claim 0 ');
});

test('the age of an ownership is told by the clock of this machine', async () => {
  await using emulator = await oneHub();
  const store = grantingStore();
  const named = { fullyQualifiedNamespace: 'ns', eventHubName: 'traps', consumerGroup: '$Default' };
  const minute = 60_000;
  const owned = (at: number) => ({ ...named, partitionId: '0', ownerId: 'other', lastModifiedTimeInMs: at });
  let lists = 0;
  store.listOwnership = async () => {
    lists += 1;
    return [owned(Date.now())];
  };
  await using _reading = shareAll(emulator, store, { startPosition: { offset: '-1' } });
  await until('rounds', () => lists > 2);
  expect(store.asked).toEqual([]);
  // As on a machine whose clock is a minute ahead of the storage account's: a living owner looks dead.
  store.listOwnership = async () => [owned(Date.now() - minute)];
  await until('a theft', () => store.asked.length > 0);
});

test('a reader that is robbed while its handler runs is not told, and takes the partition back', async () => {
  await using emulator = await oneHub();
  await using sender = openSender(emulator);
  await sender.send(['a']);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = true;
  await using robbed = readOneByOne(
    emulator,
    async (events) => {
      if (events.length > 0 && held) await released;
    },
    { ownerLevel: 1 },
  );
  await until('a batch in hand', () => robbed.batches.length === 1);
  await using thief = readOneByOne(emulator, undefined, { ownerLevel: 1 });
  await until('the robbery', () => thief.batches.length === 1);
  held = false;
  release();
  await until('the way back', () => thief.closings.length > 0);
  expect(thief.closings).toEqual(['OwnershipLost']);
  expect(robbed.errors).toEqual([]);
});
