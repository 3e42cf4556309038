// The bytes of a received body: as they were sent, or, of an AMQP value without bytes, one text for each value.

/**
 * @param body as the SDK gives it unparsed: a Buffer for data sections, else the decoded AMQP value
 * @returns the same bytes for the same body, on every machine
 */
export function bodyBytes(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  // Several data sections in one message are one body.
  if (Array.isArray(body) && body.every((part) => part instanceof Uint8Array)) return Buffer.concat(body);
  if (typeof body === 'string') return Buffer.from(body, 'utf8');
  return Buffer.from(JSON.stringify(body, plainBigint) ?? '', 'utf8');
}

const plainBigint = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;
