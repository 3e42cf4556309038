// Compares what a hub holds of one partition with what the trail holds of it, and appends what the trail lacks at its end.
import {
  type StoredEntry,
  type StreamPosition,
  type TrailStore,
  TrailUnusable,
  type Unavailable,
} from '../audit/store.ts';
import { type HubEvent, leafOf } from '../core/leaf.ts';
import { batchLengthMax } from './hub.ts';

/** How the trail and the hub differ at one sequence number. */
export interface Difference {
  readonly sequenceNumber: number;
  readonly kind: /** The trail holds other bytes, or the hash of others. */
    | 'other-bytes'
    /** The trail says that the hub stored it at another time. */
    | 'other-time'
    /** The trail holds what the hub, which holds what stands before and behind it, does not. */
    | 'not-in-hub'
    /** The hub holds what the trail, which goes on behind it, does not: it can no longer be appended. */
    | 'not-in-trail';
}

/** What comparing came to. */
export interface Comparison {
  /** Sequence numbers of the first and the last event that the hub gave; null while it gave none. */
  readonly from: number | null;
  readonly to: number | null;
  readonly compared: number;
  readonly appended: number;
  /** The trail says something else than the hub. */
  readonly different: number;
  /** The hub has events inside a gap of the trail. */
  readonly missing: number;
  /** The first so many, for a person. */
  readonly differences: readonly Difference[];
}

export interface ComparisonOptions {
  readonly trail: TrailStore;
  readonly stream: string;
  readonly sure: Sure;
}

/** Tries again while the trail is locked; throws when it stays so. */
export type Sure = <Result extends { readonly status: string }>(
  attempt: () => Promise<Result | Unavailable>,
) => Promise<Exclude<Result, Unavailable>>;

/** The hub's numbers jump in the middle of a partition: the reader left something out, and must begin anew. */
export class HubJumps extends Error {}

const missing = new TrailUnusable('entries are missing in the trail: see what "seb audit verify" says');
const differencesMax = 20;

export interface Comparer {
  /** Takes the hub's events in their order. */
  take(events: readonly HubEvent[]): Promise<void>;
  /** Something that was found beside the comparison of single events. */
  note(difference: Difference): void;
  result(): Comparison;
}

/** @param first the index of the first entry that may be compared */
export function openComparer(options: ComparisonOptions, first: number): Comparer {
  const found: Found = {
    ...{ from: null, to: null, compared: 0, appended: 0, different: 0, missing: 0, differences: [] },
  };
  const comparing: Comparing = { options, found, entryAt: openCursor(options), next: first };
  return {
    take: async (events) => {
      for (let at = 0; at < events.length; ) {
        const taken = await takeSome(comparing, events.slice(at, at + batchLengthMax));
        found.from ??= taken > 0 ? (events[at]?.sequenceNumber ?? null) : null;
        at += taken;
        found.to = events[at - 1]?.sequenceNumber ?? found.to;
      }
    },
    note: (difference) => note(found, difference),
    result: () => ({ ...found }),
  };
}

type Found = { -readonly [Name in keyof Comparison]: Comparison[Name] };

interface Comparing {
  readonly options: ComparisonOptions;
  readonly found: Found;
  readonly entryAt: (index: number) => Promise<StoredEntry | null>;
  /** The index of the entry that comes next. */
  next: number;
}

/** Compares one event, or appends all of them; none when somebody else wrote meanwhile. */
async function takeSome(comparing: Comparing, events: readonly HubEvent[]): Promise<number> {
  const [event] = events;
  if (event === undefined) return 0;
  if (await compare(comparing, event)) return 1;
  return (await append(comparing, events)) ? events.length : 0;
}

function note(found: Found, difference: Difference): void {
  if (difference.kind === 'not-in-trail') found.missing += 1;
  else found.different += 1;
  if (found.differences.length < differencesMax) found.differences = [...found.differences, difference];
}

/** @returns false when the trail ends before this event */
async function compare(comparing: Comparing, event: HubEvent): Promise<boolean> {
  const { found, entryAt } = comparing;
  for (;;) {
    const entry = await entryAt(comparing.next);
    if (entry === null) return false;
    if (entry.sequenceNumber > event.sequenceNumber) {
      note(found, { sequenceNumber: event.sequenceNumber, kind: 'not-in-trail' });
      return true;
    }
    comparing.next += 1;
    if (entry.sequenceNumber === event.sequenceNumber) {
      found.compared += 1;
      const kind = differenceOf(entry, event);
      if (kind !== null) note(found, { sequenceNumber: event.sequenceNumber, kind });
      return true;
    }
    // What stands before the hub's first event went from the hub when its time was over.
    if (found.from !== null) note(found, { sequenceNumber: entry.sequenceNumber, kind: 'not-in-hub' });
  }
}

/** @returns whether the events are in the trail now; false when somebody else wrote meanwhile */
async function append(comparing: Comparing, events: readonly HubEvent[]): Promise<boolean> {
  const { options, found, entryAt, next } = comparing;
  const { trail, stream, sure } = options;
  const { position } = await sure(() => trail.position(stream));
  if (position.size !== next) {
    if (position.size < next || (await entryAt(next)) === null) throw missing;
    return false;
  }
  const facts = gapBefore(stream, position, events, found.from === null);
  const result = await sure(() => trail.append(stream, position, events, facts));
  if (result.status === 'moved') return false;
  comparing.next = result.position.size;
  found.appended += events.length;
  return true;
}

function differenceOf(entry: StoredEntry, event: HubEvent): Difference['kind'] | null {
  const leaf = leafOf(event);
  if (Buffer.compare(entry.bodySha256, leaf.bodySha256) !== 0) return 'other-bytes';
  // A hash that is right beside bytes that are not: what was put there was not hashed.
  if (entry.body !== null && Buffer.compare(entry.body, event.body) !== 0) return 'other-bytes';
  return entry.enqueuedMs === leaf.enqueuedMs ? null : 'other-time';
}

/** A hole is believed at the hub's beginning only, where retention takes away; elsewhere the reader made it. */
function gapBefore(
  stream: string,
  { size, lastSequenceNumber }: StreamPosition,
  [first]: readonly HubEvent[],
  isFirst: boolean,
) {
  const from = lastSequenceNumber + 1;
  if (first === undefined || size === 0 || first.sequenceNumber === from) return [];
  if (!isFirst) throw new HubJumps();
  return [{ kind: 'gap', stream, from, to: first.sequenceNumber - 1 } as const];
}

/** Entries by index, fetched in pieces; one that is not there yet is asked for each time. */
function openCursor({ trail, stream, sure }: ComparisonOptions) {
  let entries: readonly StoredEntry[] = [];
  let start = 0;
  return async (index: number): Promise<StoredEntry | null> => {
    if (entries[index - start] === undefined) {
      start = index;
      entries = (await sure(() => trail.read(stream, index, batchLengthMax))).entries;
    }
    const entry = entries[index - start] ?? null;
    if (entry !== null && entry.index !== index) throw missing;
    return entry;
  };
}

/** The index of the first entry with this sequence number or a higher one. */
export async function indexFrom(options: ComparisonOptions, sequenceNumber: number): Promise<number> {
  const { trail, stream, sure } = options;
  let [low, high] = [0, (await sure(() => trail.position(stream))).position.size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [entry] = (await sure(() => trail.read(stream, middle, 1))).entries;
    if (entry === undefined || entry.sequenceNumber >= sequenceNumber) high = middle;
    else low = middle + 1;
  }
  return low;
}
