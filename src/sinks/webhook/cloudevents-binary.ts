// Gives a record the binary form of CloudEvents: its data as the body, everything else as headers.
import type { BridgeRecord } from '../../core/record.ts';

/** A record in binary form. */
export interface BinaryMessage {
  /** `content-type`, and one `ce-` header for each attribute. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The record in the binary content mode of the CloudEvents HTTP binding 1.0.2, section 3.1. */
export function binaryOf(record: BridgeRecord): BinaryMessage {
  const { data, datacontenttype, ...attributes } = record;
  const headers = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, encode(String(value))]);
  return {
    headers: { ...Object.fromEntries(headers), 'content-type': datacontenttype },
    body: Buffer.from(JSON.stringify(data), 'utf8'),
  };
}

/** Percent-encodes what the binding says a header must not hold: section 3.1.3.2. */
const encode = (text: string): string =>
  text.toWellFormed().replaceAll(/[^!#$&-~]+/gu, (outside) => encodeURIComponent(outside));
