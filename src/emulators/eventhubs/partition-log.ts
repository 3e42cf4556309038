// The events of one partition, in order, as far back as retention goes.
import type { PublishedEvent } from './batch.ts';

export interface LoggedEvent extends PublishedEvent {
  readonly sequenceNumber: number;
  /** Where the event stands in the partition's bytes; on the wire a string. */
  readonly offset: number;
  /** Epoch ms. */
  readonly enqueuedAt: number;
}

export interface Retention {
  /** Events per partition. */
  readonly eventsMax: number;
  /** Bytes of events per partition. */
  readonly bytesMax: number;
}

/** A partition as `$management` describes it; -1 stands for none. */
export interface PartitionState {
  readonly firstSequenceNumber: number;
  readonly lastSequenceNumber: number;
  readonly lastOffset: number;
  readonly lastEnqueuedAt: number;
  readonly isEmpty: boolean;
}

export interface PartitionLog {
  readonly id: string;
  readonly state: PartitionState;
  /** Bytes of the events that are kept. */
  readonly bytes: number;
  /** The events that are still kept. */
  readonly events: readonly LoggedEvent[];
  /** Numbers events without keeping them. @param at epoch ms */
  number(published: readonly PublishedEvent[], at: number): readonly LoggedEvent[];
  /** Forgets every number given since the last `keep`. */
  renumber(): void;
  /** Keeps numbered events, lets go of the oldest beyond retention, and wakes readers. */
  keep(events: readonly LoggedEvent[]): void;
  /** @returns events from `sequenceNumber` on, or from the oldest kept one when it is gone */
  read(sequenceNumber: number, countMax: number): readonly LoggedEvent[];
  /** @returns a function that stops the calls */
  onKeep(listener: () => void): () => void;
}

/** Neither 0 nor a sequence number, so that nobody takes one for the other. */
const FIRST_OFFSET = 4_096;

/** Bytes that an event takes beyond its own. */
const EVENT_OVERHEAD = 64;

interface Counters {
  sequenceNumber: number;
  offset: number;
  enqueuedAt: number;
}

function next(counters: Counters, published: PublishedEvent, at: number): LoggedEvent {
  const event: LoggedEvent = {
    partitionKey: published.partitionKey,
    message: published.message,
    sequenceNumber: counters.sequenceNumber,
    offset: counters.offset,
    enqueuedAt: Math.max(counters.enqueuedAt, at),
  };
  advance(counters, event);
  return event;
}

function advance(counters: Counters, event: LoggedEvent): void {
  counters.sequenceNumber = event.sequenceNumber + 1;
  counters.offset = event.offset + event.message.length + EVENT_OVERHEAD;
  counters.enqueuedAt = event.enqueuedAt;
}

const describe = (
  kept: Counters,
  first: LoggedEvent | undefined,
  last: LoggedEvent | undefined,
): PartitionState => ({
  firstSequenceNumber: first?.sequenceNumber ?? -1,
  lastSequenceNumber: kept.sequenceNumber - 1,
  lastOffset: last?.offset ?? -1,
  lastEnqueuedAt: kept.enqueuedAt,
  isEmpty: first === undefined,
});

/** How many of the oldest events to let go. The newest one always stays. */
function countBeyond(retention: Retention, events: readonly LoggedEvent[], bytes: number): number {
  let count = 0;
  let rest = bytes;
  while (
    count < events.length - 1 &&
    (events.length - count > retention.eventsMax || rest > retention.bytesMax)
  ) {
    rest -= events[count]?.message.length ?? 0;
    count += 1;
  }
  return count;
}

const sizeOf = (events: readonly LoggedEvent[]): number =>
  events.reduce((sum, { message }) => sum + message.length, 0);

/** An empty partition. @param id its number, as text */
export function createPartitionLog(id: string, retention: Retention): PartitionLog {
  const events: LoggedEvent[] = [];
  const listeners = new Set<() => void>();
  const kept: Counters = { sequenceNumber: 0, offset: FIRST_OFFSET, enqueuedAt: 0 };
  let numbered: Counters = { ...kept };
  let bytes = 0;
  return {
    id,
    events,
    get bytes() {
      return bytes;
    },
    get state() {
      return describe(kept, events[0], events.at(-1));
    },
    number: (published, at) => published.map((event) => next(numbered, event, at)),
    renumber() {
      numbered = { ...kept };
    },
    keep(added) {
      for (const event of added) {
        events.push(event);
        advance(kept, event);
      }
      if (kept.sequenceNumber > numbered.sequenceNumber) numbered = { ...kept };
      bytes += sizeOf(added);
      bytes -= sizeOf(events.splice(0, countBeyond(retention, events, bytes)));
      for (const listener of listeners) listener();
    },
    read(sequenceNumber, countMax) {
      const start = Math.max(0, sequenceNumber - (events[0]?.sequenceNumber ?? 0));
      return events.slice(start, start + countMax);
    },
    onKeep(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
