// Reads this consumer's share of the partitions: opens what it is granted, and lets go of what it loses.
import type { EventPosition } from '@azure/event-hubs';
import type { UnavailableReason } from '../audit/store.ts';
import type { BlobReason } from '../blobs/fault.ts';
import type { Clock } from '../clock.ts';
import { type CheckpointHints, openCheckpointHints } from './checkpoint-hints.ts';
import {
  type HubConnection,
  type HubDescription,
  positionAt,
  type ReceivedEvent,
  type Sharing,
} from './hub.ts';
import {
  type Claims,
  type Holding,
  type Owners,
  type OwnershipStore,
  OwnershipUnknown,
  openClaims,
} from './partition-claims.ts';
import { openPartitionFeed, type PartitionFeed } from './partition-feed.ts';
import { type FeedStart, type Reading, type ReadingOptions, startOf, streamOf } from './reading.ts';

/** How several consumers share a hub. */
export interface ShareSettings {
  readonly ownership: OwnershipStore;
  /** What the others know this consumer by. */
  readonly ownerId: string;
  readonly intervalMs: number;
  readonly expiryMs: number;
}

export interface SharedReadingOptions extends ReadingOptions {
  readonly clock: Clock;
  readonly onOwners: (owners: Owners) => void;
  readonly onOwnershipFault: (reason: BlobReason | null) => void;
  readonly onCheckpointFault: (reason: BlobReason | null) => void;
  /** The hub did not let the partitions be shared out. */
  readonly onShareFault: (error: unknown) => void;
}

/** A share that is not read yet: made before the connection, which it is given. */
export interface Share {
  readonly sharing: Sharing;
  read(connection: HubConnection, hub: HubDescription): Reading;
  /** Nothing more is claimed; what is owned can be released. */
  release(): void;
  /** Nothing is owned any more. */
  letGo(): void;
}

interface OpenPartition {
  readonly feed: PartitionFeed;
  readonly stream: string;
  readonly over: AbortController;
  /** By the monotonic clock; null while it is read. */
  givenUpMs: number | null;
  isClosing: boolean;
}

// The SDK calls at least every second, and hears then that the partition is given up; by now its reader hangs.
const giveUpMsMax = 5_000;
// A round asks the hub first, and a connection that drops meanwhile holds the SDK for a minute and a half.
const roundMsMax = 20_000;

interface State {
  readonly options: SharedReadingOptions;
  readonly hints: CheckpointHints;
  readonly starts: Map<string, FeedStart>;
  readonly open: Map<string, OpenPartition>;
  readonly startPositions: Record<string, EventPosition>;
  hub: HubDescription | null;
  /** When a round of claims last began, by the monotonic clock. */
  roundMs: number;
}

export function openShare(
  { ownership, ownerId, intervalMs, expiryMs }: ShareSettings,
  options: SharedReadingOptions,
): Share {
  const claims: Claims = openClaims({
    ...{ store: ownership, ownerId, expiryMs, clock: options.clock },
    holding: (partition) => holdingOf(state, partition),
    begin: (partition) => begin(state, partition),
    onLost: (partition) => giveUp(state, partition),
    onRound: () => {
      state.roundMs = options.clock.monotonic();
    },
    onOwners: (owners) => takeOwners(state, owners, ownerId),
    onFault: options.onOwnershipFault,
  });
  const { clock, onCheckpointFault } = options;
  const hints = openCheckpointHints({
    store: ownership,
    place: claims.place,
    clock,
    onFault: onCheckpointFault,
  });
  const { checkpointStore, startPositions } = claims;
  const state: State = {
    options,
    hints,
    starts: new Map(),
    open: new Map(),
    startPositions,
    hub: null,
    roundMs: 0,
  };
  return {
    sharing: { ownerId, checkpointStore, startPositions, intervalMs, expiryMs },
    read: (connection, hub) => read(state, connection, hub, expiryMs),
    release: claims.release,
    letGo: () => {
      const { hub } = state;
      for (const partition of hub?.partitions ?? [])
        if (hub) options.holdings.closed(streamOf(hub, partition));
    },
  };
}

