// A seal: one entry that commits to the heads of all streams that changed since the seal before it.
import type { HubEvent } from './leaf.ts';

/** Where one stream stood. */
export interface SealedHead {
  readonly stream: string;
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** What one seal says; a stream that it does not name stands where the last seal that named it saw it. */
export interface Seal {
  /** Epoch ms by the clock of the machine that sealed. */
  readonly at: number;
  readonly heads: readonly SealedHead[];
}

const schema = 'seb.seal.v1';

/** A seal as an entry of its stream: its index is its sequence number. */
export function sealEvent({ at, heads }: Seal, index: number): HubEvent {
  const named = heads
    .map(({ stream, size, root }) => ({ stream, size, root: Buffer.from(root).toString('base64') }))
    .sort((one, other) => (one.stream < other.stream ? -1 : 1));
  const body = Buffer.from(JSON.stringify({ schema, heads: named }), 'utf8');
  return { sequenceNumber: index, enqueuedMs: at, body };
}

/** The seal in an entry; null when it is none that this version can read. */
export function sealOf({ body, enqueuedMs }: Pick<HubEvent, 'body' | 'enqueuedMs'>): Seal | null {
  try {
    const said = JSON.parse(Buffer.from(body).toString('utf8'));
    if (said.schema !== schema || !Array.isArray(said.heads)) return null;
    return { at: enqueuedMs, heads: said.heads.map(headOf) };
  } catch {
    return null;
  }
}

function headOf({ stream, size, root }: Readonly<Record<string, unknown>>): SealedHead {
  const bytes = Buffer.from(String(root), 'base64');
  if (typeof stream !== 'string' || !Number.isSafeInteger(size) || bytes.length !== 32) {
    throw new TypeError('not the head of a stream');
  }
  return { stream, size: Number(size), root: bytes };
}
