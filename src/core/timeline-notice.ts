// How much notice an event gave: what was offered, what was left when it started, and what Azure documents.
import { dueAt, noticeSecondsMin, startedUnannounced } from './event-course.ts';
import type { EventSummary } from './event-fold.ts';
import { type Figure, figure, unknownFigure } from './timeline-figure.ts';
import type { TimelineParts } from './timeline-parts.ts';

/** Who saw it first, and when. */
export interface FirstSight {
  /** Epoch ms by the clock of that VM. */
  readonly at: number;
  /** The VM; the installation where the VM's name never came. */
  readonly by: string | null;
}

export interface NoticeFigures {
  readonly firstSeen: Figure<FirstSight>;
  readonly noticeOfferedSeconds: Figure<number>;
  readonly noticeEffectiveSeconds: Figure<number>;
  readonly noticeMinimumSeconds: Figure<number>;
  readonly noticeShortfallSeconds: Figure<number>;
  readonly detectionDelaySeconds: Figure<number>;
}

const seconds = (ms: number): number => Math.round(ms / 1_000);

const lateBeginning = 'the agent that saw it first began with it: it may have been there for longer';

export function noticeFigures(parts: TimelineParts): NoticeFigures {
  const { event } = parts;
  const noticeOfferedSeconds = offered(event);
  const minimum = noticeSecondsMin(event.eventType);
  return {
    firstSeen: firstSight(parts),
    noticeOfferedSeconds,
    noticeEffectiveSeconds: effective(event),
    noticeMinimumSeconds:
      minimum === null ? unknownFigure(noMinimum(event.eventType)) : figure(minimum, 'said'),
    noticeShortfallSeconds: shortfall(event, noticeOfferedSeconds, minimum),
    detectionDelaySeconds: delay(event, noticeOfferedSeconds, minimum),
  };
}

const noMinimum = (eventType: string | null): string =>
  eventType?.toLowerCase() === 'terminate'
    ? 'the user sets the notice of a Terminate, between 5 and 15 minutes'
    : 'Azure documents none for this type';

function firstSight({ event, tellings, agents }: TimelineParts): Figure<FirstSight> {
  const [first] = tellings.toSorted(
    (one, other) => one.at - other.at || (one.agentId < other.agentId ? -1 : 1),
  );
  const agent = agents.find(({ agentId }) => agentId === first?.agentId);
  const sight = { at: event.firstSeenAt, by: agent?.vmName ?? first?.agentId ?? null };
  return event.firstSeenInitial ? figure(sight, 'estimated', lateBeginning) : figure(sight, 'measured');
}

function offered(event: EventSummary): Figure<number> {
  const due = dueAt(event);
  if (due === null) return unknownFigure('no time was announced');
  if (startedUnannounced(event)) return unknownFigure('it had started when it was first seen');
  const value = seconds(due - event.firstSeenAt);
  if (event.firstSeenInitial) return figure(value, 'estimated', lateBeginning);
  return event.updatedAt === null
    ? figure(value, 'measured')
    : figure(value, 'estimated', 'it was changed on the way: this counts to its last announced time');
}

function effective(event: EventSummary): Figure<number> {
  const { startedAt, firstSeenAt } = event;
  if (startedAt === null) return unknownFigure('nobody saw it start');
  const value = Math.max(seconds(startedAt - firstSeenAt), 0);
  if (startedUnannounced(event)) return figure(value, 'measured', 'no notice: it began as it was first seen');
  return event.firstSeenInitial ? figure(value, 'estimated', lateBeginning) : figure(value, 'measured');
}

function shortfall(event: EventSummary, given: Figure<number>, minimum: number | null): Figure<number> {
  if (minimum === null) return unknownFigure(noMinimum(event.eventType));
  if (given.value === null) return unknownFigure(given.because ?? '');
  const value = Math.max(minimum - given.value, 0);
  // An agent that began late makes the notice look shorter than it was.
  return { value, confidence: given.confidence, because: given.because };
}

function delay(event: EventSummary, given: Figure<number>, minimum: number | null): Figure<number> {
  if (minimum === null) return unknownFigure(noMinimum(event.eventType));
  if (given.value === null) return unknownFigure(given.because ?? '');
  const value = minimum - given.value;
  return value < 0
    ? unknownFigure('Azure gave more notice than the minimum, so nothing can be compared')
    : figure(value, 'estimated', 'as if Azure had announced it exactly at the minimum');
}
