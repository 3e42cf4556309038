// Takes the batches of one partition into the trail: never throws, never leaves one out, waits while the store is down.
import type { AppendCounts, StreamPosition, TrailStore, UnavailableReason } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { JournalFact } from '../core/journal.ts';
import { type HubEvent, type Leaf, leafOf, leafText } from '../core/leaf.ts';
import type { Log } from '../log.ts';
import { prefetchCount } from './hub.ts';
import { HistoryChanged, type HubRewound } from './hub-fault.ts';
import type { Progress } from './progress.ts';

/** What was stored of one batch. */
export interface StoredBatch {
  readonly partition: string;
  readonly stream: string;
  readonly counts: AppendCounts;
  readonly position: StreamPosition;
}

/** Why a partition cannot be stored; null when it is stored again. */
export interface Trouble {
  readonly partition: string;
  readonly reason: UnavailableReason | null;
}

export interface FeedOptions {
  readonly partition: string;
  readonly stream: string;
  /** Where the trail stands when reading begins. */
  readonly start: StreamPosition;
  /** The stream's last entry, which the hub gives once more to be compared; null when there is none. */
  readonly tail: Leaf | null;
  readonly trail: TrailStore;
  /** Holes that were seen before, by stream: the sequence number behind each. */
  readonly holes: Map<string, number>;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the session is over: a batch that cannot be stored is then left to the next one. */
  readonly signal: AbortSignal;
  readonly onStored: (batch: StoredBatch) => void;
  readonly onTrouble: (trouble: Trouble) => void;
  /** Events are missing between the trail and this batch: reading must begin anew. */
  readonly onHole: () => void;
  /** The hub's history is another one than the trail's: nothing of it may follow what stands there. */
  readonly onRefused: (why: HistoryChanged | HubRewound) => void;
}

export interface PartitionFeed {
  readonly partition: string;
  readonly stream: string;
  readonly position: () => StreamPosition;
  /** Whether a batch is being stored. */
  readonly busy: () => boolean;
  /** Whether nothing is taken, as the hub's history is another one. */
  readonly isRefused: () => boolean;
  /** The hub's history is another one: takes nothing from now on. */
  readonly refuse: (why: HistoryChanged | HubRewound) => void;
  /** Events that the SDK may fetch ahead by now, because each wait allows it more. */
  readonly creditSurplus: () => number;
  /** Stores a batch; returns when it is durable, or when the session is over. */
  readonly take: (events: readonly HubEvent[]) => Promise<void>;
  /** Resolves when no batch is in hand. */
  readonly settled: () => Promise<void>;
}

export function openPartitionFeed(options: FeedOptions): PartitionFeed {
  const { partition, signal } = options;
  const store = createStorer(options);
  let position = options.start;
  let inHand: Promise<void> | null = null;
  let creditSurplus = 0;
  let isBroken = false;
  let refused: HistoryChanged | HubRewound | null = null;

  const refuse = (why: HistoryChanged | HubRewound): void => {
    // A hub that held less than the trail may have grown beyond it since: then it is another history.
    const isNews = refused === null || (why.name === 'HistoryChanged' && refused.name !== why.name);
    if (isNews) options.onRefused(why);
    refused = isNews ? why : refused;
  };
  const take = async (events: readonly HubEvent[]): Promise<void> => {
    if (differs(options.tail, events)) refuse(new HistoryChanged());
    if (refused !== null) return;
    const fresh = events.filter(({ sequenceNumber }) => sequenceNumber > position.lastSequenceNumber);
    for (const run of runsOf(fresh)) {
      // The SDK goes on calling for a while; what it brings then is read again by the next session.
      if (isBroken || signal.aborted) return;
      isBroken = isDoubtful(options, position, run);
      if (isBroken) options.onHole();
      else position = await store(position, run);
    }
  };

  return {
    ...{ partition, stream: options.stream },
    position: () => position,
    busy: () => inHand !== null,
    isRefused: () => refused !== null,
    refuse,
    creditSurplus: () => creditSurplus,
    take: async (events) => {
      creditSurplus += prefetchCount - events.length;
      inHand = take(events);
      await inHand;
      inHand = null;
    },
    settled: async () => {
      await inHand;
    },
  };
}

/** Whether the hub has put another event in the place of the trail's last one. */
function differs(tail: Leaf | null, events: readonly HubEvent[]): boolean {
  const given = events.find(({ sequenceNumber }) => sequenceNumber === tail?.sequenceNumber);
  return tail !== null && given !== undefined && leafText(leafOf(given)) !== leafText(tail);
}

