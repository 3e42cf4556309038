// What the sink adds to the bare SDK when a backlog drains to a hub: batches of records for one partition.
import { fileURLToPath } from 'node:url';
import { EventHubProducerClient } from '@azure/event-hubs';
import { messageOf } from '../../src/sinks/eventhubs/message.ts';
import { loadSinkKinds } from '../../src/sinks/index.ts';

const { open: openSink, settings: sinkSettings } = await loadSinkKinds();

import { openPassingMemory } from '../../src/sinks/memory.ts';
import type { OutgoingRecord } from '../../src/sinks/sink.ts';
import { startNode } from '../../test/support/process.ts';
import { outgoing, sampleAgentRecord } from '../../test/support/records.ts';
import { type Bench, quantile } from './result.ts';

interface Contestant extends AsyncDisposable {
  /** Sends all records, which go to one partition, in order. */
  drain(records: readonly OutgoingRecord[]): Promise<void>;
}

const rounds = 6;

/** Publishes to the Event Hubs emulator in a process of its own. */
export const run: Bench = async ({ quick }) => {
  await using emulator = startNode([pathOf('../../src/cli.ts'), 'emulate', 'eventhubs', '--port', '0']);
  await emulator.until('\n');
  const address = JSON.parse(emulator.output().stdout.split('\n')[0] ?? '{}');
  await using ours = openOurs(address);
  await using bare = openBare(address);
  const count = quick ? 1_000 : 10_000;
  const rates = { ours: [] as number[], bare: [] as number[] };
  // Both in turns, because a machine is never twice the same; the first round of each only warms up.
  for (let round = 0; round < rounds; round += 1) {
    const [own, other] = [await rateOf(ours, count), await rateOf(bare, count)];
    if (round === 0) continue;
    rates.ours.push(own);
    rates.bare.push(other);
  }
  const baseline = { name: 'batches of the SDK alone', value: quantile(rates.bare, 0.5) };
  const value = quantile(rates.ours, 0.5);
  return [{ name: 'a backlog to a hub, in batches', value, unit: 'records/s', baseline }];
};

interface HubAddress {
  readonly connectionString: string;
  readonly eventHubName: string;
}

function openOurs({ connectionString, eventHubName }: HubAddress): Contestant {
  const context = { imdsEndpoint: 'http://127.0.0.1:9', version: 'bench', memory: openPassingMemory() };
  const settings = sinkSettings.parse({ type: 'eventhubs', connectionString, eventHubName });
  const { sink } = openSink('bench', settings, context);
  const { signal } = new AbortController();
  const size = sink.batchMax?.records ?? 1;
  return {
    drain: async (records) => {
      for (let start = 0; start < records.length; start += size) {
        const batch = records.slice(start, start + size);
        const outcomes = (await sink.sendMany?.(batch, signal)) ?? [];
        const taken = outcomes.filter(({ status }) => status === 'delivered').length;
        if (taken !== batch.length) throw new Error(`the hub took ${taken} of ${batch.length} records`);
      }
    },
    [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
  };
}

/** Batches as the SDK's own example makes them: full ones, of up to 1 MiB. */
function openBare({ connectionString, eventHubName }: HubAddress): Contestant {
  const client = new EventHubProducerClient(connectionString, eventHubName);
  return {
    drain: async (records) => {
      const options = { partitionKey: records[0]?.record.partitionkey ?? '' };
      let batch = await client.createBatch(options);
      for (const each of records) {
        if (batch.tryAdd(messageOf(each))) continue;
        await client.sendBatch(batch);
        batch = await client.createBatch(options);
        batch.tryAdd(messageOf(each));
      }
      await client.sendBatch(batch);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function rateOf(contestant: Contestant, count: number): Promise<number> {
  const records = Array.from({ length: count }, (_, index) => outgoing(sampleAgentRecord(index + 1)));
  const begun = performance.now();
  await contestant.drain(records);
  return (1_000 * count) / (performance.now() - begun);
}

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
