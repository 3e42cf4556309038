// How the consumer stands: folded from what it tells of itself, for its status page and the service manager.
import type { UnavailableReason } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { ConsumerProgress } from './consumer.ts';
import type { HubDescription } from './hub.ts';
import { hubAdviceOf } from './hub-advice.ts';
import type { HubFault } from './hub-fault.ts';
import { type KeepingStanding, openKeepingStanding } from './keeping-standing.ts';
import type { NoticesStanding } from './notify/standing.ts';
import type { SessionEnd } from './session.ts';
import { needsPerson } from './session-log.ts';
import { openShareStanding, type PartitionSharing, type SharingStanding } from './share-standing.ts';
import type { PartitionLook } from './watchdog.ts';

/**
 * `opening`: nothing proven yet in this run. `reading`: the last session has read or looked. `failing`: it broke off,
 * and begins anew. `refused`: something is wrong that a person must mend.
 */
export type HubState = 'opening' | 'reading' | 'failing' | 'refused';

/** The consumer at one moment. */
export interface Standing {
  readonly hub: {
    readonly state: HubState;
    /** Why, in one word or two. */
    readonly detail: string;
    /** What a person may do about it; null when there is nothing to do. */
    readonly advice: string | null;
    /** Epoch ms since when the state is what it is. */
    readonly since: number;
    /** Null before the first session. */
    readonly description: HubDescription | null;
    /** Since all partitions were last known to be read; without that, since the run began. */
    readonly readAgeMs: number;
  };
  /** Why the trail takes nothing; null while it does. */
  readonly trailFault: UnavailableReason | null;
  /** How the partitions are shared; null for the only reader of them all. */
  readonly sharing: SharingStanding | null;
  /** How the proofs of the trail stand. */
  readonly keeping: KeepingStanding;
  /** How the notices stand; null for a consumer that sends none. */
  readonly notices: NoticesStanding | null;
  /** By id, in the order of the hub. */
  readonly partitions: Readonly<Record<string, PartitionStanding>>;
}

export interface PartitionStanding extends PartitionSharing {
  /** Events in the hub that the trail does not have yet; null before the first look. */
  readonly lagEvents: number | null;
  /** Since the last commit; without one, since the run began. */
  readonly commitAgeMs: number;
  /** For how long events have been waiting without a commit; 0 when none wait. */
  readonly stuckMs: number;
  /** Why it brings nothing while others do; null when it does. */
  readonly fault: HubFault | null;
}

export interface StandingBook {
  take(progress: ConsumerProgress): void;
  now(): Standing;
}

interface Partition {
  last: number | null;
  at: number;
  committedMs: number;
  /** By the monotonic clock; null while nothing waits. */
  behindMs: number | null;
  fault: UnavailableReason | null;
  hubFault: HubFault | null;
  isRewound: boolean;
}

interface Book {
  state: HubState;
  detail: string;
  advice: string | null;
  since: number;
  description: HubDescription | null;
  provenMs: number;
  sessionFault: UnavailableReason | null;
  /** Why the seals cannot be looked at: all that tells of the store where no partition brings anything. */
  sealFault: UnavailableReason | null;
  readonly partitions: Map<string, Partition>;
  readonly openedMs: number;
}

export function openStanding(clock: Clock): StandingBook {
  const openedMs = clock.monotonic();
  const book: Book = {
    ...{ state: 'opening', detail: 'not read yet', advice: null, since: clock.now(), description: null },
    ...{ provenMs: openedMs, sessionFault: null, sealFault: null, partitions: new Map(), openedMs },
  };
  const [share, keeping] = [openShareStanding(clock), openKeepingStanding(clock)];
  return {
    take: (progress) => {
      share.take(progress);
      keeping.take(progress);
      take(book, progress, clock);
      const sharing = share.sharing();
      if (progress.kind !== 'looked' || sharing === null) return;
      const { here } = sharing;
      const detail = `${here} of ${book.description?.partitions.length ?? 0} partitions are read here`;
      change(book, 'reading', here === 0 ? 'standing by: no partition is read here' : detail, clock);
    },
    now: () => {
      const standing = standingOf(book, clock.monotonic());
      const partitions = Object.entries(standing.partitions).map(([id, each]) => [
        id,
        { ...each, ...share.partition(id) },
      ]);
      return {
        ...standing,
        ...{ sharing: share.sharing(), keeping: keeping.now(), notices: null },
        partitions: Object.fromEntries(partitions),
      };
    },
  };
}

