// Writes checkpoints into the blobs now and then: a hint for whoever measures lag there; nothing is ever read from them.
import type { BlobReason } from '../blobs/fault.ts';
import type { Clock } from '../clock.ts';
import type { ReceivedEvent } from './hub.ts';
import type { OwnershipStore, SharedPlace } from './partition-claims.ts';

export interface CheckpointHints {
  /** The trail has come to this event of the partition. */
  stored(partition: string, event: Pick<ReceivedEvent, 'sequenceNumber' | 'offset'>): void;
  /** Writes what is due. */
  tick(partition: string): void;
  /** Writes what is not written yet; resolves when that is done or has failed, within seconds. */
  flush(partition: string): Promise<void>;
}

export interface HintOptions {
  readonly store: OwnershipStore;
  readonly place: () => SharedPlace | null;
  readonly clock: Clock;
  /** Null when a checkpoint was written. */
  readonly onFault: (reason: BlobReason | null) => void;
}

interface Hint {
  waiting: Pick<ReceivedEvent, 'sequenceNumber' | 'offset'> | null;
  writtenMs: number;
  writing: Promise<void> | null;
}

// A write costs money, and whoever scales by lag looks twice a minute.
const hintMsMin = 5_000;
const flushMsMax = 2_000;

export function openCheckpointHints({ store, place, clock, onFault }: HintOptions): CheckpointHints {
  const hints = new Map<string, Hint>();
  const of = (partition: string): Hint => {
    const known = hints.get(partition) ?? {
      waiting: null,
      writtenMs: Number.NEGATIVE_INFINITY,
      writing: null,
    };
    hints.set(partition, known);
    return known;
  };
  const write = async (partitionId: string, hint: Hint): Promise<void> => {
    const [where, event] = [place(), hint.waiting];
    if (where === null || event === null) return;
    const [fullyQualifiedNamespace, eventHubName, consumerGroup] = where;
    Object.assign(hint, { waiting: null, writtenMs: clock.monotonic() });
    const { sequenceNumber, offset } = event;
    const named = { fullyQualifiedNamespace, eventHubName, consumerGroup, partitionId };
    try {
      await store.updateCheckpoint({ ...named, sequenceNumber, offset });
      onFault(null);
    } catch (error) {
      // The next one is as good.
      hint.waiting ??= event;
      onFault(store.reasonOf(error));
    }
  };
  const start = (partition: string, hint: Hint): Promise<void> => {
    hint.writing ??= write(partition, hint).finally(() => {
      hint.writing = null;
    });
    return hint.writing;
  };
  return {
    stored: (partition, event) => {
      of(partition).waiting = event;
    },
    tick: (partition) => {
      const hint = of(partition);
      if (hint.waiting === null || clock.monotonic() - hint.writtenMs < hintMsMin) return;
      void start(partition, hint);
    },
    flush: async (partition) => {
      const hint = of(partition);
      const limit = new Promise<void>((resolve) => setTimeout(resolve, flushMsMax).unref());
      await Promise.race([hint.writing?.then(() => start(partition, hint)) ?? start(partition, hint), limit]);
    },
  };
}
