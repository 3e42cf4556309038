// Writes a zip that is the same whoever writes it, and when. No tool does that on every machine that can build.
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  /** With slashes; ASCII. */
  readonly name: string;
  readonly bytes: Buffer;
}

// The records of PKWARE's APPNOTE.TXT 6.3: 4.3.7 local header, 4.3.12 central directory, 4.3.16 its end.
const signatures = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 } as const;
const versionNeeded = 20;
const deflated = 8;

/** @param epochSeconds the time of every entry; formats of this age know none before 1980 */
export function zipOf(entries: readonly ZipEntry[], epochSeconds: number): Buffer {
  const time = dosTime(epochSeconds);
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const data = deflateRawSync(bytes, { level: 9 });
    const common = commonFields(time, { name, bytes, data });
    const local = Buffer.concat([uint32(signatures.local), common, uint16(0), Buffer.from(name), data]);
    const central = [uint32(signatures.central), uint16(versionNeeded), common, centralFields(offset)];
    centrals.push(Buffer.concat([...central, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  return Buffer.concat([...locals, ...centrals, endOf(centrals, offset)]);
}

/** What both headers of an entry hold, up to the length of its name. */
function commonFields(time: Buffer, { name, bytes, data }: ZipEntry & { readonly data: Buffer }): Buffer {
  const sizes = [uint32(crc32(bytes)), uint32(data.length), uint32(bytes.length)];
  const kind = [uint16(versionNeeded), uint16(0), uint16(deflated)];
  return Buffer.concat([...kind, time, ...sizes, uint16(name.length)]);
}

/** No extra field, no comment, one disk, a plain file, and where its local header stands. */
const centralFields = (offset: number): Buffer =>
  Buffer.concat([uint16(0), uint16(0), uint16(0), uint16(0), uint32(0), uint32(offset)]);

function endOf(centrals: readonly Buffer[], offset: number): Buffer {
  const size = centrals.reduce((sum, { length }) => sum + length, 0);
  const counts = [uint16(0), uint16(0), uint16(centrals.length), uint16(centrals.length)];
  return Buffer.concat([uint32(signatures.end), ...counts, uint32(size), uint32(offset), uint16(0)]);
}

/** Two seconds are the step of this clock. */
function dosTime(epochSeconds: number): Buffer {
  const at = new Date(epochSeconds * 1000);
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  return Buffer.concat([uint16(time), uint16(date)]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
