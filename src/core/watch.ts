// Folds document after document into what the agent remembers, and says which transitions now count.
import { type Absence, diff, isOver, type Transition } from './diff.ts';
import { eventKey, type ScheduledEvent, type ScheduledEventsDocument } from './document.ts';

/** When each phase of an event was first seen, and when it was last `updated`: RFC 3339 UTC in ms. */
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
  /** A partial document may have hidden it since it was last seen: what it did meanwhile is not known. */
  readonly hidden?: true;
  /** Set while its absence waits to be confirmed by a second good document. */
  readonly absence?: Doubt;
}

/** What the first good document without an event knew. */
export interface Doubt extends Absence {
  /** Noted before this process started: it stands as evidence, but must be noted anew to be confirmed. */
  readonly stale?: true;
}

/** All the agent remembers between two documents: this is what the outbox stores. */
export interface Watch {
  readonly incarnation: string | null;
  readonly bootId: string;
  readonly sightings: Readonly<Record<string, Sighting>>;
  /** The next complete document is in doubt: the one that should have raised the doubt was partial. */
  readonly doubtful?: true;
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

/** What one document came to. */
export interface Observed {
  readonly watch: Watch;
  readonly observations: readonly Observation[];
  /** Whether there is anything to write down. */
  readonly changed: boolean;
}

/** What an agent remembers that has seen no document yet. */
export const emptyWatch = (bootId: string): Watch => ({ incarnation: null, bootId, sightings: {} });

type Sightings = ReadonlyMap<string, Sighting>;

/**
 * Takes one good document in.
 * An absence counts at once, but after a restart of the agent and whenever the incarnation went down
 * (IMDS forgets everything when the feature slept) only a second good document confirms it.
 */
export function observe(watch: Watch, document: ScheduledEventsDocument, moment: Moment): Observed {
  const before = recall(watch, moment);
  const present = new Map(document.events.map((event) => [eventKey(event.eventId), event]));
  const doubtful =
    moment.firstSinceStart || watch.doubtful === true || wentDown(watch.incarnation, document.incarnation);
  const after = carryOver(before, present, document.partial, doubtful);
  const absenceOf = (key: string): Absence => absenceFrom(before.get(key), watch, moment);
  const known = [...before.values()].map((sighting) => sighting.event);
  const observations: Observation[] = [];
  for (const transition of diff({ events: known }, document, absenceOf)) {
    const key = eventKey(transition.event.eventId);
    const gone = !present.has(key);
    const last = before.get(key);
    if (gone && doubtful && last !== undefined && !isConfirmable(last)) {
      after.set(key, { ...last, absence: absenceOf(key) });
      continue;
    }
    const at = gone ? absenceOf(key).at : moment.now;
    const sighting = sight(livingSighting(last, transition), transition, at, moment.firstSinceStart);
    if (!gone) after.set(key, sighting);
    observations.push({ ...transition, at, sighting, noticeSeconds: noticeOf(transition, sighting) });
  }
  const next: Watch = {
    incarnation: document.incarnation,
    bootId: moment.bootId,
    // Never by assignment: an event may be called `__proto__`.
    sightings: Object.fromEntries(after),
    ...(doubtful && document.partial ? { doubtful } : {}),
  };
  return { watch: next, observations, changed: JSON.stringify(next) !== JSON.stringify(watch) };
}

/** Remembers that this agent approved an event: its absence then means that it ran. */
export function markApproved(watch: Watch, eventId: string): Watch {
  const key = eventKey(eventId);
  const sighting = sightingsOf(watch).get(key);
  if (sighting === undefined) return watch;
  return { ...watch, sightings: { ...watch.sightings, [key]: { ...sighting, approved: true } } };
}

// A plain look-up would find `constructor` in every object.
const sightingsOf = (watch: Watch): Sightings => new Map(Object.entries(watch.sightings));

function recall(watch: Watch, moment: Moment): Sightings {
  if (!moment.firstSinceStart) return sightingsOf(watch);
  const stale = ([key, { absence, ...sighting }]: [string, Sighting]): [string, Sighting] => [
    key,
    absence === undefined ? sighting : { ...sighting, absence: { ...absence, stale: true } },
  ];
  return new Map([...sightingsOf(watch)].map(stale));
}

const isConfirmable = ({ absence }: Sighting): boolean => absence !== undefined && absence.stale !== true;

/** What stays remembered before the transitions speak: what is still there, or may be though it was not read. */
function carryOver(
  before: Sightings,
  present: ReadonlyMap<string, ScheduledEvent>,
  partial: boolean,
  doubtful: boolean,
): Map<string, Sighting> {
  const kept = new Map<string, Sighting>();
  for (const [key, sighting] of before) {
    const event = present.get(key);
    if (event !== undefined) kept.set(key, { ...withoutDoubt(sighting), event });
    else if (partial) kept.set(key, { ...sighting, hidden: true });
    else if (doubtful && isOver(sighting.event)) kept.set(key, sighting);
  }
  return kept;
}

/** An event that Azure called over and that comes back begins a new life. */
function livingSighting(before: Sighting | undefined, transition: Transition): Sighting | undefined {
  return before !== undefined && isOver(before.event) && !isOver(transition.event) ? undefined : before;
}

function withoutDoubt({ absence: _, hidden: __, ...sighting }: Sighting): Sighting {
  return sighting;
}

function absenceFrom(sighting: Sighting | undefined, watch: Watch, moment: Moment): Absence {
  const rebooted = watch.bootId !== moment.bootId;
  const approved = sighting?.approved ?? false;
  if (sighting?.absence === undefined) {
    const pollGapMs = sighting?.hidden ? null : moment.pollGapMs;
    return { at: moment.now, pollGapMs, rebooted, approved, notBefore: sighting?.notBefore ?? null };
  }
  // The first document without the event knows best when it left; a reboot in between tells that it ran.
  const { stale: _, ...absence } = sighting.absence;
  return { ...absence, rebooted: absence.rebooted || rebooted, approved };
}

function sight(before: Sighting | undefined, transition: Transition, at: number, first: boolean): Sighting {
  const { event, kind } = transition;
  const fresh = { firstSeenAt: at, timeline: {}, notBefore: null, initial: first, approved: false };
  const base: Omit<Sighting, 'event'> = before ?? fresh;
  const known = kind === 'updated' ? undefined : base.timeline[kind];
  return {
    ...withoutDoubt({ ...base, event }),
    notBefore: event.notBefore ?? base.notBefore,
    timeline: { ...base.timeline, [kind]: known ?? new Date(at).toISOString() },
  };
}

/**
 * Seconds from first sight to `notBefore` while the event is coming; to its start once it began.
 * Rounded down: nobody had more notice than this.
 */
function noticeOf(transition: Transition, sighting: Sighting): number | null {
  const { firstSeenAt, timeline, notBefore, initial } = sighting;
  const coming = timeline.started === undefined;
  if (coming && (transition.kind === 'scheduled' || transition.kind === 'updated')) {
    return notBefore === null ? null : Math.floor((Date.parse(notBefore) - firstSeenAt) / 1000);
  }
  // An event that had already begun when the agent began started at a time that nobody here knows.
  if (coming || (initial && timeline.scheduled === undefined)) return null;
  return Math.floor((Date.parse(timeline.started) - firstSeenAt) / 1000);
}

function wentDown(before: string | null, now: string | null): boolean {
  if (before === null || now === null || before.trim() === '' || now.trim() === '') return false;
  return Number(now) < Number(before);
}
