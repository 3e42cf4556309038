// The timeline of one event: every figure with how sure it is, its VMs, and its story in the order of time.
import { canonicalName } from './document.ts';
import { dueAt } from './event-course.ts';
import type { EventStatus } from './event-fold.ts';
import { type Expected, expectedOf, groupOf, type MissingReason } from './observation-gaps.ts';
import type { ImpactDeed } from './read-deed.ts';
import { correlationOf, eventPartOf } from './record.ts';
import { expectedBy } from './silence.ts';
import { type Approved, approvedFigure } from './timeline-approval.ts';
import { type Figure, figure, unknownFigure } from './timeline-figure.ts';
import { type ImpactFigures, impactByVm, impactFigures } from './timeline-impact.ts';
import { type NoticeFigures, noticeFigures } from './timeline-notice.ts';
import type { NotifiedFact, TimelineParts } from './timeline-parts.ts';
import { type StoryLine, storyOf } from './timeline-story.ts';
import { type WaveFigures, waveFigures } from './timeline-wave.ts';

/**
 * How the event ended. `missed-start`: gone after its time, and nobody saw it start. `started-only`: it started, and
 * nobody is left who could tell its end. `expired`: its time passed, and nobody is left who could tell more. `open`: it
 * stands in the document of agents that are heard.
 */
export type Outcome = 'completed' | 'canceled' | 'missed-start' | 'started-only' | 'expired' | 'open';

/** A VM that should have told of the event and did not. */
export interface Missing {
  readonly vmName: string | null;
  readonly agentId: string | null;
  readonly reason: MissingReason;
}

/** A VM that the event names. */
export interface NamedVm {
  readonly vmName: string;
  readonly faultDomain: string | null;
  readonly agentId: string | null;
  readonly saw: Expected['saw'];
  readonly reason: MissingReason | null;
  /** Whether its own agent told how the event ended, or only those of other VMs did. */
  readonly endToldBy: 'itself' | 'peers' | 'nobody';
  /** Null when its agent measured nothing. */
  readonly impact: ImpactDeed | null;
}

/** The way of one notice to one sink. */
export type Notified = Pick<NotifiedFact, 'sink' | 'outcome' | 'reason' | 'attempts' | 'settledAt'> & {
  /** Those of its facts that are of this event. */
  readonly facts: readonly string[];
};

export interface Timeline extends NoticeFigures, ImpactFigures, WaveFigures {
  readonly eventId: string;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly description: string | null;
  readonly notBefore: string | null;
  readonly status: EventStatus;
  readonly approved: Figure<Approved>;
  readonly outcome: Figure<Outcome>;
  readonly agentsExpected: Figure<number>;
  readonly agentsSaw: Figure<number>;
  readonly agentsMissing: Figure<readonly Missing[]>;
  readonly notified: Figure<readonly Notified[]>;
  readonly vms: readonly NamedVm[];
  readonly story: readonly StoryLine[];
}

/**
 * Makes the timeline of an event.
 * @param now epoch ms: what is silent or still to come depends on it
 */
export function timelineOf(parts: TimelineParts, now: number): Timeline {
  const { event } = parts;
  const { eventId, eventType, eventSource, description, notBefore, status } = event;
  const expected = expectedOf(parts, now);
  const notices = noticesOf(parts);
  return {
    ...{ eventId, eventType, eventSource, description, notBefore, status },
    ...noticeFigures(parts),
    approved: approvedFigure(parts),
    ...impactFigures(parts),
    outcome: outcomeFigure(parts, now),
    ...observerFigures(parts, expected),
    notified:
      notices.length === 0
        ? unknownFigure('the journal tells of no notice about it')
        : figure(notices.map(notifiedBy(eventId)), 'said'),
    ...waveFigures(parts, now),
    vms: namedVms(parts, expected),
    story: storyOf({ ...parts, notices }),
  };
}

// Beyond its time an event lingers in the document only while Azure waits for others.
const expiredMs = 60 * 60_000;

function outcomeFigure(parts: TimelineParts, now: number): Figure<Outcome> {
  const { event, tellings, agents } = parts;
  if (event.outcome !== null) {
    return event.outcomeInferred
      ? figure(event.outcome, 'inferred', 'it was gone: Azure never says how an event ended')
      : figure(event.outcome, 'said');
  }
  const tellers = new Set(tellings.map(({ agentId }) => agentId));
  const isHeard = agents.some(
    (agent) => tellers.has(agent.agentId) && agent.goneAt === null && expectedBy(agent) >= now,
  );
  if (isHeard) return figure('open', 'measured');
  const why = 'nobody who saw it is heard of any more';
  if (event.startedAt !== null) return figure('started-only', 'inferred', why);
  const due = dueAt(event);
  return due !== null && due + expiredMs < now
    ? figure('expired', 'inferred', why)
    : figure('open', 'estimated', why);
}

type ObserverFigures = Pick<Timeline, 'agentsExpected' | 'agentsSaw' | 'agentsMissing'>;

function observerFigures(parts: TimelineParts, expected: readonly Expected[]): ObserverFigures {
  const withAgent = expected.filter(({ agentId }) => agentId !== null);
  const isOfSet = groupOf(parts).members.some(
    ({ latest }) => latest.placementGroupId !== null || latest.vmScaleSet !== null,
  );
  const missing = expected.flatMap(({ vmName, agentId, reason }) =>
    reason === null ? [] : [{ vmName, agentId, reason }],
  );
  const count = withAgent.length;
  return {
    agentsExpected: isOfSet
      ? figure(count, 'inferred', 'by placement group or scale set')
      : figure(count, 'estimated', 'a VM that is in no scale set does not know who gets the same document'),
    agentsSaw: figure(expected.filter(({ saw }) => saw !== null).length, 'said'),
    agentsMissing: figure(missing, 'inferred'),
  };
}

const isAbout =
  (eventId: string) =>
  (fact: string): boolean =>
    eventPartOf(fact) === correlationOf(eventId);

const noticesOf = ({ notices, event }: TimelineParts): NotifiedFact[] =>
  notices.filter(({ facts }) => facts.some(isAbout(event.eventId)));

const notifiedBy =
  (eventId: string) =>
  ({ sink, outcome, reason, attempts, settledAt, facts }: NotifiedFact): Notified => ({
    ...{ sink, outcome, reason, attempts, settledAt, facts: facts.filter(isAbout(eventId)) },
  });

function namedVms(parts: TimelineParts, expected: readonly Expected[]): NamedVm[] {
  const impacts = impactByVm(parts);
  const ended = parts.tellings.some(
    ({ transition }) => transition === 'completed' || transition === 'canceled',
  );
  return expected
    .filter(({ named }) => named)
    .map(({ vmName, faultDomain, agentId, saw, reason, toldEnd }) => ({
      ...{ vmName: vmName ?? '', faultDomain, agentId, saw, reason },
      endToldBy: toldEnd ? 'itself' : ended ? 'peers' : 'nobody',
      impact: impacts.get(canonicalName(vmName ?? '')) ?? null,
    }));
}
