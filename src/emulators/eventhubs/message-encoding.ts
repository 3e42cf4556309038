// Encodes the few AMQP values that the emulator adds to an event.

const prefixed = (code8: number, code32: number, text: string): Buffer => {
  const content = Buffer.from(text, 'utf8');
  const head = content.length > 255 ? Buffer.alloc(5) : Buffer.alloc(2);
  head.writeUInt8(content.length > 255 ? code32 : code8, 0);
  if (content.length > 255) head.writeUInt32BE(content.length, 1);
  else head.writeUInt8(content.length, 1);
  return Buffer.concat([head, content]);
};

const eightBytes = (code: number, value: number): Buffer => {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt8(code, 0);
  bytes.writeBigInt64BE(BigInt(value), 1);
  return bytes;
};

export const encoded = {
  symbol: (text: string): Buffer => prefixed(0xa3, 0xb3, text),
  string: (text: string): Buffer => prefixed(0xa1, 0xb1, text),
  long: (value: number): Buffer => eightBytes(0x81, value),
  timestamp: (atMs: number): Buffer => eightBytes(0x83, atMs),
};

/**
 * @param code the section's descriptor
 * @param pairs encoded keys and values in turn
 * @returns a section that holds a map
 */
export function mapSection(code: number, pairs: readonly Buffer[]): Buffer {
  const content = Buffer.concat(pairs);
  const head = Buffer.alloc(12);
  head.writeUInt8(0, 0);
  head.writeUInt8(0x53, 1);
  head.writeUInt8(code, 2);
  head.writeUInt8(0xd1, 3);
  head.writeUInt32BE(content.length + 4, 4);
  head.writeUInt32BE(pairs.length, 8);
  return Buffer.concat([head, content]);
}