function take(book: Book, progress: ConsumerProgress, clock: Clock): void {
  const nowMs = clock.monotonic();
  switch (progress.kind) {
    case 'reading':
      book.description = progress.hub;
      book.sessionFault = null;
      return;
    case 'ended':
      takeEnd(book, progress.end, clock);
      return;
    case 'seals':
      book.sealFault = null;
      return;
    case 'seals-unreadable':
      book.sealFault = progress.reason;
      return;
    case 'partition-fault':
      partitionOf(book, progress.partition).hubFault = progress.fault;
      return;
    case 'owners':
      // What another consumer reads is not behind here, and not at fault.
      for (const [partition, owner] of progress.owners) {
        if (owner !== progress.instance) book.partitions.delete(partition);
      }
      return;
    case 'ownership-fault':
      return;
    case 'trouble':
      partitionOf(book, progress.partition).fault = progress.reason;
      return;
    case 'stored':
      // The store takes something again: the next look at the seals need not be waited for.
      book.sealFault = null;
      takeCommit(partitionOf(book, progress.partition), progress.position.lastSequenceNumber, nowMs);
      return;
    case 'looked':
      for (const look of progress.partitions) takeLook(partitionOf(book, look.partition), look, nowMs);
      // A session is proven when the hub has answered for every partition, not when it begins.
      book.provenMs = nowMs;
      change(book, 'reading', 'all partitions are read', clock);
  }
}

function takeEnd(book: Book, end: SessionEnd, clock: Clock): void {
  book.sessionFault = end.reason === 'trail-unavailable' ? end.fault : null;
  // What a partition could not store is read again, and told again, by the next session.
  for (const partition of book.partitions.values()) partition.fault = null;
  if (end.reason === 'failed' || end.reason === 'silent') {
    change(book, needsPerson.has(end.fault) ? 'refused' : 'failing', end.fault, clock);
    book.advice = hubAdviceOf(end.fault);
  } else if (end.reason === 'stalled') change(book, 'failing', `partition ${end.partition} stalled`, clock);
  else if (end.reason === 'sharing-stalled') change(book, 'failing', 'sharing stalled', clock);
}

function change(book: Book, state: HubState, detail: string, clock: Clock): void {
  if (book.state !== state) book.since = clock.now();
  Object.assign(book, { state, detail, advice: null });
}

function partitionOf(book: Book, id: string): Partition {
  const known = book.partitions.get(id);
  if (known !== undefined) return known;
  const fresh = freshPartition(book.openedMs);
  book.partitions.set(id, fresh);
  return fresh;
}

const freshPartition = (openedMs: number): Partition => ({
  ...{
    last: null,
    at: -1,
    committedMs: openedMs,
    behindMs: null,
    fault: null,
    hubFault: null,
    isRewound: false,
  },
});

function takeCommit(partition: Partition, at: number, nowMs: number): void {
  const isBehind = partition.last !== null && partition.last > at;
  Object.assign(partition, { at, committedMs: nowMs, behindMs: isBehind ? nowMs : null });
}

function takeLook(partition: Partition, { last, at, isRewound }: PartitionLook, nowMs: number): void {
  const behindMs = last > at ? (partition.behindMs ?? nowMs) : null;
  Object.assign(partition, { last, at, behindMs, isRewound });
}

function standingOf(book: Book, nowMs: number): Omit<Standing, 'sharing' | 'keeping' | 'notices'> {
  const { state, detail, advice, since, description, provenMs, sessionFault, sealFault } = book;
  const { partitions, openedMs } = book;
  const ids = description?.partitions ?? [];
  const faults = [...partitions.values()].map(({ fault }) => fault);
  const fresh = freshPartition(openedMs);
  return {
    hub: { state, detail, advice, since, description, readAgeMs: nowMs - provenMs },
    trailFault: sessionFault ?? faults.find((fault) => fault !== null) ?? sealFault,
    partitions: Object.fromEntries(
      ids.map((id) => [id, partitionStanding(partitions.get(id) ?? fresh, nowMs)]),
    ),
  };
}

const partitionStanding = (
  { last, at, committedMs, behindMs, hubFault, isRewound }: Partition,
  nowMs: number,
): PartitionStanding => ({
  ...{ owner: 'here', unownedMs: 0, unreadMs: 0 },
  fault: hubFault ?? (isRewound ? 'position-refused' : null),
  lagEvents: last === null ? null : Math.max(last - at, 0),
  commitAgeMs: nowMs - committedMs,
  stuckMs: behindMs === null ? 0 : nowMs - behindMs,
});
