// Notices what the SDK does not: a partition that has news and brings none, a hub made anew, a peer that hangs.
import type { Clock } from '../clock.ts';
import type { HubConnection, HubDescription } from './hub.ts';
import { type HubFault, hubFaultOf } from './hub-fault.ts';
import type { PartitionFeed } from './partition-feed.ts';

/** Why a connection is given up for a new one. */
export type Doubt =
  | { readonly reason: 'silent'; readonly fault: HubFault }
  | { readonly reason: 'stalled'; readonly partition: string }
  | { readonly reason: 'hub-changed' }
  | { readonly reason: 'refresh' };

export interface WatchOptions {
  readonly connection: HubConnection;
  readonly hub: HubDescription;
  readonly feeds: readonly PartitionFeed[];
  readonly clock: Clock;
  readonly watchIntervalMs: number;
  readonly creditMax: number;
  readonly signal: AbortSignal;
}

/** Looks every `watchIntervalMs`, and returns at the first doubt; null when `signal` aborts before. */
export async function watchReading(options: WatchOptions): Promise<Doubt | null> {
  const { connection, hub, feeds, clock, watchIntervalMs, creditMax, signal } = options;
  let behind: ReadonlyMap<string, number> = new Map();
  for (;;) {
    await clock.sleep(watchIntervalMs, signal);
    if (signal.aborted) return null;
    try {
      if (changed(hub, await connection.describe())) return { reason: 'hub-changed' };
      const now = await partitionsBehind(connection, feeds);
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

/** Where each partition stands that has events which the trail does not; those with a batch in hand left out. */
async function partitionsBehind(
  connection: HubConnection,
  feeds: readonly PartitionFeed[],
): Promise<Map<string, number>> {
  const looks = feeds.map(async (feed) => {
    const last = await connection.lastSequenceNumber(feed.partition);
    const at = feed.position().lastSequenceNumber;
    return last > at && !feed.busy() ? [[feed.partition, at] as const] : [];
  });
  return new Map((await Promise.all(looks)).flat());
}
