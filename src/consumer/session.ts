// One life of a connection to the hub: every partition is read from the trail's own position until there is doubt.
import type { TrailStore, UnavailableReason } from '../audit/store.ts';
import type { BlobReason } from '../blobs/fault.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ConnectHub, HubDescription } from './hub.ts';
import { type HubFault, hubFaultOf, isRefusal, namesOf } from './hub-fault.ts';
import type { Owners } from './partition-claims.ts';
import type { StoredBatch, Trouble } from './partition-feed.ts';
import type { PartitionHoldings } from './partition-holdings.ts';
import type { Progress } from './progress.ts';
import { readAll } from './reading.ts';
import { needsPerson } from './session-log.ts';
import { openShare, type ShareSettings } from './shared-reading.ts';
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
  /** Streams whose position was refused: a hub made anew does so, and that is told apart by a new session. */
  readonly refused: Set<string>;
  /** Partitions that are open in the journal. */
  readonly holdings: PartitionHoldings;
  /** Null for the only reader of all partitions. */
  readonly share: ShareSettings | null;
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
  /** Why one partition brings nothing while the others do; null when it does again. */
  readonly onPartitionFault: (partition: string, fault: HubFault | null) => void;
  /** Who owns what, of a hub that several share. */
  readonly onOwners: (owners: Owners) => void;
  /** Why it is not known who owns what, or why checkpoints cannot be written; null when all is well again. */
  readonly onOwnershipFault: (reason: BlobReason | null) => void;
  readonly onCheckpointFault: (reason: BlobReason | null) => void;
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
  const over = new AbortController();
  await using resources = new AsyncDisposableStack();
  resources.defer(() => options.signal.removeEventListener('abort', stop));
  try {
    progress.promise('session', openMsMax);
    const readingOptions = { ...options, ...endings(options, finish), over: over.signal };
    const share = options.share === null ? null : openShare(options.share, readingOptions);
    resources.defer(() => share?.letGo());
    const connection = resources.use(await options.connect(share?.sharing));
    const hub = await Promise.race([ended, connection.describe()]);
    if ('reason' in hub) return hub;
    const reading = share?.read(connection, hub) ?? (await readAll(connection, hub, readingOptions));
    if ('status' in reading) return { reason: 'trail-unavailable', fault: reading.reason };
    resources.defer(async () => {
      over.abort();
      // The SDK closes without waiting for its handlers, and the store must outlive them.
      await reading.settled();
      share?.release();
    });
    options.onReading(hub);
    const watched = watchReading({ ...options, connection, hub, reading, signal: over.signal });
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

/** What of reading ends the session, and what is only told. */
function endings({ refused, onPartitionFault }: SessionOptions, finish: Finish) {
  return {
    onHole: (): void => finish({ reason: 'hole' }),
    onFailed: (error: unknown): void => finish(failed(error)),
    // Sharing goes on by itself when it can; whether the hub still answers, the watchdog finds out.
    onShareFault: (error: unknown): void => {
      if (needsPerson.has(hubFaultOf(error))) finish(failed(error));
    },
    onPartitionFault: (partition: string, stream: string, error: unknown): void => {
      const fault = error === null ? null : hubFaultOf(error);
      // Whoever shares loses partitions to others, and gets others: that is no fault.
      if (fault === 'taken-over') return;
      const isBelieved = !isRefusal(fault) || refused.has(stream);
      if (isRefusal(fault)) refused.add(stream);
      else refused.delete(stream);
      // It would be refused to every partition alike.
      const isEveryones = fault !== null && !isRefusal(fault) && needsPerson.has(fault);
      if (isEveryones || !isBelieved) finish(failed(error));
      else onPartitionFault(partition, fault);
    },
  };
}

function failed(error: unknown): Failed {
  const fault = hubFaultOf(error);
  return { reason: 'failed', fault, ...(fault === 'unexpected' ? { names: namesOf(error) } : {}) };
}
