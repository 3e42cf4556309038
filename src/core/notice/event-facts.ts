// The lines under the headline of a notice about an event, in the order in which they are needed.

import type { NoticeFact } from '../notice.ts';
import { changedFields, listText } from './event-changes.ts';
import { endWord } from './event-headline.ts';
import { fleetPlaceFacts, fleetVmFacts } from './fleet-facts.ts';
import { impactOf } from './impact.ts';
import { isOnsetKnown, isUnderWay, type ReportedEvent, vmsOf } from './reported.ts';
import type { ReportedFleet } from './reported-fleet.ts';
import { lengthText, utcText } from './time-text.ts';
import { factOf, placeFacts, timeFact, vmFact } from './vm-facts.ts';

type Facts = readonly NoticeFact[];

/** The facts about an event, and about the VM that saw it, or about all that it names. */
export function eventFacts(event: ReportedEvent, fleet: ReportedFleet | null): Facts {
  const { eventType, durationSeconds, eventSource } = event.details;
  return [
    ...(fleet === null ? subjectFacts(event) : fleetVmFacts(fleet, event.details.resources)),
    ...factOf('Changed', changesOf(event)),
    ...factOf('Impact', impactOf(eventType, durationSeconds).full),
    ...timeFacts(event),
    ...factOf('Started by', startedByText(eventSource)),
    ...factOf('Approval', approvalOf(event)),
    ...factOf('Notice given', noticeGiven(event)),
    ...(fleet === null ? placeFacts(event.vm) : fleetPlaceFacts(fleet)),
  ];
}

function subjectFacts(event: ReportedEvent): Facts {
  const [first, ...others] = vmsOf(event);
  const speaksForItself = event.affected === true && event.vm.vmName !== null;
  // The portal link is the observer's: it must not lead from the name of another VM.
  const subject = speaksForItself
    ? vmFact('VM', event.vm)
    : [...factOf('VM', first ?? 'Not named by Azure'), ...vmFact('Seen by', event.vm)];
  return [...subject, ...factOf('Also named', others.length === 0 ? null : listText(others))];
}

const changesOf = (event: ReportedEvent): string | null =>
  changedFields(event)
    .map(({ name, text }) => `${name} (${text})`)
    .join(', ') || null;

function timeFacts(event: ReportedEvent): Facts {
  const { transition, at, details, timeline } = event;
  const inferred = event.inferred ? ' (inferred)' : '';
  const due = (title: string): Facts =>
    details.notBefore === null ? factOf(title, details.notBeforeText) : timeFact(title, details.notBefore);
  switch (transition) {
    case 'scheduled':
      return due('Not before');
    case 'updated':
      return isUnderWay(details) ? startFacts(event, timeline.started) : due('Not before');
    case 'started':
      return startFacts(event, at);
    case 'completed':
      return [
        ...startFacts(event, timeline.started),
        ...timeFact(capitalized(endWord(event)), at, inferred),
        ...factOf('In progress for', seenFor(event)),
      ];
    case 'canceled':
      return [...due('Was due'), ...timeFact('Gone by', at, inferred)];
  }
}

const startFacts = (event: ReportedEvent, at: number | null): Facts =>
  timeFact(isOnsetKnown(event) ? 'Started' : 'First seen in progress', at);

/** How long Azure kept the event under way, which is longer than the VM was away. */
function seenFor(event: ReportedEvent): string | null {
  const { started, completed } = event.timeline;
  if (started === null || completed === null || completed < started) return null;
  const length = lengthText((completed - started) / 1000);
  return isOnsetKnown(event) ? `About ${length}` : `At least ${length}`;
}

/** Who Azure says is behind an event. */
export function startedByText(eventSource: string | null): string {
  const source = eventSource?.toLowerCase();
  if (source === 'platform') return 'Azure platform';
  if (source === 'user') return 'A user';
  return eventSource ?? 'Not said by Azure';
}

function approvalOf(event: ReportedEvent): string | null {
  const { transition, details, initial } = event;
  if (!isAhead(event)) return null;
  const when = details.notBefore === null ? '' : ` at or after ${utcText(details.notBefore)}`;
  const start = `starts by itself${when}, sooner if approved`;
  // Whether somebody approved it since it was announced is not in the record.
  return transition === 'scheduled' && !initial ? `Not approved: ${start}` : capitalized(start);
}

const isAhead = ({ transition, details }: ReportedEvent): boolean =>
  (transition === 'scheduled' || transition === 'updated') && !isUnderWay(details);

function noticeGiven(event: ReportedEvent): string | null {
  const { noticeSeconds } = event;
  if (noticeSeconds === null) return null;
  if (noticeSeconds <= 0) return 'None: it was due or under way when first seen';
  return `${lengthText(noticeSeconds)} from first sight to ${isAhead(event) ? 'the earliest start' : 'the start'}`;
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
