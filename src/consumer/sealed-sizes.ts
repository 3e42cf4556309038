// Knows what the seals of a trail have named, whoever sealed: where each stream stood in the last seal that named it.
import type { StoredEntry, TrailStore, Unavailable } from '../audit/store.ts';
import { sealOf } from '../core/seal.ts';

/** What the seals say up to the last one. */
export interface Sealed {
  readonly status: 'known';
  /** The last seal; null while there is none. */
  readonly last: StoredEntry | null;
  /** Entries of a stream that are sealed; 0 for one that no seal named that was read. */
  sizeOf(stream: string): number;
}

// A seal every 30 s, for a working day. What was named only before is named once more: that costs a line, and is right.
const readBackMax = 1_000;
const readAtOnce = 200;

/**
 * Follows one stream of seals.
 * @returns reads what came since the last call
 */
export function followSeals(trail: TrailStore, stream: string): () => Promise<Sealed | Unavailable> {
  const sizes = new Map<string, number>();
  let next = 0;
  return async () => {
    const known = await trail.tail(stream);
    if (known.status === 'unavailable') return known;
    const end = known.tail === null ? 0 : known.tail.index + 1;
    next = Math.max(next, end - readBackMax);
    while (next < end) {
      const read = await trail.read(stream, next, Math.min(readAtOnce, end - next));
      if (read.status === 'unavailable') return read;
      learn(sizes, read.entries);
      next += Math.max(read.entries.length, 1);
    }
    return { status: 'known', last: known.tail, sizeOf: (name) => sizes.get(name) ?? 0 };
  };
}

function learn(sizes: Map<string, number>, entries: readonly StoredEntry[]): void {
  for (const { body, enqueuedMs } of entries) {
    const seal = body === null ? null : sealOf({ body, enqueuedMs });
    for (const { stream, size } of seal?.heads ?? []) sizes.set(stream, size);
  }
}
