// Notices what the SDK does not: a partition that has news and brings none, a hub made anew, a peer that hangs.
import type { Clock } from '../clock.ts';
import type { HubConnection, HubDescription } from './hub.ts';
import { type HubFault, hubFaultOf } from './hub-fault.ts';
import type { PartitionFeed } from './partition-feed.ts';
import type { Progress } from './progress.ts';

/** Why a connection is given up for a new one. */
export type Doubt =
  | { readonly reason: 'silent'; readonly fault: HubFault }
  | { readonly reason: 'stalled'; readonly partition: string }
  | { readonly reason: 'hub-changed' }
  | { readonly reason: 'refresh' };

/** Where a partition stands in the hub and in the trail. */
export interface PartitionLook {
  readonly partition: string;
  /** The last sequence number of the hub; -1 when it holds nothing. */
  readonly last: number;
  /** The last one of the trail. */
  readonly at: number;
  /** Whether a batch is being stored. */
  readonly busy: boolean;
}

export interface WatchOptions {
  readonly connection: HubConnection;
  readonly hub: HubDescription;
  readonly feeds: readonly PartitionFeed[];
  readonly clock: Clock;
  readonly watchIntervalMs: number;
  readonly creditMax: number;
  readonly progress: Progress;
  readonly onLook: (looks: readonly PartitionLook[]) => void;
  readonly signal: AbortSignal;
}

// Two requests of at most 8 s.
const lookMsMax = 20_000;

/** Looks every `watchIntervalMs`, and returns at the first doubt; null when `signal` aborts before. */
export async function watchReading(options: WatchOptions): Promise<Doubt | null> {
  const { connection, hub, feeds, clock, watchIntervalMs, creditMax, progress, signal } = options;
  let behind: ReadonlyMap<string, number> = new Map();
  for (;;) {
    progress.promise('session', watchIntervalMs + lookMsMax);
    await clock.sleep(watchIntervalMs, signal);
    if (signal.aborted) return null;
    try {
      if (changed(hub, await connection.describe())) return { reason: 'hub-changed' };
      const looks = await lookAt(connection, feeds);
      options.onLook(looks);
      const now = behindAmong(looks);
      // Behind twice at the same place is a stall; once is only a batch under way.
      const stalled = [...now].find(([partition, at]) => behind.get(partition) === at);
      if (stalled !== undefined) return { reason: 'stalled', partition: stalled[0] };
      behind = now;
    } catch (error) {
      return { reason: 'silent', fault: hubFaultOf(error) };
    }
    if (feeds.some((feed) => !feed.busy() && feed.creditSurplus() > creditMax)) return { reason: 'refresh' };
  }
}

const changed = (before: HubDescription, now: HubDescription): boolean =>
  before.createdAt !== now.createdAt || before.partitions.join() !== now.partitions.join();

const lookAt = (connection: HubConnection, feeds: readonly PartitionFeed[]): Promise<PartitionLook[]> =>
  Promise.all(
    feeds.map(async ({ partition, position, busy }) => {
      const last = await connection.lastSequenceNumber(partition);
      return { partition, last, at: position().lastSequenceNumber, busy: busy() };
    }),
  );

/** Where each partition stands that has events which the trail does not; those with a batch in hand left out. */
function behindAmong(looks: readonly PartitionLook[]): ReadonlyMap<string, number> {
  const behind = looks.filter(({ last, at, busy }) => last > at && !busy);
  return new Map(behind.map(({ partition, at }) => [partition, at]));
}
