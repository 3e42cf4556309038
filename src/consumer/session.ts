// One life of a connection to the hub: every partition is read from the trail's own position until there is doubt.
import type { TrailStore, Unavailable, UnavailableReason } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import { streamName } from '../core/stream.ts';
import type { Log } from '../log.ts';
import type { ConnectHub, HubConnection, HubDescription } from './hub.ts';
import { type HubFault, hubFaultOf, namesOf } from './hub-fault.ts';
import { openPartitionFeed, type PartitionFeed, type StoredBatch, type Trouble } from './partition-feed.ts';
import type { Progress } from './progress.ts';
import { type Doubt, type PartitionLook, watchReading } from './watchdog.ts';

/** Why a session ended; every end but `stopped` is followed by another session. */
export type SessionEnd =
  | { readonly reason: 'stopped' }
  | Failed
  | { readonly reason: 'trail-unavailable'; readonly fault: UnavailableReason }
  | { readonly reason: 'hole' }
  | Doubt;

interface Failed {
  readonly reason: 'failed';
  readonly fault: HubFault;
  /** What an unexpected error calls itself. */
  readonly names?: string;
}

export interface SessionOptions {
  readonly connect: ConnectHub;
  readonly trail: TrailStore;
  /** What earlier sessions found missing; see `openPartitionFeed`. */
  readonly holes: Map<string, number>;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly log: Log;
  readonly watchIntervalMs: number;
  readonly creditMax: number;
  /** Ends the session after the batches in hand. */
  readonly signal: AbortSignal;
  readonly onReading: (hub: HubDescription) => void;
  readonly onStored: (batch: StoredBatch) => void;
  readonly onTrouble: (trouble: Trouble) => void;
  /** The hub has answered for every partition. */
  readonly onLook: (looks: readonly PartitionLook[]) => void;
}

type Finish = (end: SessionEnd) => void;

// Loading the SDK, a token and two requests of at most 8 s.
const openMsMax = 30_000;
// The SDK gets 2 s; a batch in hand has a promise of its own.
const closeMsMax = 10_000;

/** Reads until something ends it. Nothing of it is open afterwards, and no batch is in hand. */
export async function runSession(options: SessionOptions): Promise<SessionEnd> {
  const { progress } = options;
  const { promise: ended, resolve: finish } = Promise.withResolvers<SessionEnd>();
  const stop = (): void => finish({ reason: 'stopped' });
  options.signal.addEventListener('abort', stop, { once: true });
  if (options.signal.aborted) stop();
  await using resources = new AsyncDisposableStack();
  resources.defer(() => options.signal.removeEventListener('abort', stop));
  try {
    progress.promise('session', openMsMax);
    const connection = resources.use(await options.connect());
    const hub = await Promise.race([ended, connection.describe()]);
    if ('reason' in hub) return hub;
    const over = new AbortController();
    const feeds = await openFeeds(hub, options, over.signal, finish);
    if ('status' in feeds) return { reason: 'trail-unavailable', fault: feeds.reason };
    resources.defer(async () => {
      over.abort();
      // The SDK closes without waiting for its handlers, and the store must outlive them.
      await Promise.all(feeds.map((feed) => feed.settled()));
    });
    read(connection, feeds, finish);
    options.onReading(hub);
    const watched = watchReading({ ...options, connection, hub, feeds, signal: over.signal });
    void watched.then((doubt) => {
      if (doubt !== null) finish(doubt);
    });
    return await ended;
  } catch (error) {
    return failed(error);
  } finally {
    progress.promise('session', closeMsMax);
  }
}

function failed(error: unknown): Failed {
  const fault = hubFaultOf(error);
  return { reason: 'failed', fault, ...(fault === 'unexpected' ? { names: namesOf(error) } : {}) };
}

async function openFeeds(
  hub: HubDescription,
  options: SessionOptions,
  signal: AbortSignal,
  finish: Finish,
): Promise<readonly PartitionFeed[] | Unavailable> {
  const feeds: PartitionFeed[] = [];
  for (const partition of hub.partitions) {
    const { namespace, name, createdAt } = hub;
    const stream = streamName({ namespace, hub: name, partition, hubCreatedAt: createdAt });
    const known = await options.trail.position(stream);
    if (known.status === 'unavailable') return known;
    const onHole = (): void => finish({ reason: 'hole' });
    feeds.push(openPartitionFeed({ ...options, partition, stream, start: known.position, signal, onHole }));
  }
  return feeds;
}

function read(connection: HubConnection, feeds: readonly PartitionFeed[], finish: Finish): void {
  for (const { partition, position, take } of feeds) {
    const fail = (error: unknown): void => finish(failed(error));
    connection.read(partition, position().lastSequenceNumber, { take, fail });
  }
}
