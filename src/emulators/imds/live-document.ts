// The live document of one placement group, as a value: how events enter, age, start by approval and leave.

/** One event that stands in the document. Times are epoch ms. */
export interface LiveEvent {
  /** Upper case. */
  readonly eventId: string;
  readonly eventType: string;
  readonly eventStatus: 'Scheduled' | 'Started';
  readonly eventSource: string;
  readonly description: string;
  /** -1 = unknown, as on the wire. */
  readonly durationSeconds: number;
  readonly resources: readonly string[];
  /** When it starts unless it is approved before; null once started. */
  readonly notBeforeAt: number | null;
  /** From its start to its removal. */
  readonly lastsMs: number;
  /** When it leaves the document; null until it has started. */
  readonly endsAt: number | null;
  readonly approved: boolean;
}

/** What a step may change of an event under way. */
export type EventChanges = Partial<
  Pick<LiveEvent, 'notBeforeAt' | 'description' | 'durationSeconds' | 'resources'>
>;

export interface LiveDocument {
  /** Goes up by one with every change of an event. */
  readonly incarnation: number;
  /** In the order in which they came. */
  readonly events: readonly LiveEvent[];
}

export const emptyDocument: LiveDocument = { incarnation: 1, events: [] };

export const withEvent = (document: LiveDocument, event: LiveEvent): LiveDocument =>
  next(document, [...document.events, event]);

export const withoutEvent = (document: LiveDocument, eventId: string): LiveDocument =>
  document.events.some((event) => event.eventId === eventId)
    ? next(
        document,
        document.events.filter((event) => event.eventId !== eventId),
      )
    : document;

/** An event that has started keeps its blank NotBefore. */
export const withChanges = (document: LiveDocument, eventId: string, changes: EventChanges): LiveDocument =>
  replace(document, eventId, (event) => ({
    ...event,
    ...changes,
    notBeforeAt: event.eventStatus === 'Started' ? null : (changes.notBeforeAt ?? event.notBeforeAt),
  }));

/**
 * Approves an event, which lets it start early; approving it again is fine.
 * @param eventId in any case
 * @returns null when no such event stands in the document
 */
export function withApproval(document: LiveDocument, eventId: string, now: number): LiveDocument | null {
  const key = eventId.toUpperCase();
  if (!document.events.some((event) => event.eventId === key)) return null;
  // An approval alone does not show on the wire: the incarnation stays.
  const events = document.events.map((event) =>
    event.eventId === key ? { ...event, approved: true } : event,
  );
  const ready = events.filter((event) => mayStart(event, events));
  const marked: LiveDocument = { ...document, events };
  return ready.reduce(
    (result, { eventId: id }) => replace(result, id, (event) => started(event, now)),
    marked,
  );
}

/** Lets time pass: starts what is due, removes what is over. */
export function advance(document: LiveDocument, now: number): LiveDocument {
  const due = document.events.filter((event) => event.notBeforeAt !== null && event.notBeforeAt <= now);
  const begun = due.reduce(
    (result, { eventId }) => replace(result, eventId, (event) => started(event, event.notBeforeAt ?? now)),
    document,
  );
  const over = begun.events.filter((event) => event.endsAt !== null && event.endsAt <= now);
  return over.reduce((result, event) => withoutEvent(result, event.eventId), begun);
}

/** When something happens next by itself; null when nothing will. */
export function nextDueAt({ events }: LiveDocument): number | null {
  const times = events.map((event) => event.notBeforeAt ?? event.endsAt).filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** What Azure does when the feature slept for a day: it counts from 1 again. */
export const withIncarnationReset = (document: LiveDocument): LiveDocument => ({
  ...document,
  incarnation: 1,
});

const next = ({ incarnation }: LiveDocument, events: readonly LiveEvent[]): LiveDocument => ({
  incarnation: incarnation + 1,
  events,
});

function replace(
  document: LiveDocument,
  eventId: string,
  change: (event: LiveEvent) => LiveEvent,
): LiveDocument {
  if (!document.events.some((event) => event.eventId === eventId)) return document;
  return next(
    document,
    document.events.map((event) => (event.eventId === eventId ? change(event) : event)),
  );
}

/** Azure blanks NotBefore once an event has started. */
const started = (event: LiveEvent, at: number): LiveEvent => ({
  ...event,
  eventStatus: 'Started',
  notBeforeAt: null,
  endsAt: at + event.lastsMs,
});

/**
 * A scale set deletes its instances together: one that nobody approved holds the others back.
 * Source: Azure's page on terminate notifications.
 */
function mayStart(event: LiveEvent, events: readonly LiveEvent[]): boolean {
  if (event.eventStatus !== 'Scheduled' || !event.approved) return false;
  const heldBack = events.some(
    (other) => other.eventType === 'Terminate' && !other.approved && isWaiting(other),
  );
  return event.eventType !== 'Terminate' || !heldBack;
}

const isWaiting = (event: LiveEvent): boolean => event.eventStatus === 'Scheduled';
