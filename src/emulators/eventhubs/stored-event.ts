// A stored event, decoded for people and tests.
import { decodeMessage } from './amqp.ts';
import type { LoggedEvent } from './partition-log.ts';

export interface StoredEvent {
  readonly partition: string;
  readonly sequenceNumber: number;
  readonly offset: string;
  /** Epoch ms. */
  readonly enqueuedAt: number;
  /** The data of the event; of an AMQP value or sequence its JSON. */
  readonly body: Buffer;
  readonly partitionKey: string | undefined;
  /** The application properties. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly messageId: string | undefined;
  readonly correlationId: string | undefined;
  readonly contentType: string | undefined;
}

interface Decoded {
  readonly body?: unknown;
  readonly application_properties?: Readonly<Record<string, unknown>>;
  readonly message_id?: unknown;
  readonly correlation_id?: unknown;
  readonly content_type?: unknown;
}

const DATA_SECTION = 0x75;

function bodyOf(body: unknown): Buffer {
  const section = body as { readonly typecode?: number; readonly content?: unknown } | null | undefined;
  if (section?.typecode !== DATA_SECTION)
    return Buffer.from(JSON.stringify(section?.content ?? body ?? null));
  return Buffer.concat([section.content].flat().filter((part) => Buffer.isBuffer(part)));
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : String(value);

/** Tests ask for all events again and again: each is decoded once. */
const decodedEvents = new WeakMap<LoggedEvent, StoredEvent>();

/** @param partition where the event stands */
export function storedEvent(partition: string, event: LoggedEvent): StoredEvent {
  const known = decodedEvents.get(event) ?? decodeEvent(partition, event);
  decodedEvents.set(event, known);
  return known;
}

function decodeEvent(partition: string, event: LoggedEvent): StoredEvent {
  const message = decodeMessage<Decoded>(event.message) ?? {};
  return {
    partition,
    sequenceNumber: event.sequenceNumber,
    offset: String(event.offset),
    enqueuedAt: event.enqueuedAt,
    body: bodyOf(message.body),
    partitionKey: event.partitionKey,
    properties: message.application_properties ?? {},
    messageId: textOf(message.message_id),
    correlationId: textOf(message.correlation_id),
    contentType: textOf(message.content_type),
  };
}
