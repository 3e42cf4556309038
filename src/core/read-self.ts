// Reads what an agent says of itself: how often it asks and speaks, whether IMDS answers it, and what it saw last.
import { eventKey } from './document.ts';
import { child, countAt, textAt, timeAt } from './read-wire.ts';

/** One event that stood in the agent's document when it spoke. */
export interface SeenEvent {
  /** In the form in which ids are compared. */
  readonly eventId: string;
  readonly eventStatus: string | null;
  /** Epoch ms. */
  readonly firstSeenAt: number | null;
}

/** What an agent says of itself when it starts, and with each heartbeat. What it does not say is null. */
export interface SelfFacts {
  /** The longest time until its next heartbeat, while all is well. */
  readonly heartbeatIntervalMs: number | null;
  readonly pollIntervalMs: number | null;
  readonly bootId: string | null;
  /** Whether IMDS answers it: `fresh` when it does. */
  readonly sourceState: string | null;
  /** Epoch ms at which the last good document of its run came. */
  readonly lastDocumentAt: number | null;
  /** The events in its last document. */
  readonly seen: readonly SeenEvent[] | null;
}

const wordLengthMax = 128;
const idLengthMax = 1_024;
// A document holds a handful; what somebody else sends must not make a row endless.
const seenMax = 64;

/** Reads `data` of a record that an agent sends about itself. */
export function readSelf(data: unknown): SelfFacts {
  const source = child(data, 'source');
  return {
    heartbeatIntervalMs: countAt(data, 'heartbeatIntervalMs'),
    pollIntervalMs: countAt(data, 'pollIntervalMs'),
    bootId: textAt(data, 'bootId', wordLengthMax),
    sourceState: textAt(source, 'state', wordLengthMax),
    lastDocumentAt: timeAt(source, 'lastDocumentAt'),
    seen: readSeen(child(child(data, 'document'), 'seen')),
  };
}

function readSeen(wire: unknown): readonly SeenEvent[] | null {
  if (!Array.isArray(wire)) return null;
  return wire.slice(0, seenMax).flatMap((event) => {
    const eventId = textAt(event, 'eventId', idLengthMax);
    if (!eventId) return [];
    const eventStatus = textAt(event, 'eventStatus', wordLengthMax);
    return [{ eventId: eventKey(eventId), eventStatus, firstSeenAt: timeAt(event, 'firstSeenAt') }];
  });
}
