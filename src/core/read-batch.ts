// Reads a batch of entries into records and parked ones, and says what has to be looked up to project it.
import { hash } from 'node:crypto';
import { type DeedKey, deedKey, whatOf } from './deed-fold.ts';
import { type ParkReason, readRecord, type TrailRecord } from './read-record.ts';

/** Where an entry stands. */
export interface EntryPlace {
  readonly stream: string;
  readonly index: number;
}

/** An entry and where it stands. */
export interface PlacedEntry extends EntryPlace {
  readonly bodySha256: Uint8Array;
  readonly body: Uint8Array;
}

/** A batch as it reads, and what a store has to look up before it can be projected. */
export interface ReadBatch {
  readonly entries: number;
  readonly parked: readonly ParkedEntry[];
  readonly records: readonly ReadEntry[];
  /** Keys of what the batch speaks of, each once and sorted, so that two writers lock rows in one order. */
  readonly recordKeys: readonly string[];
  readonly eventIds: readonly string[];
  readonly agentIds: readonly string[];
  readonly witnesses: readonly WitnessKey[];
  readonly deeds: readonly DeedKey[];
}

export interface ParkedEntry extends EntryPlace {
  readonly reason: ParkReason;
}

/** A record and its entry. Keys are the first 16 bytes of a SHA-256, in hex: over source and id, and over the body. */
export interface ReadEntry extends EntryPlace {
  readonly recordKey: string;
  readonly bodyKey: string;
  readonly record: TrailRecord;
}

export interface WitnessKey {
  readonly eventId: string;
  readonly agentId: string;
}

/** The key of a witness in what is known. */
export const witnessKey = ({ eventId, agentId }: WitnessKey): string => JSON.stringify([eventId, agentId]);

const keyLength = 16;
/** The key of the deed that a record tells; null when it tells none. */
export const deedKeyIn = ({ deed, agent }: TrailRecord): DeedKey | null =>
  deed === null ? null : { eventId: deed.eventId, agentId: agent.agentId, what: whatOf(deed.deed) };

/** The key of a hash: enough of it to tell records apart. */
export const keyOf = (hashed: Uint8Array): string =>
  Buffer.from(hashed.subarray(0, keyLength)).toString('hex');

/** Source and id name a record. */
export const recordKeyOf = ({ source, id }: Pick<TrailRecord, 'source' | 'id'>): string =>
  keyOf(hash('sha256', JSON.stringify([source, id]), 'buffer'));

const sorted = (keys: Iterable<string>): string[] => [...new Set(keys)].sort();

/** Reads entries; whatever their bytes are, each is either a record or parked. */
export function readBatch(entries: readonly PlacedEntry[]): ReadBatch {
  const parked: ParkedEntry[] = [];
  const records: ReadEntry[] = [];
  for (const { stream, index, bodySha256, body } of entries) {
    const reading = readRecord(body);
    if (reading.status === 'parked') {
      parked.push({ stream, index, reason: reading.reason });
      continue;
    }
    const { record } = reading;
    records.push({ stream, index, recordKey: recordKeyOf(record), bodyKey: keyOf(bodySha256), record });
  }
  return { entries: entries.length, parked, records, ...keysOf(records) };
}

function keysOf(records: readonly ReadEntry[]) {
  const witnesses = new Map<string, WitnessKey>();
  const deeds = new Map<string, DeedKey>();
  for (const { record } of records) {
    const deed = deedKeyIn(record);
    if (deed !== null) deeds.set(deedKey(deed), deed);
    if (record.event === null) continue;
    const key = { eventId: record.event.eventId, agentId: record.agent.agentId };
    witnesses.set(witnessKey(key), key);
  }
  return {
    recordKeys: sorted(records.map(({ recordKey }) => recordKey)),
    eventIds: sorted(records.flatMap(({ record }) => record.event?.eventId ?? [])),
    agentIds: sorted(records.map(({ record }) => record.agent.agentId)),
    witnesses: inOrder(witnesses),
    deeds: inOrder(deeds),
  };
}

const inOrder = <Key>(keys: ReadonlyMap<string, Key>): Key[] =>
  [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
