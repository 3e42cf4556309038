// Claims partitions for this consumer: the SDK's view of who owns what, and where each partition is to be read from.
import type { CheckpointStore, EventPosition, PartitionOwnership } from '@azure/event-hubs';
import type { BlobReason } from '../blobs/fault.ts';
import type { Clock } from '../clock.ts';

/** Where it is kept who owns what, for every consumer alike. */
export interface OwnershipStore
  extends Pick<CheckpointStore, 'listOwnership' | 'claimOwnership' | 'updateCheckpoint'> {
  /** Epoch ms by the clock that dates ownership. */
  serverNow(): Promise<number>;
  /** Names what went wrong with one of its requests. */
  reasonOf(error: unknown): BlobReason;
}

/** Hub and group, as the SDK names them in every request. */
export type SharedPlace = readonly [fullyQualifiedNamespace: string, eventHubName: string, group: string];

/** Who owned what at one moment, by partition; what nobody owns is not there. */
export type Owners = ReadonlyMap<string, string>;

/** How a partition stands with this consumer; `closing` is one whose last batch is still in hand. */
export type Holding = 'none' | 'held' | 'closing';

export interface ClaimsOptions {
  readonly ownerId: string;
  readonly store: OwnershipStore;
  readonly expiryMs: number;
  readonly clock: Clock;
  readonly holding: (partition: string) => Holding;
  /** Where a partition that is not held yet is to be read from; null when it must not be claimed now. */
  readonly begin: (partition: string) => Promise<EventPosition | null>;
  /** Somebody else owns a partition that is held here. */
  readonly onLost: (partition: string) => void;
  /** The SDK has begun another round of claims. */
  readonly onRound: () => void;
  readonly onOwners: (owners: Owners) => void;
  /** Null when the store has answered. */
  readonly onFault: (reason: BlobReason | null) => void;
}

/** Nobody said who owns what; `onFault` has named the reason. */
export class OwnershipUnknown extends Error {
  override readonly name = 'OwnershipUnknown';
}

export interface Claims {
  readonly checkpointStore: CheckpointStore;
  /** What the SDK reads behind a claim; it must not be empty when reading begins. */
  readonly startPositions: Record<string, EventPosition>;
  /** Null before the first request. */
  readonly place: () => SharedPlace | null;
  /** Nothing is claimed from now on; what is owned can be released. */
  release(): void;
}

interface State extends ClaimsOptions {
  readonly startPositions: Record<string, EventPosition>;
  /** When a claim was last written, by partition. */
  readonly written: Map<string, { readonly etag: string | undefined; readonly atMs: number }>;
  place: SharedPlace | null;
  isReleasing: boolean;
}

export function openClaims(options: ClaimsOptions): Claims {
  const state: State = {
    ...{ ...options, startPositions: {}, written: new Map(), place: null, isReleasing: false },
  };
  const { store } = options;
  const told = async <Answer>(request: () => Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await request();
      options.onFault(null);
      return answer;
    } catch (error) {
      options.onFault(store.reasonOf(error));
      throw new OwnershipUnknown();
    }
  };
  return {
    startPositions: state.startPositions,
    place: () => state.place,
    release: () => {
      state.isReleasing = true;
    },
    checkpointStore: {
      listOwnership: (...place) => told(() => listOwnership(state, [place[0], place[1], place[2]])),
      claimOwnership: (requests) => told(() => claimOwnership(state, requests)),
      // The trail knows where reading goes on. A checkpoint's offset would be used instead, and nothing else of it.
      listCheckpoints: async () => [],
      updateCheckpoint: (checkpoint) => store.updateCheckpoint(checkpoint),
    },
  };
}

async function listOwnership(state: State, place: SharedPlace): Promise<PartitionOwnership[]> {
  const { store, ownerId, holding, isReleasing } = state;
  state.place = place;
  state.onRound();
  const serverNow = await store.serverNow();
  const listed = await store.listOwnership(...place);
  // The SDK compares with its own clock. A machine whose clock is wrong would steal what is alive, or never take over.
  const aheadMs = Date.now() - serverNow;
  const dated = listed.map((each) => {
    const { lastModifiedTimeInMs: at } = each;
    return at === undefined ? each : { ...each, lastModifiedTimeInMs: at + aheadMs };
  });
  if (isReleasing) return dated;
  takeOwners(state, dated);
  // Ours without a reader, such as one that met a hole: free, so that the SDK claims it anew and not after its expiry.
  return dated.map((each) =>
    each.ownerId === ownerId && holding(each.partitionId) === 'none' ? { ...each, ownerId: '' } : each,
  );
}

function takeOwners({ ownerId, expiryMs, holding, onLost, onOwners }: State, listed: PartitionOwnership[]) {
  const alive = listed.filter(
    ({ ownerId: owner, lastModifiedTimeInMs: at }) =>
      owner !== '' && at !== undefined && Date.now() - at < expiryMs,
  );
  for (const { ownerId: owner, partitionId } of alive) {
    // A reader that is robbed while its batch is in hand is not told, and would take the partition back.
    if (owner !== ownerId && holding(partitionId) === 'held') onLost(partitionId);
  }
  onOwners(new Map(alive.map(({ partitionId, ownerId: owner }) => [partitionId, owner])));
}

async function claimOwnership(state: State, requests: PartitionOwnership[]): Promise<PartitionOwnership[]> {
  const { store, holding, begin, startPositions, isReleasing } = state;
  const granted: PartitionOwnership[] = [];
  for (const request of requests) {
    const { partitionId, ownerId } = request;
    if (ownerId !== '') {
      const stands = holding(partitionId);
      if (isReleasing || stands === 'closing') continue;
      if (stands === 'held' && isFresh(state, request)) {
        granted.push(request);
        continue;
      }
      // Before the claim: what cannot be stored here is left to others. Reading too much costs nothing.
      const start = stands === 'held' ? undefined : await begin(partitionId);
      if (start === null) continue;
      if (start !== undefined) startPositions[partitionId] = start;
    }
    const claimed = await store.claimOwnership([request]);
    for (const { etag } of claimed) state.written.set(partitionId, { etag, atMs: state.clock.monotonic() });
    granted.push(...claimed);
  }
  return granted;
}

// Each renewal is a write that is paid for; three in an expiry are enough to miss one or two.
const renewalsPerExpiry = 3;

const isFresh = ({ written, clock, expiryMs }: State, { partitionId, etag }: PartitionOwnership): boolean => {
  const last = written.get(partitionId);
  return (
    last !== undefined &&
    bare(last.etag) === bare(etag) &&
    clock.monotonic() - last.atMs < expiryMs / renewalsPerExpiry - Math.min(1_000, expiryMs / 10)
  );
};

/** Lists give it without the quotes that answers put around it. */
const bare = (etag: string | undefined): string | undefined => etag?.replaceAll('"', '');
