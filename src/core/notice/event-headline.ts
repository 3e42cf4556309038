// The first line of a notice about an event: its state, what it does, to which VM and when.
import { changedFields } from './event-changes.ts';
import { impactOf } from './impact.ts';
import {
  type EventDetails,
  isOnsetKnown,
  isUnderWay,
  type Naming,
  type ReportedEvent,
  vmsOf,
} from './reported.ts';
import { utcText } from './time-text.ts';

const states = {
  scheduled: 'Maintenance scheduled',
  updated: 'Maintenance updated',
  started: 'Maintenance in progress',
  completed: 'Maintenance completed',
  canceled: 'Maintenance canceled',
} as const;

/** The state in words, with the doubt about it. */
export const stateText = ({ transition, reason }: ReportedEvent): string =>
  reason === 'start-not-observed' ? 'Maintenance probably completed' : states[transition];

/** Such as `Maintenance scheduled: Freeze (about 5 s) on WestNO_0, not before 2026-11-10 22:26:58 UTC`. */
export const headlineOf = (event: ReportedEvent): string =>
  `${stateText(event)}: ${whatOf(event)} on ${vmsText(event)}, ${whenText(event)}`;

/** Such as `Freeze (about 5 s)`. */
export const whatOf = ({ details }: { readonly details: EventDetails }): string =>
  impactOf(details.eventType, details.durationSeconds).short;

/** Such as `WestNO_0 and 3 more VMs`. */
export function vmsText(event: Naming): string {
  const [first, ...others] = vmsOf(event);
  if (first === undefined) return 'a VM that Azure did not name';
  if (others.length === 0) return first;
  return `${first} and ${others.length} more ${others.length === 1 ? 'VM' : 'VMs'}`;
}

function whenText(event: ReportedEvent): string {
  switch (event.transition) {
    case 'scheduled':
      return dueText(event);
    case 'updated':
      return `${isUnderWay(event.details) ? 'in progress' : dueText(event)}${changesText(event)}`;
    case 'started':
      return startText(event);
    case 'completed':
    case 'canceled':
      return endText(event);
  }
}

function dueText({ details: { notBefore, notBeforeText } }: ReportedEvent): string {
  if (notBefore !== null) return `not before ${utcText(notBefore)}`;
  return notBeforeText === null ? 'start time not given' : `not before "${notBeforeText}"`;
}

function changesText(event: ReportedEvent): string {
  const names = changedFields(event).map(({ name }) => name);
  return names.length === 0 ? '' : ` (changed: ${names.join(', ')})`;
}

function startText(event: ReportedEvent): string {
  const { at } = event;
  if (at === null) return 'start time not known';
  return isOnsetKnown(event) ? `started ${utcText(at)}` : `already under way when first seen ${utcText(at)}`;
}

function endText(event: ReportedEvent): string {
  const { transition, at, details, inferred } = event;
  const end = at === null ? 'when is not known' : `${endWord(event)} ${utcText(at)}`;
  const told = inferred ? `${end} (inferred)` : end;
  if (transition === 'completed' || details.notBefore === null) return told;
  const due = `was due ${utcText(details.notBefore)}`;
  return inferred ? `${due}, ${told}` : due;
}

/** How the end of an event is put: what nobody saw run did not finish, it went. */
export const endWord = ({ transition, reason }: ReportedEvent): string =>
  transition === 'completed' && reason !== 'start-not-observed' ? 'finished by' : 'gone by';
