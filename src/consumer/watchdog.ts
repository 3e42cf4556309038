// Notices what the SDK does not: a partition that has news and brings none, a hub made anew, a peer that hangs.
import type { Clock } from '../clock.ts';
import type { HubConnection, HubDescription } from './hub.ts';
import { type HubFault, HubRewound, hubFaultOf } from './hub-fault.ts';
import type { PartitionFeed } from './partition-feed.ts';
import type { Progress } from './progress.ts';
import type { Reading } from './reading.ts';

/** Why a connection is given up for a new one. */
export type Doubt =
  | { readonly reason: 'silent'; readonly fault: HubFault }
  | { readonly reason: 'stalled'; readonly partition: string }
  /** The partitions are no longer shared out: others take what is read here. */
  | { readonly reason: 'sharing-stalled' }
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
  /** Whether the hub holds less than it once gave. */
  readonly isRewound: boolean;
}

export interface WatchOptions {
  readonly connection: HubConnection;
  readonly hub: HubDescription;
  readonly reading: Pick<Reading, 'feeds' | 'restart' | 'isStuck'>;
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
  const { connection, hub, reading, clock, watchIntervalMs, progress, signal } = options;
  let behind: ReadonlyMap<string, number> = new Map();
  for (;;) {
    progress.promise('session', watchIntervalMs + lookMsMax);
    await clock.sleep(watchIntervalMs, signal);
    if (signal.aborted) return null;
    try {
      if (changed(hub, await connection.describe())) return { reason: 'hub-changed' };
      const feeds = reading.feeds();
      const looks = await lookAt(connection, feeds);
      options.onLook(looks);
      const now = behindAmong(looks);
      // Behind twice at the same place is a stall; once is only a batch under way.
      const stalled = [...now.keys()].filter((partition) => behind.get(partition) === now.get(partition));
      const doubt = doubtOf(options, feeds, stalled);
      if (doubt !== null) return doubt;
      behind = new Map([...now].filter(([partition]) => !stalled.includes(partition)));
    } catch (error) {
      return { reason: 'silent', fault: hubFaultOf(error) };
    }
  }
}

/** What is left to doubt after each partition that can be read anew by itself is. */
function doubtOf(
  { reading, creditMax }: WatchOptions,
  feeds: readonly PartitionFeed[],
  stalled: readonly string[],
): Doubt | null {
  const dead = stalled.find((partition) => !reading.restart(partition));
  if (dead !== undefined) return { reason: 'stalled', partition: dead };
  if (reading.isStuck()) return { reason: 'sharing-stalled' };
  const full = feeds.filter((feed) => !feed.busy() && feed.creditSurplus() > creditMax);
  return full.every(({ partition }) => reading.restart(partition)) ? null : { reason: 'refresh' };
}

const changed = (before: HubDescription, now: HubDescription): boolean =>
  before.createdAt !== now.createdAt || before.partitions.join() !== now.partitions.join();

const lookAt = (connection: HubConnection, feeds: readonly PartitionFeed[]): Promise<PartitionLook[]> =>
  Promise.all(
    feeds.map(async ({ partition, position, busy, isRefused, refuse }) => {
      // Before the hub is asked: what came since then it has all the same.
      const before = position().lastSequenceNumber;
      const last = await connection.lastSequenceNumber(partition);
      const isRewound = last >= 0 && last < before;
      if (isRewound) refuse(new HubRewound());
      const at = position().lastSequenceNumber;
      // What is refused waits for a person, and not for a new link.
      return { partition, last, at, busy: busy() || isRefused(), isRewound };
    }),
  );

/** Where each partition stands that has events which the trail does not; those with a batch in hand left out. */
function behindAmong(looks: readonly PartitionLook[]): ReadonlyMap<string, number> {
  const behind = looks.filter(({ last, at, busy }) => last > at && !busy);
  return new Map(behind.map(({ partition, at }) => [partition, at]));
}