/** The events in runs whose numbers follow one another. */
function runsOf(events: readonly HubEvent[]): HubEvent[][] {
  const runs: HubEvent[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.at(-1)?.sequenceNumber === event.sequenceNumber - 1) run.push(event);
    else runs.push([event]);
  }
  return runs;
}

/**
 * Whether the hub's numbers go on somewhere else than the trail ends. The SDK leaves out a batch under some
 * faults, so a hole is only believed when a new reader meets it again: then retention ate the events.
 */
function isDoubtful(
  { stream, partition, holes, log }: FeedOptions,
  { size, lastSequenceNumber }: StreamPosition,
  [first]: readonly HubEvent[],
): boolean {
  if (first === undefined || size === 0 || first.sequenceNumber === lastSequenceNumber + 1) return false;
  if (holes.get(stream) !== first.sequenceNumber) {
    holes.set(stream, first.sequenceNumber);
    return true;
  }
  holes.delete(stream);
  const [from, to] = [lastSequenceNumber + 1, first.sequenceNumber - 1];
  log.error({ partition, stream, from, to }, 'events are missing: the hub no longer has them');
  return false;
}

/** What the journal has to say of events that never came: between where the stream stands and what follows there. */
function gapBefore(
  stream: string,
  { size, lastSequenceNumber }: StreamPosition,
  [first]: readonly HubEvent[],
): JournalFact[] {
  const from = lastSequenceNumber + 1;
  if (first === undefined || size === 0 || first.sequenceNumber <= from) return [];
  return [{ kind: 'gap', stream, from, to: first.sequenceNumber - 1 }];
}

// A lock passes by itself; the rest needs a person.
const levels = {
  locked: 'warn',
  // A server that restarts comes back by itself; what does not is told by the page.
  unreachable: 'warn',
  unauthorized: 'error',
  'disk-full': 'error',
  damaged: 'error',
  'read-only': 'error',
  unexpected: 'error',
} as const satisfies Record<UnavailableReason, keyof Log>;

const retryDelayMsBase = 100;
const retryDelayMsMax = 5_000;
// A batch takes milliseconds; a disk that is throttled takes seconds.
const appendMsMax = 60_000;

/** Tries until the events are durable; what another reader stored meanwhile is left out. */
function createStorer(options: FeedOptions) {
  const { partition, stream, trail, clock, log, signal, progress, onStored } = options;
  const step = `partition ${partition}`;
  let trouble: UnavailableReason | null = null;

  const report = (reason: UnavailableReason | null): void => {
    if (reason === trouble) return;
    const where = { partition, stream };
    if (reason === null) log.info({ ...where, after: trouble }, 'the partition is stored again');
    else log[levels[reason]]({ ...where, reason }, 'the partition stands still: the trail takes nothing');
    trouble = reason;
    options.onTrouble({ partition, reason });
  };

  return async (start: StreamPosition, events: readonly HubEvent[]): Promise<StreamPosition> => {
    let position = start;
    let rest = events;
    for (let attempt = 0; rest.length > 0 && !signal.aborted; ) {
      progress.promise(step, appendMsMax);
      const result = await attemptAppend(trail, stream, position, rest);
      report(result.status === 'unavailable' ? result.reason : null);
      if (result.status === 'unavailable') {
        const delayMs = Math.min(retryDelayMsBase * 2 ** attempt, retryDelayMsMax);
        progress.promise(step, delayMs + appendMsMax);
        await clock.sleep(delayMs, signal);
        attempt += 1;
        continue;
      }
      position = result.position;
      if (result.status === 'appended') onStored({ partition, stream, counts: result.counts, position });
      rest = rest.filter(({ sequenceNumber }) => sequenceNumber > position.lastSequenceNumber);
    }
    progress.done(step);
    return position;
  };
}

/** A store that throws has a bug, but an event that is left out because of it would be a worse one. */
async function attemptAppend(
  trail: TrailStore,
  stream: string,
  at: StreamPosition,
  events: readonly HubEvent[],
) {
  try {
    // With the events behind it, or not at all: nobody may find one without the other.
    return await trail.append(stream, at, events, gapBefore(stream, at, events));
  } catch {
    return { status: 'unavailable', reason: 'unexpected' } as const;
  }
}
