// Which partition a key belongs to: the hash that Event Hubs and its SDKs share.

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

type State = [a: number, b: number, c: number];

/** Bob Jenkins' lookup3 (2006, public domain): the round between blocks of 12 bytes. */
function mix([a, b, c]: State): State {
  a = (a - c) ^ rotate(c, 4);
  c = (c + b) | 0;
  b = (b - a) ^ rotate(a, 6);
  a = (a + c) | 0;
  c = (c - b) ^ rotate(b, 8);
  b = (b + a) | 0;
  a = (a - c) ^ rotate(c, 16);
  c = (c + b) | 0;
  b = (b - a) ^ rotate(a, 19);
  a = (a + c) | 0;
  c = (c - b) ^ rotate(b, 4);
  b = (b + a) | 0;
  return [a, b, c];
}

/** lookup3's last round. */
function finish([a, b, c]: State): State {
  c = (c ^ b) - rotate(b, 14);
  a = (a ^ c) - rotate(c, 11);
  b = (b ^ a) - rotate(a, 25);
  c = (c ^ b) - rotate(b, 16);
  a = (a ^ c) - rotate(c, 4);
  b = (b ^ a) - rotate(a, 14);
  c = (c ^ b) - rotate(b, 24);
  return [a | 0, b | 0, c | 0];
}

function add([a, b, c]: State, block: Buffer): State {
  return [(a + block.readUInt32LE(0)) | 0, (b + block.readUInt32LE(4)) | 0, (c + block.readUInt32LE(8)) | 0];
}

function lookup3(data: Buffer): State {
  const seed = (0xdeadbeef + data.length) | 0;
  let state: State = [seed, seed, seed];
  if (data.length === 0) return state;
  let start = 0;
  for (; data.length - start > 12; start += 12) state = mix(add(state, data.subarray(start, start + 12)));
  const last = Buffer.alloc(12);
  data.copy(last, 0, start);
  return finish(add(state, last));
}

/**
 * @param key a partition key
 * @param partitionCount how many partitions the hub has
 * @returns the number of the partition that events with this key go to, as `@azure/event-hubs` 6.0.4 works it
 *   out for its buffered producer
 */
export function partitionOfKey(key: string, partitionCount: number): number {
  const [, b, c] = lookup3(Buffer.from(key, 'utf8'));
  const hash = ((b ^ c) << 16) >> 16;
  return Math.abs(hash % partitionCount);
}
