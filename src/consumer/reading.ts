// Reads every partition of the hub: what a consumer does that shares with nobody.
import type { TrailStore, Unavailable } from '../audit/store.ts';
import { streamName } from '../core/stream.ts';
import type { HubConnection, HubDescription, ReadHandlers } from './hub.ts';
import { hubFaultOf } from './hub-fault.ts';
import { type FeedOptions, openPartitionFeed, type PartitionFeed } from './partition-feed.ts';
import type { PartitionHoldings } from './partition-holdings.ts';

/** What is read now, in one session. */
export interface Reading {
  /** The partitions that are read here. */
  readonly feeds: () => readonly PartitionFeed[];
  /** Reads a partition over a new link, if that can be done without the others; false when it cannot. */
  readonly restart: (partition: string) => boolean;
  /** Whether partitions are no longer shared out, although they should be. */
  readonly isStuck: () => boolean;
  /** Resolves when no batch is in hand. */
  readonly settled: () => Promise<void>;
}

export interface ReadingOptions
  extends Omit<FeedOptions, 'partition' | 'stream' | 'signal' | 'onHole' | 'onRefused' | keyof FeedStart> {
  readonly trail: TrailStore;
  readonly holdings: PartitionHoldings;
  /** Aborts when the session is over. */
  readonly over: AbortSignal;
  /** Reading must begin anew, all of it. */
  readonly onHole: () => void;
  readonly onFailed: (error: unknown) => void;
  /** A partition's own trouble with the hub, beside which the others are read; null when it is read again. */
  readonly onPartitionFault: (partition: string, stream: string, error: unknown) => void;
}

/** The stream of a partition. */
export const streamOf = ({ namespace, name, createdAt }: HubDescription, partition: string): string =>
  streamName({ namespace, hub: name, partition, hubCreatedAt: createdAt });

/** Where a feed begins: the stream's position, and its last entry. */
export type FeedStart = Pick<FeedOptions, 'start' | 'tail'>;

/** Where the trail stands with a stream. */
export async function startOf(
  trail: Pick<TrailStore, 'position' | 'tail'>,
  stream: string,
): Promise<FeedStart | Unavailable> {
  const known = await trail.position(stream);
  if (known.status === 'unavailable') return known;
  if (known.position.size === 0) return { start: known.position, tail: null };
  const last = await trail.tail(stream);
  return last.status === 'unavailable' ? last : { start: known.position, tail: last.tail };
}

/** Reads all partitions from where the trail stands. */
export async function readAll(
  connection: HubConnection,
  hub: HubDescription,
  options: ReadingOptions,
): Promise<Reading | Unavailable> {
  const feeds: PartitionFeed[] = [];
  for (const partition of hub.partitions) {
    const stream = streamOf(hub, partition);
    const known = await startOf(options.trail, stream);
    if ('status' in known) return known;
    const onRefused = (why: Error): void => options.onPartitionFault(partition, stream, why);
    const own = { partition, stream, signal: options.over, onRefused };
    feeds.push(openPartitionFeed({ ...options, ...known, ...own }));
    options.holdings.opened(stream, known.start.size);
  }
  for (const feed of feeds)
    connection.read(feed.partition, feed.position().lastSequenceNumber, handlersOf(feed, options));
  return {
    feeds: () => feeds,
    restart: () => false,
    isStuck: () => false,
    settled: async () => {
      await Promise.all(feeds.map((feed) => feed.settled()));
    },
  };
}

/** A position that the hub refuses is one partition's trouble: the SDK asks for it again, and the others are read. */
function handlersOf(feed: PartitionFeed, { onFailed, onPartitionFault }: ReadingOptions): ReadHandlers {
  const { partition, stream } = feed;
  let isRefused = false;
  return {
    take: async (events) => {
      await feed.take(events);
      if (!isRefused || events.length === 0 || feed.isRefused()) return;
      isRefused = false;
      onPartitionFault(partition, stream, null);
    },
    fail: (error) => {
      isRefused = hubFaultOf(error) === 'position-refused';
      if (isRefused) onPartitionFault(partition, stream, error);
      else onFailed(error);
    },
    closed: () => {
      if (!isRefused) onFailed(new Error('closed'));
    },
  };
}
