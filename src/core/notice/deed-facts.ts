// Reads a record of what an agent did about an event, or measured of it, and tells the facts that all of them share.
import { canonicalName } from '../document.ts';
import type { Notice, NoticeFact, NoticeTone } from '../notice.ts';
import { listText } from './event-changes.ts';
import { vmsText, whatOf } from './event-headline.ts';
import { impactOf } from './impact.ts';
import { portalUrlOf } from './portal.ts';
import {
  child,
  type EventDetails,
  eventDetails,
  type Naming,
  type ReportedRecord,
  reportedEventId,
  reportedVm,
  vmsOf,
} from './reported.ts';
import { factOf, placeFacts, timeFact, vmFact } from './vm-facts.ts';

/** A deed as its record tells of it. */
export interface ReportedDeed extends Naming {
  /** Epoch ms; null when the record does not say. */
  readonly at: number | null;
  readonly data: unknown;
  /** The VM whose agent did it, in words. */
  readonly vmText: string;
  /** Such as `Freeze (about 5 s)`. */
  readonly what: string;
  /** Such as `Freeze (about 5 s) on WestNO_0 and 1 more VM`. */
  readonly whatOnVms: string;
  readonly eventId: string | null;
}

/** Reads what deeds have in common. */
export function reportedDeed({ data, at, correlationId }: ReportedRecord): ReportedDeed {
  const [details, vm] = [eventDetails(child(data, 'event')), reportedVm(data)];
  const naming = { details, vm, affected: isNamed(vm.vmName, details) };
  const what = whatOf(naming);
  return {
    ...naming,
    at,
    data,
    vmText: vm.vmName ?? 'a VM whose name is not known',
    what,
    whatOnVms: `${what} on ${vmsText(naming)}`,
    eventId: reportedEventId(data) ?? correlationId,
  };
}

const isNamed = (vmName: string | null, { resources }: EventDetails): boolean | null =>
  vmName === null ? null : resources.some((name) => canonicalName(name) === canonicalName(vmName));

/** What is particular about one deed. */
export interface DeedWords {
  readonly tone: NoticeTone;
  /** Such as `Approved`; the title puts the VM behind it. */
  readonly stateText: string;
  readonly headline: string;
  readonly what: string;
  readonly facts: readonly NoticeFact[];
  readonly description?: { readonly speaker: string; readonly text: string } | null;
  readonly remarks: readonly (string | null)[];
}

/** The notice of a deed: its own words among what all deeds say of the event and the VM. */
export function deedNotice(deed: ReportedDeed, words: DeedWords): Notice {
  const { tone, stateText, headline, what, facts, description = null, remarks } = words;
  return {
    state: 'deed',
    tone,
    headline,
    title: `${stateText}: ${deed.vmText}`,
    what,
    facts: [...subjectFacts(deed), ...facts, ...placeFacts(deed.vm)],
    description: description?.text ?? null,
    ...(description === null ? {} : { speaker: description.speaker }),
    remarks: remarks.filter((remark) => remark !== null),
    portalUrl: portalUrlOf(deed.vm.resourceId),
    eventId: deed.eventId,
  };
}

function subjectFacts(deed: ReportedDeed): readonly NoticeFact[] {
  const { vm, details, affected } = deed;
  const named = affected === true ? vmsOf(deed).slice(1) : details.resources;
  return [
    ...vmFact('VM', vm),
    ...factOf(affected === true ? 'Also named' : 'Event names', named.length === 0 ? null : listText(named)),
    ...factOf('Event', impactOf(details.eventType, details.durationSeconds).full),
  ];
}

/** When the event starts by itself; none when Azure gave no time. */
export const dueFacts = ({ details: { notBefore, notBeforeText } }: ReportedDeed): readonly NoticeFact[] =>
  notBefore === null ? factOf('Not before', notBeforeText) : timeFact('Not before', notBefore);
