// Makes of a record the Event Hubs message that carries it.
import type { EventData } from '@azure/event-hubs';
import type { OutgoingRecord } from '../sink.ts';

/**
 * The record's own bytes, with its attributes beside them as text, so that readers can filter without parsing
 * (CloudEvents AMQP binding: structured mode, attributes repeated as application properties).
 */
export function messageOf({ record, bytes }: OutgoingRecord): EventData {
  const { data: _data, datacontenttype: _contentType, ...attributes } = record;
  return {
    // A Buffer goes into the message as it is; anything else the SDK would encode anew.
    body: bytes,
    contentType: 'application/cloudevents+json; charset=utf-8',
    messageId: record.id,
    correlationId: record.correlationid,
    properties: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [`cloudEvents_${name}`, String(value)]),
    ),
  };
}
