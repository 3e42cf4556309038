// Folds document after document into what the agent remembers, and says which transitions now count.
import { type Absence, diff, isOver, type Transition } from './diff.ts';
import { eventKey, type ScheduledEvent, type ScheduledEventsDocument } from './document.ts';

/** When each phase of an event was first seen, RFC 3339 UTC in ms. */
export interface Timeline {
  readonly scheduled?: string;
  readonly updated?: string;
  readonly started?: string;
  readonly completed?: string;
  readonly canceled?: string;
}

/** What the agent remembers of one event. */
export interface Sighting {
  readonly event: ScheduledEvent;
  readonly firstSeenAt: number;
  readonly timeline: Timeline;
  /** The last `notBefore` that was not blank. */
  readonly notBefore: string | null;
  /** The agent began with the event already in the document: its onset is unknown. */
  readonly initial: boolean;
  /** This agent approved it. */
  readonly approved: boolean;
  /** Set while its absence waits to be confirmed by a second good document. */
  readonly absence?: Absence;
}

/** All the agent remembers between two documents: this is what the outbox stores. */
export interface Watch {
  readonly incarnation: string | null;
  readonly bootId: string;
  readonly sightings: Readonly<Record<string, Sighting>>;
}

/** The circumstances of one good document. */
export interface Moment {
  /** Epoch ms. */
  readonly now: number;
  /** Ms since the good document before this one; null when it is not known. */
  readonly pollGapMs: number | null;
  readonly bootId: string;
  /** No other good document was seen since this process started. */
  readonly firstSinceStart: boolean;
}

/** A transition with all a record says about it. */
export interface Observation extends Transition {
  readonly at: number;
  readonly sighting: Sighting;
  readonly noticeSeconds: number | null;
}

export interface Observed {
  readonly watch: Watch;
  readonly observations: readonly Observation[];
  /** Whether there is anything to write down. */
  readonly changed: boolean;
}

export const emptyWatch = (bootId: string): Watch => ({ incarnation: null, bootId, sightings: {} });

/**
 * Takes one good document in.
 * An absence counts at once, but after a restart of the agent and whenever the incarnation went down
 * (IMDS forgets everything when the feature slept) only a second good document confirms it.
 */
export function observe(watch: Watch, document: ScheduledEventsDocument, moment: Moment): Observed {
  const doubtful = moment.firstSinceStart || wentDown(watch.incarnation, document.incarnation);
  const absenceOf = (key: string): Absence => absenceIn(watch, key, moment);
  const known = Object.values(watch.sightings).map((sighting) => sighting.event);
  const transitions = diff({ events: known }, document, absenceOf);
  const sightings: Record<string, Sighting> = carryOver(watch, document, moment);
  const observations: Observation[] = [];
  for (const transition of transitions) {
    const key = eventKey(transition.event.eventId);
    const before = livingSighting(watch.sightings[key], transition);
    const gone = !document.events.some((event) => eventKey(event.eventId) === key);
    const waiting = before?.absence !== undefined && !moment.firstSinceStart;
    if (gone && doubtful && !waiting && before !== undefined) {
      sightings[key] = { ...before, absence: absenceOf(key) };
      continue;
    }
    const at = gone ? absenceOf(key).at : moment.now;
    const sighting = sight(before, transition, at, moment.firstSinceStart);
    if (gone) delete sightings[key];
    else sightings[key] = sighting;
    observations.push({ ...transition, at, sighting, noticeSeconds: noticeOf(transition, sighting) });
  }
  const next = { incarnation: document.incarnation, bootId: moment.bootId, sightings };
  return { watch: next, observations, changed: JSON.stringify(next) !== JSON.stringify(watch) };
}

/** Remembers that this agent approved an event: its absence then means that it ran. */
export function markApproved(watch: Watch, eventId: string): Watch {
  const sighting = watch.sightings[eventKey(eventId)];
  if (sighting === undefined) return watch;
  const sightings = { ...watch.sightings, [eventKey(eventId)]: { ...sighting, approved: true } };
  return { ...watch, sightings };
}

/** What stays remembered before the transitions speak: events still there, without a doubt about them. */
function carryOver(
  watch: Watch,
  document: ScheduledEventsDocument,
  moment: Moment,
): Record<string, Sighting> {
  const present = new Map(document.events.map((event) => [eventKey(event.eventId), event]));
  const kept: Record<string, Sighting> = {};
  for (const [key, sighting] of Object.entries(watch.sightings)) {
    const event = present.get(key);
    if (event !== undefined) kept[key] = withoutAbsence({ ...sighting, event });
    // An entry of a partial document that could not be read may be this one: it stays as it was.
    else if (document.partial) kept[key] = moment.firstSinceStart ? withoutAbsence(sighting) : sighting;
  }
  return kept;
}

/** An event that Azure called over and that comes back begins a new life. */
function livingSighting(before: Sighting | undefined, transition: Transition): Sighting | undefined {
  return before !== undefined && isOver(before.event) && !isOver(transition.event) ? undefined : before;
}

function withoutAbsence({ absence: _, ...sighting }: Sighting): Sighting {
  return sighting;
}

function absenceIn(watch: Watch, key: string, moment: Moment): Absence {
  const sighting = watch.sightings[key];
  // The first document without the event knows best; but a doubt from before a restart is void.
  if (sighting?.absence !== undefined && !moment.firstSinceStart) return sighting.absence;
  return {
    at: moment.now,
    pollGapMs: moment.pollGapMs,
    rebooted: watch.bootId !== moment.bootId,
    approved: sighting?.approved ?? false,
  };
}

function sight(before: Sighting | undefined, transition: Transition, at: number, first: boolean): Sighting {
  const { event, kind } = transition;
  const time = new Date(at).toISOString();
  const base = before ?? { firstSeenAt: at, timeline: {}, notBefore: null, initial: first, approved: false };
  const { absence: _, ...kept } = base as Sighting;
  return {
    ...kept,
    event,
    notBefore: event.notBefore ?? base.notBefore,
    timeline: { ...base.timeline, [kind]: time },
  };
}

/** Seconds from first sight to `notBefore` while the event is coming; to its start once it began. */
function noticeOf(transition: Transition, sighting: Sighting): number | null {
  const { firstSeenAt, timeline, notBefore, initial } = sighting;
  const coming = timeline.started === undefined;
  if (coming && (transition.kind === 'scheduled' || transition.kind === 'updated')) {
    return notBefore === null ? null : Math.round((Date.parse(notBefore) - firstSeenAt) / 1000);
  }
  // An event that had already begun when the agent began started at a time that nobody here knows.
  if (coming || (initial && timeline.scheduled === undefined)) return null;
  return Math.round((Date.parse(timeline.started) - firstSeenAt) / 1000);
}

function wentDown(before: string | null, now: string | null): boolean {
  if (before === null || now === null || before.trim() === '' || now.trim() === '') return false;
  return Number(now) < Number(before);
}
