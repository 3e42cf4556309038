// An event as readers get it: what its sender encoded, with the annotations that the service adds.
import { PARTITION_KEY } from './batch.ts';
import { encoded, mapSection } from './message-encoding.ts';
import { readMap, type Section, sectionCodes, splitSections } from './message-sections.ts';
import type { LoggedEvent, PartitionState } from './partition-log.ts';

/** What the service writes itself, whatever the sender put there. */
const ownAnnotations: ReadonlySet<string | undefined> = new Set([
  'x-opt-sequence-number',
  'x-opt-offset',
  'x-opt-enqueued-time',
  PARTITION_KEY,
]);

function annotationsOf(event: LoggedEvent, sent: Section | undefined): Buffer {
  const kept = sent === undefined ? [] : readMap(sent.value).filter(({ key }) => !ownAnnotations.has(key));
  const { partitionKey } = event;
  return mapSection(sectionCodes.messageAnnotations, [
    encoded.symbol('x-opt-sequence-number'),
    encoded.long(event.sequenceNumber),
    encoded.symbol('x-opt-offset'),
    encoded.string(String(event.offset)),
    encoded.symbol('x-opt-enqueued-time'),
    encoded.timestamp(event.enqueuedAt),
    ...(partitionKey === undefined ? [] : [encoded.symbol(PARTITION_KEY), encoded.string(partitionKey)]),
    ...kept.flatMap(({ keyBytes, valueBytes }) => [keyBytes, valueBytes]),
  ]);
}

/** The state of the partition, for readers that track its end. @param now epoch ms */
export function runtimeMetrics(state: PartitionState, now: number): Buffer {
  return mapSection(sectionCodes.deliveryAnnotations, [
    encoded.symbol('last_enqueued_sequence_number'),
    encoded.long(state.lastSequenceNumber),
    encoded.symbol('last_enqueued_offset'),
    encoded.string(String(state.lastOffset)),
    encoded.symbol('last_enqueued_time_utc'),
    encoded.timestamp(state.lastEnqueuedAt),
    encoded.symbol('runtime_info_retrieval_time_utc'),
    encoded.timestamp(now),
  ]);
}

/**
 * @param metrics the delivery annotations, for readers that asked for them
 * @returns the encoded message
 */
export function encodeDelivery(event: LoggedEvent, metrics?: Buffer): Buffer {
  const sections = splitSections(event.message) ?? [];
  const header = sections.find(({ code }) => code === sectionCodes.header);
  const sent = sections.find(({ code }) => code === sectionCodes.messageAnnotations);
  const bare = sections.filter(({ code }) => code >= sectionCodes.properties);
  return Buffer.concat([
    ...(header === undefined ? [] : [header.bytes]),
    ...(metrics === undefined ? [] : [metrics]),
    annotationsOf(event, sent),
    ...bare.map(({ bytes }) => bytes),
  ]);
}
