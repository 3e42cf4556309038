// How the store file spells hubs and events: records of a length, a checksum and a payload.
import { crc32 } from 'node:zlib';
import type { HubDefinition } from './hub.ts';
import type { LoggedEvent } from './partition-log.ts';

/** Events of one partition, as one record holds them. */
export interface EventGroup {
  readonly hub: string;
  readonly partition: string;
  readonly events: readonly LoggedEvent[];
}

export type StoreRecord =
  | { readonly kind: 'hub'; readonly hub: HubDefinition }
  | { readonly kind: 'events'; readonly groups: readonly EventGroup[] };

/** Bytes in front of a payload: its length, the complement of that, and the payload's CRC-32. */
export const RECORD_HEAD = 12;

const HUB = 1;
const EVENTS = 2;
const NO_KEY = 0xffff_ffff;

function frame(payload: Buffer): Buffer {
  const head = Buffer.alloc(RECORD_HEAD);
  head.writeUInt32BE(payload.length, 0);
  head.writeUInt32BE(~payload.length >>> 0, 4);
  head.writeUInt32BE(crc32(payload), 8);
  return Buffer.concat([head, payload]);
}

/** @returns how long the payload behind a head is, or undefined when the head is damaged */
export function payloadLength(head: Buffer): number | undefined {
  const length = head.readUInt32BE(0);
  return ~length >>> 0 === head.readUInt32BE(4) ? length : undefined;
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const sized = (content: Buffer): readonly Buffer[] => [uint32(content.length), content];

function encodeEvent(event: LoggedEvent): readonly Buffer[] {
  const numbers = Buffer.alloc(24);
  numbers.writeBigUInt64BE(BigInt(event.sequenceNumber), 0);
  numbers.writeBigUInt64BE(BigInt(event.offset), 8);
  numbers.writeBigUInt64BE(BigInt(event.enqueuedAt), 16);
  const key = event.partitionKey === undefined ? [uint32(NO_KEY)] : sized(Buffer.from(event.partitionKey));
  return [numbers, ...key, ...sized(event.message)];
}

const encodeGroup = ({ hub, partition, events }: EventGroup): readonly Buffer[] => [
  ...sized(Buffer.from(hub)),
  ...sized(Buffer.from(partition)),
  uint32(events.length),
  ...events.flatMap(encodeEvent),
];

/** @returns head and payload */
export function encodeRecord(record: StoreRecord): Buffer {
  if (record.kind === 'hub')
    return frame(Buffer.concat([Buffer.of(HUB), Buffer.from(JSON.stringify(record.hub))]));
  const groups = record.groups.flatMap(encodeGroup);
  return frame(Buffer.concat([Buffer.of(EVENTS), uint32(record.groups.length), ...groups]));
}

/** Reads a payload from its start to its end. */
function createReader(bytes: Buffer) {
  let position = 1;
  const uint = (): number => {
    position += 4;
    return bytes.readUInt32BE(position - 4);
  };
  const take = (length: number): Buffer => {
    position += length;
    return bytes.subarray(position - length, position);
  };
  const long = (): number => Number(take(8).readBigUInt64BE());
  return { uint, take, long };
}

type Reader = ReturnType<typeof createReader>;

const times = <Item>(count: number, read: () => Item): readonly Item[] => Array.from({ length: count }, read);

function decodeEvent({ uint, take, long }: Reader): LoggedEvent {
  const numbers = { sequenceNumber: long(), offset: long(), enqueuedAt: long() };
  const keyLength = uint();
  const partitionKey = keyLength === NO_KEY ? undefined : take(keyLength).toString();
  return { ...numbers, partitionKey, message: take(uint()) };
}

function decodeGroup(reader: Reader): EventGroup {
  const hub = reader.take(reader.uint()).toString();
  const partition = reader.take(reader.uint()).toString();
  return { hub, partition, events: times(reader.uint(), () => decodeEvent(reader)) };
}

/** @returns what a payload holds, or undefined when its checksum does not match the one in the head */
export function decodePayload(head: Buffer, payload: Buffer): StoreRecord | undefined {
  if (crc32(payload) !== head.readUInt32BE(8)) return undefined;
  if (payload[0] === HUB)
    return { kind: 'hub', hub: JSON.parse(payload.toString('utf8', 1)) as HubDefinition };
  const reader = createReader(payload);
  return { kind: 'events', groups: times(reader.uint(), () => decodeGroup(reader)) };
}
