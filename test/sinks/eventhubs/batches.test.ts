// A backlog on its way to a hub: few messages, order kept, and what becomes of a batch that fails in the middle.
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/delivery.ts';
import {
  type EventHubsEmulatorOptions,
  startEventHubsEmulator,
} from '../../../src/emulators/eventhubs/emulator.ts';
import type { FaultName } from '../../../src/emulators/eventhubs/faults.ts';
import type { OutgoingRecord } from '../../../src/sinks/sink.ts';
import { watchClientSockets } from '../../support/client-sockets.ts';
import { outgoing, sampleAgentRecord, sampleLife, sampleRecord } from '../../support/records.ts';
import { openFromSettings, patience } from '../sink-contract.ts';

const delivered: Outcome = { status: 'delivered' };
const all = (count: number, outcome: Outcome) => Array<Outcome>(count).fill(outcome);

/** An emulator, and a sink that sends to it. */
async function openPair(options: EventHubsEmulatorOptions = {}, more: object = {}) {
  const hub = await startEventHubsEmulator({ hubs: [{ name: 'hub', partitions: 4 }], ...options });
  const { connectionString, eventHubName } = hub;
  const { sink } = openFromSettings({ type: 'eventhubs', connectionString, eventHubName, ...more });
  return {
    hub,
    sink,
    sendMany: async (batch: readonly OutgoingRecord[]) => (await sink.sendMany?.(batch, patience())) ?? [],
    /** The ids of what the hub keeps, partition by partition. */
    stored: () => hub.events().map(({ messageId }) => messageId),
    [Symbol.asyncDispose]: async () => {
      await sink[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
}

/** Records that all go to one partition. */
const heartbeats = (count: number): OutgoingRecord[] =>
  Array.from({ length: count }, (_, index) => outgoing(sampleAgentRecord(index + 1)));

const bodyOf = ({ bytes }: OutgoingRecord): string => bytes.toString();

describe('a backlog', () => {
  it('of one partition takes one message, in order and to the byte', async () => {
    await using pair = await openPair();
    const records = heartbeats(200);
    expect(await pair.sendMany(records)).toEqual(all(200, delivered));
    expect(pair.hub.events().map(({ body }) => body.toString())).toEqual(records.map(bodyOf));
    expect(pair.hub.counters.transfers).toBe(1);
  });

  it('of several events takes a message for each run of records with one partition key', async () => {
    await using pair = await openPair();
    const lives = [sampleLife(), sampleLife(), sampleLife()];
    const records = [...lives.flat().map(outgoing), ...heartbeats(5)];
    expect(await pair.sendMany(records)).toEqual(all(14, delivered));
    expect(pair.hub.counters.transfers).toBe(4);
    for (const life of lives) {
      const events = pair.hub.events().filter(({ partitionKey }) => partitionKey === life[0]?.partitionkey);
      expect(events.map(({ messageId }) => messageId)).toEqual(life.map(({ id }) => id));
      expect(new Set(events.map(({ partition }) => partition)).size).toBe(1);
    }
  });

  it('larger than the hub takes at once goes in as many messages as it needs', async () => {
    await using pair = await openPair({ messageBytesMax: 20_000 });
    const records = heartbeats(60);
    expect(await pair.sendMany(records)).toEqual(all(60, delivered));
    expect(pair.hub.events().map(({ body }) => body.toString())).toEqual(records.map(bodyOf));
    const { transfers } = pair.hub.counters;
    expect(transfers).toBeGreaterThan(1);
    expect(transfers).toBeLessThan(10);
  });

  it('is not held up by a record that is larger than the hub takes', async () => {
    await using pair = await openPair({ messageBytesMax: 20_000 });
    const large = outgoing(sampleRecord({ description: 'x'.repeat(30_000) }));
    const [first, second, third] = heartbeats(3);
    if (!first || !second || !third) throw new Error('three records');
    const tooLarge: Outcome = { status: 'rejected', reason: 'too-large' };
    expect(await pair.sendMany([first, large, second, third])).toEqual([
      delivered,
      tooLarge,
      delivered,
      delivered,
    ]);
    expect(pair.stored()).toEqual([first, second, third].map(({ record }) => record.id));
  });
});

describe('a batch that fails', () => {
  it('fails as a whole, while what went before it is delivered and what follows is not tried', async () => {
    await using pair = await openPair();
    const [first, second, third] = [sampleLife(), sampleLife(), sampleLife()].map((life) =>
      life.map(outgoing),
    );
    if (!first || !second || !third) throw new Error('three lives');
    await pair.sendMany(first);
    pair.hub.faults.add({ name: 'slow', delayMs: 1 });
    pair.hub.faults.add({ name: 'server-busy' });
    const busy: Outcome = { status: 'retryable', reason: 'throttled', retryAfterMs: 10_000 };
    const outcomes = await pair.sendMany([...first, ...second, ...third]);
    expect(outcomes).toEqual([...all(3, delivered), ...all(3, busy)]);
    expect(pair.hub.events()).toHaveLength(6);
  });

  it('because of one record in it is sent record by record', async () => {
    await using pair = await openPair();
    const records = heartbeats(3);
    pair.hub.faults.add({ name: 'too-large' });
    pair.hub.faults.add({ name: 'slow', delayMs: 1 });
    pair.hub.faults.add({ name: 'too-large' });
    const tooLarge: Outcome = { status: 'rejected', reason: 'too-large' };
    expect(await pair.sendMany(records)).toEqual([delivered, tooLarge, delivered]);
    expect(pair.hub.counters.transfers).toBe(4);
  });

  it('ends in time, and tells how far it came', async () => {
    await using pair = await openPair({}, { timeout: '1s' });
    const lives = [sampleLife(), sampleLife()].map((life) => life.map(outgoing));
    pair.hub.faults.add({ name: 'slow', delayMs: 1 });
    pair.hub.faults.add({ name: 'lost-ack' });
    const late: Outcome = { status: 'retryable', reason: 'timeout' };
    expect(await pair.sendMany(lives.flat())).toEqual([...all(3, delivered), ...all(3, late)]);
  });

  it('is joined when it goes on after its caller has left, instead of being sent again', async () => {
    await using pair = await openPair();
    const records = heartbeats(3);
    pair.hub.faults.add({ name: 'slow', delayMs: 600 });
    const hurried = await pair.sink.sendMany?.(records, AbortSignal.timeout(300));
    expect(hurried).toEqual([{ status: 'retryable', reason: 'aborted' }]);
    expect([await pair.sendMany(records), pair.hub.events().length]).toEqual([all(3, delivered), 3]);
    expect(pair.hub.counters.transfers).toBe(1);
  });
});

describe('a drain through faults', () => {
  const faults: readonly FaultName[] = [
    'drop-before-store',
    'detach',
    'drop-after-store',
    'idle-close',
    'server-busy',
  ];

  it('delivers everything in order, over one connection at a time', async () => {
    await using pair = await openPair({}, { timeout: '1s' });
    using sockets = watchClientSockets(pair.hub.port);
    const lives = Array.from({ length: 7 }, () => sampleLife());
    let left = lives.flat().map(outgoing);
    for (const name of [...faults, null]) {
      // The first message gets through, the second meets the fault.
      pair.hub.faults.add({ name: 'slow', delayMs: 1 });
      if (name !== null) pair.hub.faults.add({ name });
      const outcomes = await pair.sendMany(left);
      left = left.slice(outcomes.filter(({ status }) => status === 'delivered').length);
      pair.hub.faults.clear();
    }
    expect(left).toEqual([]);
    for (const life of lives) {
      // What was stored before its answer was lost is there twice, under one id.
      const stored = pair.hub.events().filter(({ partitionKey }) => partitionKey === life[0]?.partitionkey);
      expect([...new Set(stored.map(({ messageId }) => messageId))]).toEqual(life.map(({ id }) => id));
    }
    expect([sockets.opened > 1, sockets.openMax]).toEqual([true, 1]);
  });
});
