// Webhooks with a queue each in one real outbox, and their loops, as an agent runs them.

import { systemClock } from '../../src/clock.ts';
import { deliver } from '../../src/delivery/deliver.ts';
import { type Meters, silentMeters } from '../../src/delivery/meters.ts';
import { Outbox } from '../../src/delivery/outbox/outbox.ts';
import { openWake } from '../../src/delivery/wake.ts';
import { silentLog } from '../../src/log.ts';
import { openPassingMemory } from '../../src/sinks/memory.ts';
import { streamFilter } from '../../src/sinks/sink.ts';
import { announcement, day } from './outboxes.ts';
import { openSink, sinkSettings } from './sink-kinds.ts';

export interface WebhookQueues extends AsyncDisposable {
  readonly outbox: Outbox;
  /** How many deliveries to each sink have come to their end. */
  readonly settled: ReadonlyMap<string, number>;
  /** Begins to deliver; ends with what it belongs to. */
  start(): void;
}

// In one commit, as after a long time without a receiver: the flushes are not what is looked at here.
const draftsAtOnce = 500;

/**
 * Queues so many records for each webhook.
 * @param urls where each one posts to, by the name of the sink
 */
export function queueForWebhooks(
  directory: string,
  urls: Readonly<Record<string, string>>,
  count: number,
): WebhookQueues {
  const routes = Object.keys(urls).map((name) => ({ name, filter: streamFilter }));
  const limits = { sizeMax: 1024 ** 3, keepDeliveredMs: day, keepDeadMs: day };
  const runtime = { clock: systemClock, log: silentLog };
  const outbox = new Outbox({ directory, routes, limits, ...runtime });
  for (let made = 0; made < count; made += draftsAtOnce) {
    const drafts = Array.from({ length: Math.min(draftsAtOnce, count - made) }, () => announcement().draft);
    if (!outbox.commit(null, drafts).ok) throw new Error('a commit failed');
  }
  const context = { imdsEndpoint: 'http://127.0.0.1:9', version: 'test', memory: openPassingMemory() };
  const sinks = Object.entries(urls).map(([name, url]) =>
    openSink(name, sinkSettings.parse({ type: 'webhook', url, allowHttp: true }), context),
  );
  const stop = new AbortController();
  const signals = { signal: stop.signal, attemptSignal: stop.signal };
  const settled = new Map<string, number>();
  const meters: Meters = {
    ...silentMeters,
    settled: ({ sink }) => void settled.set(sink, (settled.get(sink) ?? 0) + 1),
  };
  let loops: Promise<void>[] = [];
  return {
    outbox,
    settled,
    start() {
      const wake = openWake();
      loops = sinks.map((open) => deliver(open, { outbox, wake, meters, ...runtime, ...signals }));
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(loops);
      await Promise.all(sinks.map(({ sink }) => sink[Symbol.asyncDispose]()));
      outbox[Symbol.dispose]();
    },
  };
}

/** How many deliveries wait at each sink. */
export function waitingAt(outbox: Outbox): Readonly<Record<string, number>> {
  const queues = outbox.queues();
  if (!queues.ok) throw new Error('the queues cannot be read');
  return Object.fromEntries(Object.entries(queues.value).map(([name, { pending }]) => [name, pending]));
}
