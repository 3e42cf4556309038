// Reads the hub session after session, alone or beside others, until the consumer is to stop.
import type { TrailStore } from '../audit/store.ts';
import { openContainer } from '../blobs/container.ts';
import type { JournalFact } from '../core/journal.ts';
import type { ConsumerProgress, ConsumerRuntime } from './consumer.ts';
import type { ConnectHub } from './hub.ts';
import { openOwnershipBlobs } from './ownership-blobs.ts';
import { openPartitionHoldings } from './partition-holdings.ts';
import type { Progress } from './progress.ts';
import { runSession, type SessionOptions } from './session.ts';
import { openSessionLog, pauseMs } from './session-log.ts';
import type { ConsumerSettings } from './settings.ts';
import { openShareLog } from './share-log.ts';
import type { ShareSettings } from './shared-reading.ts';

/** How partitions are shared; tests are quicker, and bring a store of their own. */
export type ShareRuntime = Partial<Omit<ShareSettings, 'ownerId'>>;

export interface ReadOptions extends Omit<ConsumerRuntime, 'onProgress' | 'service'> {
  readonly checkpoints: ConsumerSettings['checkpoints'];
  /** What this run is known by. */
  readonly instance: string;
  readonly connect: ConnectHub;
  readonly trail: TrailStore;
  readonly progress: Progress;
  /** Takes a fact for the journal, and writes it when it can. */
  readonly addFact: (fact: JournalFact) => void;
  readonly tell: (news: ConsumerProgress) => void;
}

// A stall shows at the second look: so within half a minute, whatever the SDK does not notice.
const watchIntervalMs = 10_000;
// Each idle second allows the hub 300 more events in flight, without end; this much fits into memory.
const creditMax = 100_000;
// Whoever dies is followed after 35 s at most. Each round is one list, and a renewal for each partition every 10 s.
export const shareIntervalMs = 5_000;
export const shareExpiryMs = 30_000;
// Shorter than the expiry: a store that hangs must not cost what is owned.
const ownershipMsMax = 8_000;

/** Session after session, until `signal` aborts. */
export async function readSessions(options: ReadOptions): Promise<void> {
  const { clock, signal, instance, addFact, tell, progress } = options;
  const over = new AbortController();
  // What is owned is released after the signal has aborted.
  using _over = { [Symbol.dispose]: () => over.abort() };
  const holdings = openPartitionHoldings(instance, addFact);
  const share = shareOf(options, over.signal);
  const [holes, refused] = [new Map<string, number>(), new Set<string>()];
  const say = openSessionLog(options.log);
  const news = newsOf(options, say);
  for (let failures = 0; !signal.aborted; ) {
    let stored = false;
    const end = await runSession({
      ...{ watchIntervalMs, creditMax, ...options, ...news, holes, refused, holdings, share },
      onStored: (batch) => {
        stored = true;
        holdings.stored(batch.stream, batch.position.size);
        tell({ kind: 'stored', ...batch });
      },
    });
    say.ended(end);
    tell({ kind: 'ended', end });
    failures = stored ? 1 : failures + 1;
    const waitMs = pauseMs(end, failures);
    progress.promise('session', waitMs);
    await clock.sleep(waitMs, signal);
  }
  holdings.closeAll();
}

/** What a session tells: the log once for each change, and everybody else each time. */
function newsOf(
  { log, instance, tell }: ReadOptions,
  say: ReturnType<typeof openSessionLog>,
): Omit<
  SessionOptions,
  'onStored' | keyof ReadOptions | 'holes' | 'refused' | 'holdings' | 'share' | 'watchIntervalMs'
> {
  const shared = openShareLog(log, instance);
  return {
    onReading: (hub) => {
      say.reading(hub);
      tell({ kind: 'reading', hub });
    },
    onTrouble: (trouble) => tell({ kind: 'trouble', ...trouble }),
    onLook: (partitions) => tell({ kind: 'looked', partitions }),
    onPartitionFault: (partition, fault) => {
      shared.partitionFault(partition, fault);
      tell({ kind: 'partition-fault', partition, fault });
    },
    onOwners: (owners) => {
      shared.owners(owners);
      tell({ kind: 'owners', instance, owners });
    },
    onOwnershipFault: (reason) => {
      shared.ownershipFault(reason);
      tell({ kind: 'ownership-fault', reason });
    },
    onCheckpointFault: (reason) => {
      shared.checkpointFault(reason);
    },
  };
}

function shareOf({ checkpoints, instance, share }: ReadOptions, signal: AbortSignal): ShareSettings | null {
  if (share?.ownership === undefined && checkpoints.type === 'trail') return null;
  const ownership =
    share?.ownership ?? openOwnershipBlobs(openContainer(checkpoints, ownershipMsMax), signal);
  return { intervalMs: shareIntervalMs, expiryMs: shareExpiryMs, ...share, ownership, ownerId: instance };
}
