// What a transfer holds: one event, or a batch of them in one envelope.
import {
  readBinary,
  readMap,
  readText,
  type Section,
  sectionCodes,
  splitSections,
} from './message-sections.ts';

/** The message format of a batch, set by every Event Hubs client. */
const BATCH_FORMAT = 0x8001_3700;

export const PARTITION_KEY = 'x-opt-partition-key';

/** One event as its sender encoded it. */
export interface PublishedEvent {
  readonly partitionKey: string | undefined;
  readonly message: Buffer;
}

function keyOf(sections: readonly Section[]): string | undefined {
  const annotations = sections.find(({ code }) => code === sectionCodes.messageAnnotations);
  const entry = annotations && readMap(annotations.value).find(({ key }) => key === PARTITION_KEY);
  return entry && readText(entry.valueBytes);
}

function eventOf(message: Buffer | undefined, envelopeKey: string | undefined): PublishedEvent | undefined {
  const sections = message && splitSections(message);
  if (message === undefined || sections === undefined || sections.length === 0) return undefined;
  return { partitionKey: envelopeKey ?? keyOf(sections), message };
}

/** @returns the events of a transfer, or undefined when it is malformed or holds none */
export function readTransfer(bytes: Buffer, format: number): readonly PublishedEvent[] | undefined {
  const sections = splitSections(bytes);
  if (sections === undefined || sections.length === 0) return undefined;
  const envelopeKey = keyOf(sections);
  if (format !== BATCH_FORMAT) return [{ partitionKey: envelopeKey, message: bytes }];
  const parts = sections.filter(({ code }) => code === sectionCodes.data);
  const events = parts.map(({ value }) => eventOf(readBinary(value), envelopeKey));
  const whole = events.filter((event) => event !== undefined);
  return whole.length === events.length && whole.length > 0 ? whole : undefined;
}
