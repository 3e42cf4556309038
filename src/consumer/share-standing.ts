// How a consumer stands that shares its hub: which partitions are read here, which by nobody, and whether that is known.
import type { BlobReason } from '../blobs/fault.ts';
import type { Clock } from '../clock.ts';
import type { ConsumerProgress } from './consumer.ts';

/** Who reads a partition. */
export type PartitionOwner = 'here' | 'elsewhere' | 'nobody';

export interface SharingStanding {
  /** Why it is not known who reads what; null while it is. */
  readonly fault: BlobReason | null;
  /** Since it was last known; without that, since the run began. */
  readonly unknownMs: number;
  /** Consumers that own a partition. */
  readonly consumers: number;
  /** Partitions that are read here. */
  readonly here: number;
}

export interface PartitionSharing {
  readonly owner: PartitionOwner;
  /** For how long nobody has read it. */
  readonly unownedMs: number;
  /** For how long it should have been read here and was not. */
  readonly unreadMs: number;
}

export interface ShareStanding {
  take(progress: ConsumerProgress): void;
  /** Null for the only reader of all partitions. */
  sharing(): SharingStanding | null;
  partition(id: string): PartitionSharing;
}

interface Book {
  isShared: boolean;
  fault: BlobReason | null;
  knownMs: number;
  partitions: readonly string[];
  owners: Readonly<Record<string, PartitionOwner>>;
  consumers: number;
  /** By partition: since when nobody reads it, and when it was last read here. */
  readonly unowned: Map<string, number>;
  readonly read: Map<string, number>;
}

export function openShareStanding(clock: Clock): ShareStanding {
  const book: Book = {
    ...{ isShared: false, fault: null, knownMs: clock.monotonic(), partitions: [], owners: {}, consumers: 0 },
    ...{ unowned: new Map(), read: new Map() },
  };
  return {
    take: (progress) => take(book, progress, clock.monotonic()),
    sharing: () => {
      const { isShared, fault, knownMs, consumers, owners } = book;
      const here = Object.values(owners).filter((owner) => owner === 'here').length;
      return isShared ? { fault, unknownMs: clock.monotonic() - knownMs, consumers, here } : null;
    },
    partition: (id) => partitionOf(book, id, clock.monotonic()),
  };
}

function take(book: Book, progress: ConsumerProgress, nowMs: number): void {
  if (progress.kind === 'reading') book.partitions = progress.hub.partitions;
  else if (progress.kind === 'looked') {
    for (const { partition } of progress.partitions) book.read.set(partition, nowMs);
  } else if (progress.kind === 'ownership-fault') {
    Object.assign(book, { isShared: true, fault: progress.reason });
  } else if (progress.kind === 'owners') takeOwners(book, progress, nowMs);
}

function takeOwners(
  book: Book,
  { owners, instance }: Extract<ConsumerProgress, { kind: 'owners' }>,
  nowMs: number,
): void {
  const before = book.owners;
  const named = book.partitions.map((id): [string, PartitionOwner] => {
    const owner = owners.get(id);
    return [id, owner === undefined ? 'nobody' : owner === instance ? 'here' : 'elsewhere'];
  });
  for (const [id, owner] of named) {
    if (owner !== 'nobody') book.unowned.delete(id);
    else if (!book.unowned.has(id)) book.unowned.set(id, nowMs);
    if (owner === 'here' && before[id] !== 'here') book.read.set(id, nowMs);
  }
  const consumers = new Set(owners.values()).size;
  Object.assign(book, { isShared: true, knownMs: nowMs, owners: Object.fromEntries(named), consumers });
}

function partitionOf({ isShared, owners, unowned, read }: Book, id: string, nowMs: number): PartitionSharing {
  const owner = isShared ? (owners[id] ?? 'nobody') : 'here';
  const since = (moment: number | undefined): number => (moment === undefined ? 0 : nowMs - moment);
  const unreadMs = isShared && owner === 'here' ? since(read.get(id)) : 0;
  return { owner, unownedMs: owner === 'nobody' ? since(unowned.get(id)) : 0, unreadMs };
}