function read(state: State, connection: HubConnection, hub: HubDescription, expiryMs: number): Reading {
  const { options } = state;
  state.roundMs = options.clock.monotonic();
  state.hub = hub;
  // The SDK takes no empty map. A claim says where reading really goes on.
  for (const partition of hub.partitions) state.startPositions[partition] = positionAt(-1);
  connection.share({
    opened: (partition) => openPartition(state, partition),
    take: (partition, events) => take(state, partition, events),
    closed: (partition) => closePartition(state, partition),
    failed: (partition, error) => {
      if (error instanceof GivenUp || error instanceof OwnershipUnknown) return;
      if (partition === null) state.options.onShareFault(error);
      else state.options.onPartitionFault(partition, streamOf(hub, partition), error);
    },
  });
  return {
    feeds: () => [...state.open.values()].map(({ feed }) => feed),
    restart: (partition) => {
      giveUp(state, partition);
      const givenUpMs = state.open.get(partition)?.givenUpMs ?? null;
      return givenUpMs === null || state.options.clock.monotonic() - givenUpMs < giveUpMsMax;
    },
    isStuck: () => options.clock.monotonic() - state.roundMs > Math.max(expiryMs, roundMsMax),
    settled: async () => {
      await Promise.all([...state.open.values()].map(({ feed }) => feed.settled()));
    },
  };
}

/** The SDK's next call ends its reader; a round of claims later another one begins where the trail stands. */
function giveUp({ open, options }: State, partition: string): void {
  const known = open.get(partition);
  if (known === undefined) return;
  known.givenUpMs ??= options.clock.monotonic();
  known.over.abort();
}

function holdingOf({ open }: State, partition: string): Holding {
  const known = open.get(partition);
  if (known === undefined) return 'none';
  return known.isClosing ? 'closing' : 'held';
}

/** Where the trail stands with a partition that is about to be claimed; null when it does not say. */
async function begin({ options, starts, hub }: State, partition: string): Promise<EventPosition | null> {
  if (hub === null || options.over.aborted) return null;
  const known = await startOf(options.trail, streamOf(hub, partition));
  const reason: UnavailableReason | null = 'status' in known ? known.reason : null;
  options.onTrouble({ partition, reason });
  if ('status' in known) return null;
  starts.set(partition, known);
  return positionAt(known.start.lastSequenceNumber);
}

function openPartition(state: State, partition: string): void {
  const { options, hub, starts, open } = state;
  const known = starts.get(partition);
  if (hub === null || known === undefined) return;
  const stream = streamOf(hub, partition);
  const over = new AbortController();
  const signal = AbortSignal.any([options.over, over.signal]);
  const onHole = (): void => giveUp(state, partition);
  const onRefused = (why: Error): void => options.onPartitionFault(partition, stream, why);
  const feed = openPartitionFeed({ ...options, ...known, partition, stream, signal, onHole, onRefused });
  open.set(partition, { feed, stream, over, givenUpMs: null, isClosing: false });
  options.holdings.opened(stream, known.start.size);
}

/** Not retryable: the SDK ends the reader of the partition, and does not go on with what comes next. */
class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

/** @throws when the partition is to be given up: what the SDK brings from then on would leave something out */
async function take(state: State, partition: string, events: readonly ReceivedEvent[]): Promise<void> {
  const open = state.open.get(partition);
  if (open === undefined || open.over.signal.aborted || open.isClosing) throw new GivenUp();
  await open.feed.take(events);
  if (events.length > 0 && !open.feed.isRefused()) {
    state.options.onPartitionFault(partition, open.stream, null);
  }
  const { lastSequenceNumber } = open.feed.position();
  const stored = events.find(({ sequenceNumber }) => sequenceNumber === lastSequenceNumber);
  if (stored !== undefined) state.hints.stored(partition, stored);
  state.hints.tick(partition);
}

/** Nothing of a partition outlives this: whoever gets it back reads it from where the trail stands then. */
async function closePartition({ open, starts, hints }: State, partition: string): Promise<void> {
  const closing = open.get(partition);
  if (closing === undefined) return;
  closing.isClosing = true;
  closing.over.abort();
  await closing.feed.settled();
  await hints.flush(partition);
  open.delete(partition);
  starts.delete(partition);
}

/** A stream is closed in the journal when somebody else has it, and not for each new link. */
function takeOwners({ options, hub }: State, owners: Owners, ownerId: string): void {
  for (const partition of hub?.partitions ?? []) {
    const owner = owners.get(partition);
    if (hub !== null && owner !== undefined && owner !== ownerId) {
      options.holdings.closed(streamOf(hub, partition));
    }
  }
  options.onOwners(owners);
}
