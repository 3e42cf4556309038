// Chooses the entries that somebody asked for, by the hub's time and by the event that they speak of.
import { eventKey } from '../../core/document.ts';
import { readRecord } from '../../core/read-record.ts';
import type { SourceStream, StoredEntry, TrailSource } from '../store.ts';

/** What is left out does not narrow. */
export interface Selection {
  /** Epoch ms: entries that the hub stored at this time or later. */
  readonly since?: number;
  /** Epoch ms: entries that the hub stored before this time. */
  readonly until?: number;
  /** Records of this event, any case. An entry without a body speaks of none. */
  readonly eventId?: string;
}

/** Whether an entry is one of those. */
export function chooser({ since, until, eventId }: Selection): (entry: StoredEntry) => boolean {
  const event = eventId === undefined ? null : eventKey(eventId);
  return ({ enqueuedMs, body }) => {
    if (since !== undefined && enqueuedMs < since) return false;
    if (until !== undefined && enqueuedMs >= until) return false;
    if (event === null) return true;
    const reading = body === null ? null : readRecord(body);
    return reading?.status === 'record' && reading.record.event?.eventId === event;
  };
}

/** The streams that may hold some of them, by name; what the trail says of itself speaks of no event. */
export async function streamsFor(source: TrailSource, { eventId }: Selection): Promise<SourceStream[]> {
  const streams = (await source.streams()).filter(({ kind }) => eventId === undefined || kind === 'hub');
  return streams.sort((one, other) => (one.name < other.name ? -1 : 1));
}
