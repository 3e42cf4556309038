// Compares two documents by event and content, and says what changed: at most one transition per event.
import {
  contentOf,
  endingOf,
  eventKey,
  isStarted,
  type ScheduledEvent,
  type ScheduledEventsDocument,
} from './document.ts';

/** The five things that can happen to an event between two documents. */
export type TransitionKind = 'scheduled' | 'updated' | 'started' | 'completed' | 'canceled';

/** Why the bridge says so: Azure said it, or the bridge infers it from an absence. */
export type TransitionReason =
  | 'status'
  | 'removed-after-started'
  | 'removed-before-not-before'
  | 'start-not-observed';

/** The fields that changed while the event went on, with the values they had. */
export type PreviousValues = Partial<Omit<ScheduledEvent, 'eventId' | 'notBeforeText'>>;

/** One change of one event between two documents. */
export interface Transition {
  readonly kind: TransitionKind;
  /** As the current document has it; as last seen, when the event is gone. */
  readonly event: ScheduledEvent;
  readonly previous: PreviousValues;
  readonly inferred: boolean;
  readonly reason: TransitionReason;
}

/** What is known about the stretch of time in which an event left the document. */
export interface Absence {
  /** Epoch ms of the first good document without the event. */
  readonly at: number;
  /** Ms between the last good document with the event and the first without; null when unknown. */
  readonly pollGapMs: number | null;
  /** Whether the VM's boot id changed in between. */
  readonly rebooted: boolean;
  /** Whether this agent approved the event. */
  readonly approved: boolean;
  /** The last `notBefore` known, for an event whose own is blank. */
  readonly notBefore?: string | null;
}

// A poller that looked away for longer than this may have missed a short Started phase altogether.
const pollGapMsMax = 10_000;

type Documents = Pick<ScheduledEventsDocument, 'events'>;

/**
 * What changed from `previous` to `current`.
 * @param absenceOf what is known about the absence of an event that is gone, by event key
 * @returns in the order of `current`, then what is gone in the order of `previous`
 */
export function diff(
  previous: Documents,
  current: Documents & { readonly partial?: boolean },
  absenceOf: (key: string, event: ScheduledEvent) => Absence,
): Transition[] {
  const before = byKey(previous.events);
  const after = byKey(current.events);
  const transitions: Transition[] = [];
  for (const [key, event] of after) {
    const transition = changeOf(before.get(key), event);
    if (transition !== null) transitions.push(transition);
  }
  if (current.partial) return transitions;
  for (const [key, event] of before) {
    // An event that Azure itself called over needs no second ending when it leaves.
    if (!after.has(key) && !isOver(event)) transitions.push(disappearance(event, absenceOf(key, event)));
  }
  return transitions;
}

/** Whether Azure itself calls the event over. IMDS has no such status today; its newer siblings do. */
export const isOver = (event: ScheduledEvent): boolean => endingOf(event) !== null;

function changeOf(before: ScheduledEvent | undefined, event: ScheduledEvent): Transition | null {
  const said = { event, inferred: false, reason: 'status' } as const;
  // An event that Azure called over and that goes on after all begins a new life.
  if (before === undefined || (isOver(before) && !isOver(event))) {
    return { ...said, kind: endingOf(event) ?? (isStarted(event) ? 'started' : 'scheduled'), previous: {} };
  }
  if (isOver(before)) return null;
  const previous = previousValues(before, event);
  const phase = endingOf(event) ?? (isStarted(event) && !isStarted(before) ? 'started' : null);
  if (phase !== null) return { ...said, kind: phase, previous: withoutStatus(previous) };
  const news = contentOf(before) !== contentOf(unblanked(before, event));
  return news ? { ...said, kind: 'updated', previous } : null;
}

// IMDS has no terminal status: "over" and "called off" both look like an entry that is no longer there.
function disappearance(event: ScheduledEvent, absence: Absence): Transition {
  const gone = { event, previous: {}, inferred: true } as const;
  if (isStarted(event)) return { ...gone, kind: 'completed', reason: 'removed-after-started' };
  if (mayHaveRun(event, absence)) return { ...gone, kind: 'completed', reason: 'start-not-observed' };
  return { ...gone, kind: 'canceled', reason: 'removed-before-not-before' };
}

function mayHaveRun(event: ScheduledEvent, absence: Absence): boolean {
  const notBefore = event.notBefore ?? absence.notBefore ?? null;
  const due = notBefore !== null && absence.at >= Date.parse(notBefore);
  const unwatched = absence.pollGapMs === null || absence.pollGapMs > pollGapMsMax;
  return due || absence.approved || absence.rebooted || unwatched;
}

const changeable = [
  'eventType',
  'eventStatus',
  'eventSource',
  'resourceType',
  'resources',
  'notBefore',
  'description',
  'durationSeconds',
] as const;

function previousValues(before: ScheduledEvent, event: ScheduledEvent): PreviousValues {
  const after = unblanked(before, event);
  const changed = changeable.filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  return Object.fromEntries(changed.map((field) => [field, before[field]]));
}

// Azure blanks NotBefore once an event has started: that is its way of writing, not news.
function unblanked(before: ScheduledEvent, event: ScheduledEvent): ScheduledEvent {
  const blanked = isStarted(event) && event.notBefore === null && event.notBeforeText === undefined;
  return blanked ? { ...event, notBefore: before.notBefore } : event;
}

// The kind of the transition says already that the status changed.
const withoutStatus = ({ eventStatus: _, ...rest }: PreviousValues): PreviousValues => rest;

const byKey = (events: readonly ScheduledEvent[]): Map<string, ScheduledEvent> =>
  new Map(events.map((event) => [eventKey(event.eventId), event]));
