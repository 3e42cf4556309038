// The demo's consumer: a real one, between the hub and the trail.
import { systemClock } from '../../clock.ts';
import { runConsumer } from '../../consumer/consumer.ts';
import { consumerSettings } from '../../consumer/settings.ts';
import { logOf } from './fleet.ts';
import type { ProofPlaces } from './proof.ts';

export interface KeeperPlaces {
  readonly connectionString: string;
  readonly eventHubName: string;
  readonly trailPath: string;
  readonly proof: ProofPlaces;
}

export interface Keeper extends AsyncDisposable {
  /** Resolves once the hub is read and the trail's file is there. */
  readonly reading: Promise<void>;
  /** Resolves when the consumer ended by itself, with the reason; rejects when it broke. */
  readonly failed: Promise<string>;
}

/** @param complain hears what goes wrong */
export function startKeeper(places: KeeperPlaces, complain: (message: string) => void): Keeper {
  const { connectionString, eventHubName, trailPath: path, proof } = places;
  const settings = consumerSettings.parse({
    ...{ hub: { connectionString, eventHubName }, trail: { path } },
    signing: { keyFile: proof.keyFile },
    anchors: [{ type: 'file', path: proof.anchorPath }],
  });
  const stop = new AbortController();
  const reading = Promise.withResolvers<void>();
  const end = runConsumer(settings, {
    clock: systemClock,
    log: logOf((level, message) => {
      if (level !== 'info') complain(message);
    }),
    signal: stop.signal,
    onProgress: ({ kind }) => {
      if (kind === 'reading') reading.resolve();
    },
  });
  const failed = end.then((ended) => (ended.ok ? 'the consumer stopped' : ended.reason));
  // Whoever waits for it hears of it; after the end nobody does.
  failed.catch(() => undefined);
  return {
    reading: reading.promise,
    failed,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.allSettled([end]);
    },
  };
}
