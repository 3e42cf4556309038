// How fast the consumer reads, commits and projects, beside the bare SDK that only receives, and how fast the trail is alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EventHubConsumerClient, EventHubProducerClient } from '@azure/event-hubs';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { emptyStream } from '../../src/audit/store.ts';
import { systemClock } from '../../src/clock.ts';
import { runConsumer } from '../../src/consumer/consumer.ts';
import { batchLengthMax, prefetchCount } from '../../src/consumer/hub.ts';
import { consumerSettings } from '../../src/consumer/settings.ts';
import type { HubEvent } from '../../src/core/leaf.ts';
import { silentLog } from '../../src/log.ts';
import { startNode } from '../../test/support/process.ts';
import { asHubEvents, liveMigration } from '../../test/support/synthetic.ts';
import { until } from '../../test/support/until.ts';
import type { Bench, BenchResult } from './result.ts';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const observers = 20;
const patienceMs = 300_000;

interface Place {
  readonly connectionString: string;
  readonly eventHubName: string;
}

/** Lives of events that each have 20 observers, as the hub holds them. */
const livesOf = (count: number): HubEvent[] => {
  const events = Math.ceil(count / (3 * observers));
  const lives = Array.from({ length: events }, (_, event) =>
    Array.from({ length: observers }, (_, vm) => liveMigration(event, vm)).flat(),
  );
  return asHubEvents(lives.flat()).slice(0, count);
};

export const run: Bench = async ({ quick }) => {
  const events = livesOf(quick ? 3_000 : 60_000);
  const directory = mkdtempSync(join(tmpdir(), 'seb-bench-'));
  try {
    await using hub = startNode([cli, 'emulate', 'eventhubs', '--partitions', '4']);
    await hub.until('\n');
    const place = JSON.parse(hub.output().stdout) as Place;
    await publish(place, events);
    const bare = await receiveRate(place, events.length);
    const whole = await consumeRate(place, join(directory, 'hub.db'), events.length);
    const trail = await appendRate(join(directory, 'trail.db'), events);
    return [
      result('consumer: read, committed, projected', whole, { name: 'bare SDK receive', value: bare }),
      result('trail alone: committed, projected', trail),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

const result = (name: string, value: number, baseline?: BenchResult['baseline']): BenchResult => ({
  ...{ name, value, unit: 'events/s' },
  ...(baseline === undefined ? {} : { baseline }),
});

async function publish({ connectionString, eventHubName }: Place, events: readonly HubEvent[]) {
  const producer = new EventHubProducerClient(connectionString, eventHubName);
  for (let from = 0; from < events.length; from += 300) {
    const batch = events.slice(from, from + 300).map(({ body }) => ({ body: Buffer.from(body) }));
    await producer.sendBatch(batch, { partitionId: String((from / 300) % 4) });
  }
  await producer.close();
}

/** Events per second from the first to the last of them. */
function meter(total: number) {
  let [seen, begun, ended] = [0, 0, 0];
  return {
    count: (events: number): void => {
      if (events > 0 && seen === 0) begun = performance.now();
      seen += events;
      if (events > 0) ended = performance.now();
    },
    isDone: () => seen >= total,
    rate: () => (seen / (ended - begun)) * 1_000,
  };
}

async function receiveRate({ connectionString, eventHubName }: Place, total: number): Promise<number> {
  const client = new EventHubConsumerClient('$Default', connectionString, eventHubName);
  const { count, isDone, rate } = meter(total);
  const handlers = {
    processEvents: async (events: readonly unknown[]) => count(events.length),
    processError: async () => undefined,
  };
  for (const partition of await client.getPartitionIds()) {
    client.subscribe(partition, handlers, {
      startPosition: { offset: '-1' },
      maxBatchSize: batchLengthMax,
      prefetchCount,
      maxWaitTimeInSeconds: 1,
      skipParsingBodyAsJson: true,
    });
  }
  await until('everything to be received', isDone, patienceMs);
  await client.close();
  return rate();
}

async function consumeRate(place: Place, path: string, total: number): Promise<number> {
  const settings = consumerSettings.parse({ hub: place, trail: { path } });
  const { count, isDone, rate } = meter(total);
  const stopping = new AbortController();
  const ended = runConsumer(settings, {
    ...{ clock: systemClock, log: silentLog, signal: stopping.signal },
    onProgress: (news) => {
      if (news.kind === 'stored') count(news.counts.entries);
    },
  });
  await until('everything to be stored', isDone, patienceMs);
  stopping.abort();
  await ended;
  return rate();
}

async function appendRate(path: string, events: readonly HubEvent[]): Promise<number> {
  await using trail = openSqliteTrail(path);
  const begun = performance.now();
  let position = emptyStream;
  for (let from = 0; from < events.length; from += batchLengthMax) {
    const appended = await trail.append('bench', position, events.slice(from, from + batchLengthMax));
    if (appended.status !== 'appended') throw new Error(appended.status);
    position = appended.position;
  }
  return (events.length / (performance.now() - begun)) * 1_000;
}
