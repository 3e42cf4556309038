// Who owns which partition, kept in this process as the blobs keep it: claims by etag, dated by a clock of its own.
import type { Checkpoint, PartitionOwnership } from '@azure/event-hubs';
import type { BlobReason } from '../../src/blobs/fault.ts';
import type { OwnershipStore } from '../../src/consumer/partition-claims.ts';

/** One container of ownership; any number of consumers share it. */
export interface MemoryOwnership extends OwnershipStore {
  /** Owner by partition; '' where it was released. */
  owners(): Readonly<Record<string, string>>;
  readonly checkpoints: readonly Checkpoint[];
  /** How many claims were written. */
  readonly claims: number;
  /** Every request fails with this from now on; null ends it. */
  fail(reason: BlobReason | null): void;
  /** Gives a partition to somebody, as a claim without an etag does. */
  give(partition: string, ownerId: string): void;
  /** Ms by which the clock that dates claims is ahead of this machine's. */
  aheadMs: number;
}

class Refused extends Error {
  readonly reason: BlobReason;
  constructor(reason: BlobReason) {
    super(reason);
    this.reason = reason;
  }
}

export function openMemoryOwnership(): MemoryOwnership {
  const owned = new Map<string, PartitionOwnership>();
  const checkpoints: Checkpoint[] = [];
  const state = { aheadMs: 0, claims: 0 };
  let fault: BlobReason | null = null;
  const check = (): void => {
    if (fault !== null) throw new Refused(fault);
  };
  const write = (ownership: PartitionOwnership): PartitionOwnership => {
    state.claims += 1;
    const lastModifiedTimeInMs = Date.now() + state.aheadMs;
    const written = { ...ownership, etag: `"${state.claims}"`, lastModifiedTimeInMs };
    owned.set(ownership.partitionId, written);
    return written;
  };
  return Object.assign(state, {
    checkpoints,
    owners: () => Object.fromEntries([...owned].map(([partition, { ownerId }]) => [partition, ownerId])),
    fail: (reason: BlobReason | null) => {
      fault = reason;
    },
    give: (partitionId: string, ownerId: string) => {
      const [any] = owned.values();
      if (any !== undefined) write({ ...any, partitionId, ownerId });
    },
    serverNow: async () => {
      check();
      return Date.now() + state.aheadMs;
    },
    reasonOf: (error: unknown): BlobReason => (error instanceof Refused ? error.reason : 'unexpected'),
    listOwnership: async () => {
      check();
      // Lists give an etag without its quotes.
      return [...owned.values()].map((each) => ({ ...each, etag: each.etag?.replaceAll('"', '') ?? '' }));
    },
    claimOwnership: async (requests: PartitionOwnership[]) => {
      check();
      return requests.filter(({ partitionId, etag }) => matches(owned.get(partitionId), etag)).map(write);
    },
    updateCheckpoint: async (checkpoint: Checkpoint) => {
      check();
      checkpoints.push(checkpoint);
    },
  });
}

/** A claim without an etag takes whatever stands there, as in the blobs. */
const matches = (known: PartitionOwnership | undefined, etag: string | undefined): boolean =>
  etag === undefined || etag.replaceAll('"', '') === known?.etag?.replaceAll('"', '');
