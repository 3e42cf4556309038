// Takes encoded AMQP messages apart without decoding them, so that every type arrives as it was sent.

/** Section descriptors, AMQP 1.0 part 3.2. */
export const sectionCodes = {
  header: 0x70,
  deliveryAnnotations: 0x71,
  messageAnnotations: 0x72,
  properties: 0x73,
  data: 0x75,
} as const;

export interface Section {
  readonly code: number;
  /** The whole section, descriptor included. */
  readonly bytes: Buffer;
  /** The encoded value behind the descriptor. */
  readonly value: Buffer;
}

/** Bytes of a value behind its type code, by the code's upper half, where they are fixed. */
const fixedWidths: Readonly<Record<number, number>> = { 4: 0, 5: 1, 6: 2, 7: 4, 8: 8, 9: 16 };

/** @returns where the value that starts at `start` ends; throws a RangeError past the end of `bytes` */
function endOfValue(bytes: Buffer, start: number): number {
  const code = bytes.readUInt8(start);
  if (code === 0) return endOfValue(bytes, endOfValue(bytes, start + 1));
  const half = code >>> 4;
  const fixed = fixedWidths[half];
  if (fixed !== undefined) return start + 1 + fixed;
  const narrow = half === 0xa || half === 0xc || half === 0xe;
  const size = narrow ? bytes.readUInt8(start + 1) : bytes.readUInt32BE(start + 1);
  return start + (narrow ? 2 : 5) + size;
}

function descriptorCode(bytes: Buffer, start: number): number {
  const code = bytes.readUInt8(start);
  if (code === 0x53) return bytes.readUInt8(start + 1);
  if (code === 0x80) return Number(bytes.readBigUInt64BE(start + 1));
  throw new RangeError('a section without a numeric descriptor');
}

function sectionAt(bytes: Buffer, start: number): Section {
  if (bytes.readUInt8(start) !== 0) throw new RangeError('a section without a descriptor');
  const valueStart = endOfValue(bytes, start + 1);
  const end = endOfValue(bytes, valueStart);
  if (end > bytes.length) throw new RangeError('a section that is cut off');
  return {
    code: descriptorCode(bytes, start + 1),
    bytes: bytes.subarray(start, end),
    value: bytes.subarray(valueStart, end),
  };
}

/** @returns the sections of an encoded message, or undefined when the bytes are no message */
export function splitSections(bytes: Buffer): readonly Section[] | undefined {
  const sections: Section[] = [];
  try {
    for (let start = 0; start < bytes.length; ) {
      const section = sectionAt(bytes, start);
      sections.push(section);
      start += section.bytes.length;
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return sections;
}

export interface MapEntry {
  /** The key, when it is a symbol or a string. */
  readonly key: string | undefined;
  readonly keyBytes: Buffer;
  readonly valueBytes: Buffer;
}

/** @returns the text of an encoded string, symbol or binary, or undefined when it is something else */
export function readText(value: Buffer): string | undefined {
  const kind = value.readUInt8(0) & 0x0f;
  const half = value.readUInt8(0) >>> 4;
  if ((half !== 0xa && half !== 0xb) || (kind !== 1 && kind !== 3)) return undefined;
  return value.toString('utf8', half === 0xa ? 2 : 5);
}

/** @returns the content of an encoded binary, or undefined when it is something else */
export function readBinary(value: Buffer): Buffer | undefined {
  const code = value.readUInt8(0);
  if (code === 0xa0) return value.subarray(2);
  return code === 0xb0 ? value.subarray(5) : undefined;
}

/** @returns the entries of an encoded map, none when it is no map */
export function readMap(value: Buffer): readonly MapEntry[] {
  const code = value.readUInt8(0);
  if (code !== 0xc1 && code !== 0xd1) return [];
  const entries: MapEntry[] = [];
  for (let start = code === 0xc1 ? 3 : 9; start < value.length; ) {
    const middle = endOfValue(value, start);
    const end = endOfValue(value, middle);
    const keyBytes = value.subarray(start, middle);
    entries.push({ key: readText(keyBytes), keyBytes, valueBytes: value.subarray(middle, end) });
    start = end;
  }
  return entries;
}
