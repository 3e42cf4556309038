// Says in the journal which partitions this consumer has opened and closed: each once, however often it reconnects.
import type { JournalFact } from '../core/journal.ts';

export interface PartitionHoldings {
  /** Reading begins at `size`; nothing happens when it is open already. */
  opened(stream: string, size: number): void;
  /** The stream has grown. */
  stored(stream: string, size: number): void;
  closed(stream: string): void;
  /** The consumer stops. */
  closeAll(): void;
}

/**
 * @param instance who opens and closes
 * @param add takes a fact for the journal, and writes it when it can
 */
export function openPartitionHoldings(instance: string, add: (fact: JournalFact) => void): PartitionHoldings {
  const sizes = new Map<string, number>();
  const closed = (stream: string): void => {
    const size = sizes.get(stream);
    if (size === undefined) return;
    sizes.delete(stream);
    add({ kind: 'partition-closed', instance, stream, size });
  };
  return {
    opened: (stream, size) => {
      if (sizes.has(stream)) return;
      sizes.set(stream, size);
      add({ kind: 'partition-opened', instance, stream, size });
    },
    stored: (stream, size) => {
      if (sizes.has(stream)) sizes.set(stream, size);
    },
    closed,
    closeAll: () => {
      for (const stream of [...sizes.keys()]) closed(stream);
    },
  };
}
