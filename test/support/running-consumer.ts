// The consumer inside the test's process, a sender to its hub, and what stands in its trail.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { EventHubProducerClient } from '@azure/event-hubs';
import { newKey } from '../../src/audit/signing.ts';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import type { TrailReader } from '../../src/audit/store.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { type ConsumerEnd, type ConsumerProgress, runConsumer } from '../../src/consumer/consumer.ts';
import type { ShareRuntime } from '../../src/consumer/sessions.ts';
import { consumerSettings, type NotifySettings } from '../../src/consumer/settings.ts';
import { type BridgeRecord, encodeRecord } from '../../src/core/record.ts';
import type { Service } from '../../src/service-notify.ts';
import { type RecordingLog, recordingLog } from './recording-log.ts';
import { until } from './until.ts';

/** Where the hub of a test is. */
export interface HubPlace {
  readonly connectionString: string;
  readonly eventHubName: string;
}

export interface RunningConsumer extends AsyncDisposable {
  readonly log: RecordingLog;
  readonly progress: readonly ConsumerProgress[];
  /** Waits until it reads all partitions, for the `times`th time. */
  reading(times?: number): Promise<void>;
  /** Where its status page is, such as `http://127.0.0.1:43121`, once it is served. */
  statusUrl(): Promise<string>;
  stop(): Promise<ConsumerEnd>;
}

export interface ConsumerOptions {
  readonly clock?: Clock;
  readonly watchIntervalMs?: number;
  readonly creditMax?: number;
  readonly service?: Service | null;
  readonly share?: ShareRuntime;
  /** Settings beside those of the hub and the trail. */
  readonly settings?: object;
  /** Where notices go, as it was parsed. */
  readonly notify?: NotifySettings;
}

/** Starts a consumer that keeps its trail at `path`. */
export function startConsumer(
  path: string,
  hub: HubPlace,
  { settings: more, notify, ...options }: ConsumerOptions = {},
): RunningConsumer {
  const { connectionString, eventHubName } = hub;
  const own = {
    hub: { connectionString, eventHubName },
    trail: { path },
    // As consumers are to run.
    signing: { keyFile: keyBeside(path) },
  };
  const settings = { ...consumerSettings.parse({ ...own, ...more }), notify };
  const progress: ConsumerProgress[] = [];
  const [log, stopping] = [recordingLog(), new AbortController()];
  const onProgress = (news: ConsumerProgress): void => {
    progress.push(news);
  };
  const end = runConsumer(settings, {
    ...{ clock: systemClock, log, signal: stopping.signal, onProgress },
    ...options,
  });
  // A failure is reported when the consumer is stopped, not as an unhandled rejection before.
  end.catch(() => undefined);
  const stop = (): Promise<ConsumerEnd> => {
    stopping.abort();
    return end;
  };
  const sessions = (): number => progress.filter(({ kind }) => kind === 'reading').length;
  return {
    ...{ log, progress, stop },
    reading: async (times = 1) => {
      await until(`session ${times}`, () => sessions() >= times, 30_000);
    },
    statusUrl: async () => {
      const served = () => log.lines.find(({ message }) => message === 'the status is served');
      return `http://${(await until('the status', served)).fields['address']}`;
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}

/** The file of the key that signs the trail at `path`; it is made the first time. */
export function keyBeside(path: string): string {
  const file = `${path}.key`;
  mkdirSync(dirname(file), { recursive: true });
  if (!existsSync(file)) writeFileSync(file, newKey('test.example/fleet').privateKey, { mode: 0o600 });
  return file;
}

export interface Sender extends AsyncDisposable {
  /** Sends bodies one after another, records to the partition of their key, others to `partition`. */
  send(bodies: readonly (BridgeRecord | string | Buffer)[], partition?: string): Promise<void>;
}

/** A sender that gives up a dead connection within seconds. */
export function openSender({ connectionString, eventHubName }: HubPlace): Sender {
  const retryOptions = { timeoutInMs: 5_000, retryDelayInMs: 200, maxRetries: 10 };
  const client = new EventHubProducerClient(connectionString, eventHubName, { retryOptions });
  return {
    send: async (bodies, partition = '0') => {
      for (const body of bodies) {
        const isRecord = typeof body === 'object' && !Buffer.isBuffer(body);
        // The SDK would turn a text into JSON.
        const event = { body: isRecord ? encodeRecord(body) : Buffer.from(body) };
        const route = isRecord ? { partitionKey: body.partitionkey } : { partitionId: partition };
        await client.sendBatch([event], route);
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Asks the trail at `path`; before it is there, the answer is undefined. */
export async function ask<Answer>(
  path: string,
  question: (reader: TrailReader) => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    await using reader = openSqliteReader(path);
    return await question(reader);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('there is no trail')) return undefined;
    throw error;
  }
}

/** Waits until the trail holds so many entries. */
export async function entriesIn(path: string, count: number, withinMs = 15_000): Promise<void> {
  const enough = async () => ((await ask(path, (reader) => reader.counts()))?.entries ?? 0) >= count;
  await until(`${count} entries in the trail`, enough, withinMs);
}
