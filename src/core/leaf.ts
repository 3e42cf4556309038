// What the trail seals of one event: a pure function of what the hub holds, so that every reader finds the same.
import { createHash } from 'node:crypto';

/** One event as the hub holds it. */
export interface HubEvent {
  /** The partition's own count. */
  readonly sequenceNumber: number;
  /** Epoch ms at which the hub stored it. */
  readonly enqueuedMs: number;
  /** The raw bytes: nothing is parsed and written anew before it is hashed. */
  readonly body: Uint8Array;
}

/** The leaf of one event: nothing of the reader, its clock or its order of arrival enters it. */
export interface Leaf {
  readonly sequenceNumber: number;
  readonly enqueuedMs: number;
  /** 32 bytes. */
  readonly bodySha256: Uint8Array;
}

/** The leaf of an event. */
export const leafOf = ({ sequenceNumber, enqueuedMs, body }: HubEvent): Leaf => ({
  sequenceNumber,
  enqueuedMs,
  bodySha256: hashBody(body),
});

/** SHA-256 over the raw bytes. */
export const hashBody = (body: Uint8Array): Uint8Array => createHash('sha256').update(body).digest();
