// How the consumer stands: folded from what it tells of itself, for its status page and the service manager.
import type { UnavailableReason } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { ConsumerProgress } from './consumer.ts';
import type { HubDescription } from './hub.ts';
import { hubAdviceOf } from './hub-advice.ts';
import type { SessionEnd } from './session.ts';
import { needsPerson } from './session-log.ts';

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
  /** By id, in the order of the hub. */
  readonly partitions: Readonly<Record<string, PartitionStanding>>;
}

export interface PartitionStanding {
  /** Events in the hub that the trail does not have yet; null before the first look. */
  readonly lagEvents: number | null;
  /** Since the last commit; without one, since the run began. */
  readonly commitAgeMs: number;
  /** For how long events have been waiting without a commit; 0 when none wait. */
  readonly stuckMs: number;
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
}

interface Book {
  state: HubState;
  detail: string;
  advice: string | null;
  since: number;
  description: HubDescription | null;
  provenMs: number;
  sessionFault: UnavailableReason | null;
  readonly partitions: Map<string, Partition>;
  readonly openedMs: number;
}

export function openStanding(clock: Clock): StandingBook {
  const openedMs = clock.monotonic();
  const book: Book = {
    ...{ state: 'opening', detail: 'not read yet', advice: null, since: clock.now(), description: null },
    ...{ provenMs: openedMs, sessionFault: null, partitions: new Map(), openedMs },
  };
  return { take: (progress) => take(book, progress, clock), now: () => standingOf(book, clock.monotonic()) };
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
    case 'trouble':
      partitionOf(book, progress.partition).fault = progress.reason;
      return;
    case 'stored':
      takeCommit(partitionOf(book, progress.partition), progress.position.lastSequenceNumber, nowMs);
      return;
    case 'looked':
      for (const { partition, last, at } of progress.partitions) {
        takeLook(partitionOf(book, partition), last, at, nowMs);
      }
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
}

function change(book: Book, state: HubState, detail: string, clock: Clock): void {
  if (book.state !== state) book.since = clock.now();
  Object.assign(book, { state, detail, advice: null });
}

function partitionOf(book: Book, id: string): Partition {
  const known = book.partitions.get(id);
  if (known !== undefined) return known;
  const fresh = { last: null, at: -1, committedMs: book.openedMs, behindMs: null, fault: null };
  book.partitions.set(id, fresh);
  return fresh;
}

function takeCommit(partition: Partition, at: number, nowMs: number): void {
  const isBehind = partition.last !== null && partition.last > at;
  Object.assign(partition, { at, committedMs: nowMs, behindMs: isBehind ? nowMs : null });
}

function takeLook(partition: Partition, last: number, at: number, nowMs: number): void {
  Object.assign(partition, { last, at, behindMs: last > at ? (partition.behindMs ?? nowMs) : null });
}

function standingOf(book: Book, nowMs: number): Standing {
  const { state, detail, advice, since, description, provenMs, sessionFault, partitions, openedMs } = book;
  const ids = description?.partitions ?? [];
  const faults = [...partitions.values()].map(({ fault }) => fault);
  const fresh: Partition = { last: null, at: -1, committedMs: openedMs, behindMs: null, fault: null };
  return {
    hub: { state, detail, advice, since, description, readAgeMs: nowMs - provenMs },
    trailFault: sessionFault ?? faults.find((fault) => fault !== null) ?? null,
    partitions: Object.fromEntries(
      ids.map((id) => [id, partitionStanding(partitions.get(id) ?? fresh, nowMs)]),
    ),
  };
}

const partitionStanding = (
  { last, at, committedMs, behindMs }: Partition,
  nowMs: number,
): PartitionStanding => ({
  lagEvents: last === null ? null : Math.max(last - at, 0),
  commitAgeMs: nowMs - committedMs,
  stuckMs: behindMs === null ? 0 : nowMs - behindMs,
});
