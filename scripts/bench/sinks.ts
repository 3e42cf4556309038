// What the sinks add to the bare clients: records one after another to a hub and to a webhook on this machine.
import { fileURLToPath } from 'node:url';
import { EventHubProducerClient } from '@azure/event-hubs';
import { Agent, request } from 'undici';
import { messageOf } from '../../src/sinks/eventhubs/message.ts';
import { loadSinkKinds } from '../../src/sinks/index.ts';

const { open: openSink, settings: sinkSettings } = await loadSinkKinds();

import { openPassingMemory } from '../../src/sinks/memory.ts';
import type { OutgoingRecord } from '../../src/sinks/sink.ts';
import { type RunningProcess, startNode } from '../../test/support/process.ts';
import { outgoingRecords } from '../../test/support/records.ts';
import { type Bench, type BenchResult, quantile } from './result.ts';

interface Contestant extends AsyncDisposable {
  readonly name: string;
  send(outgoing: OutgoingRecord): Promise<unknown>;
}

/** Publishes to the Event Hubs emulator and posts to a bare server, each in a process of its own. */
export const run: Bench = async ({ quick }) => {
  const count = quick ? 200 : 2_000;
  return [...(await publishToHub(count)), ...(await postToServer(count))];
};

async function publishToHub(count: number): Promise<BenchResult[]> {
  await using emulator = startNode([pathOf('../../src/cli.ts'), 'emulate', 'eventhubs', '--port', '0']);
  const { connectionString = '', eventHubName = '' } = await firstLine(emulator);
  await using ours = openOurs({ type: 'eventhubs', connectionString, eventHubName });
  const client = new EventHubProducerClient(connectionString, eventHubName);
  await using bare: Contestant = {
    name: 'the SDK alone',
    send: async (outgoing) =>
      await client.sendBatch([messageOf(outgoing)], { partitionKey: outgoing.record.partitionkey }),
    [Symbol.asyncDispose]: async () => await client.close(),
  };
  return await compare('records to a hub, one after another', count, ours, bare);
}

async function postToServer(count: number): Promise<BenchResult[]> {
  await using receiver = startNode([pathOf('receiver.ts')]);
  const { url = '' } = await firstLine(receiver);
  await using ours = openOurs({ type: 'webhook', url, allowHttp: true });
  const dispatcher = new Agent({ connections: 1 });
  const headers = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
  await using bare: Contestant = {
    name: 'undici alone',
    send: async ({ bytes }) => {
      const { body } = await request(url, { dispatcher, method: 'POST', headers, body: bytes });
      await body.dump();
    },
    [Symbol.asyncDispose]: async () => await dispatcher.close(),
  };
  return await compare('records to a webhook, one after another', count, ours, bare);
}

function openOurs(given: object): Contestant {
  const context = { imdsEndpoint: 'http://127.0.0.1:9', version: 'bench', memory: openPassingMemory() };
  const { sink } = openSink('bench', sinkSettings.parse(given), context);
  const { signal } = new AbortController();
  return {
    name: 'the sink',
    send: async (outgoing) => {
      const outcome = await sink.send(outgoing, signal);
      if (outcome.status !== 'delivered') throw new Error(`${outcome.status} ${outcome.reason}`);
    },
    [Symbol.asyncDispose]: async () => await sink[Symbol.asyncDispose](),
  };
}

const rounds = 4;

/** Both in turns, because a machine is never twice the same; the first round of each only warms up. */
async function compare(
  name: string,
  count: number,
  ours: Contestant,
  bare: Contestant,
): Promise<BenchResult[]> {
  const ms = new Map<Contestant, number[]>([
    [ours, []],
    [bare, []],
  ]);
  for (let round = 0; round < rounds; round += 1) {
    for (const [contestant, times] of ms) {
      const measured = await timesOf(contestant, outgoingRecords(Math.ceil(count / rounds)));
      if (round > 0) times.push(...measured);
    }
  }
  const figure = (contestant: Contestant, read: (times: readonly number[]) => number) =>
    read(ms.get(contestant) ?? []);
  const result = (what: string, unit: string, read: (times: readonly number[]) => number): BenchResult => ({
    name: what,
    value: figure(ours, read),
    unit,
    baseline: { name: bare.name, value: figure(bare, read) },
  });
  return [
    result(name, 'records/s', (times) => (1_000 * times.length) / times.reduce((sum, each) => sum + each, 0)),
    result(`${name}, p50`, 'ms', (times) => quantile(times, 0.5)),
    result(`${name}, p99`, 'ms', (times) => quantile(times, 0.99)),
  ];
}

async function timesOf(contestant: Contestant, records: readonly OutgoingRecord[]): Promise<number[]> {
  const times: number[] = [];
  for (const record of records) {
    const begun = performance.now();
    await contestant.send(record);
    times.push(performance.now() - begun);
  }
  return times;
}

/** What a program says about itself in its first line. */
async function firstLine(program: RunningProcess): Promise<Readonly<Record<string, string>>> {
  await program.until('\n');
  return JSON.parse(program.output().stdout.split('\n')[0] ?? '{}');
}

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
