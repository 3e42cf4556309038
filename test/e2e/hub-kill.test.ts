// SIGKILL of the hub again and again, while batches come and go: the trail ends up with what the hub kept, once.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EventHubProducerClient } from '@azure/event-hubs';
import { expect, test } from 'vitest';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { isConsistent, linesInHub, linesInTrail } from '../support/hub-and-trail.ts';
import { type RunningProcess, startNode } from '../support/process.ts';
import { entriesIn, type HubPlace, startConsumer } from '../support/running-consumer.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');
const kills = 10;

type RunningHub = RunningProcess & { readonly place: HubPlace };

/** A hub in a process of its own whose events survive it. */
async function startHub(store: string, port = '0'): Promise<RunningHub> {
  const options = ['--partitions', '2', '--store', store, '--port', port];
  const running = startNode([cli, 'emulate', 'eventhubs', ...options]);
  const place = await until(
    'the hub to listen',
    () => {
      const [line, rest] = running.output().stdout.split('\n');
      return rest === undefined ? null : (JSON.parse(line ?? '') as HubPlace);
    },
    30_000,
  );
  return Object.assign(running, { place });
}

/** Sends one batch after another until it is told to stop; tells which bodies the hub acknowledged. */
function sendForever({ connectionString, eventHubName }: HubPlace) {
  const acknowledged: string[] = [];
  const stopping = new AbortController();
  const retryOptions = { timeoutInMs: 1_000, maxRetries: 0 };
  const run = async (): Promise<void> => {
    for (let batch = 0; !stopping.signal.aborted; batch++) {
      // A new client for each batch, because one whose connection died takes its time to notice.
      const client = new EventHubProducerClient(connectionString, eventHubName, { retryOptions });
      const bodies = Array.from({ length: 10 }, (_, at) => `${batch}-${at}`);
      const events = bodies.map((body) => ({ body: Buffer.from(body) }));
      await client.sendBatch(events, { partitionId: String(batch % 2) }).then(
        () => acknowledged.push(...bodies),
        () => undefined,
      );
      // A connection that dies under its first question, to $cbs, keeps close() waiting for a minute.
      await Promise.race([client.close().catch(() => undefined), delay(1_000)]);
    }
  };
  const done = run();
  return {
    acknowledged,
    stop: async (): Promise<void> => {
      stopping.abort();
      await done;
    },
  };
}

test('a hub killed in the middle of batches costs the trail nothing and doubles nothing', async () => {
  using directory = temporaryDirectory();
  const [store, path] = [join(directory.path, 'hub.log'), join(directory.path, 'trail.db')];
  let hub = await startHub(store);
  await using ending = new AsyncDisposableStack();
  ending.defer(async () => await hub[Symbol.asyncDispose]());
  const { place } = hub;
  const port = /:(\d+);/.exec(place.connectionString)?.[1] ?? '';
  await using consumer = startConsumer(path, place, { watchIntervalMs: 500 });
  const sending = sendForever(place);
  for (let kill = 0; kill < kills; kill++) {
    const before = sending.acknowledged.length;
    await until('acknowledged batches', () => sending.acknowledged.length > before + 20, 30_000);
    await delay(Math.random() * 300);
    await hub[Symbol.asyncDispose]();
    hub = await startHub(store, port);
  }
  await sending.stop();
  await hub[Symbol.asyncDispose]();

  // The same hub once more, in this process, to look into it.
  await using last = await startEventHubsEmulator({
    hubs: [{ name: place.eventHubName }],
    storePath: store,
    port: Number(port),
  });
  const held = linesInHub(last);
  await entriesIn(path, held.length, 60_000);
  await consumer.stop();
  const trail = linesInTrail(path);
  expect(trail).toEqual(held);
  const bodies = new Set(trail.map((line) => line.split(' ')[2]));
  expect(sending.acknowledged.filter((body) => !bodies.has(body))).toEqual([]);
  expect(sending.acknowledged.length).toBeGreaterThan(kills * 20);
  expect(await isConsistent(path)).toBe(true);
}, 180_000);
