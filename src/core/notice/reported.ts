// Reads what a record says about an event and a VM, for people: whatever a field holds, nothing throws.
import type { TransitionKind } from '../diff.ts';
import { canonicalName, textOf } from '../document.ts';
import { plainText, shortened } from './plain-text.ts';
import { readTime } from './time-text.ts';

/** What every notice is made from: a record, as far as all of its kinds are alike. */
export interface ReportedRecord {
  /** Plain and of bounded length. */
  readonly type: string;
  /** Epoch ms; null when the record does not say. */
  readonly at: number | null;
  readonly severity: string | null;
  readonly correlationId: string | null;
  readonly data: unknown;
}

/** The VM that speaks. Texts are plain and of bounded length; what the record does not say is null. */
export interface ReportedVm {
  readonly vmName: string | null;
  readonly resourceId: string | null;
  readonly location: string | null;
  readonly resourceGroup: string | null;
  readonly zone: string | null;
  readonly vmScaleSet: string | null;
  readonly faultDomain: string | null;
  readonly vmSize: string | null;
}

/** One event, as a record tells of it. Times are epoch ms; what the record does not say is null. */
export interface ReportedEvent {
  readonly transition: TransitionKind;
  /** When the transition was seen. */
  readonly at: number | null;
  readonly reason: string | null;
  readonly inferred: boolean;
  readonly affected: boolean | null;
  readonly initial: boolean;
  readonly details: EventDetails;
  /** The values that changed, as the record has them. */
  readonly previous: unknown;
  /** Null for a phase that was not seen. */
  readonly timeline: Readonly<Record<TransitionKind, number | null>>;
  readonly noticeSeconds: number | null;
  readonly vm: ReportedVm;
}

/** What Azure said about the event. */
export interface EventDetails {
  readonly eventType: string | null;
  readonly eventStatus: string | null;
  readonly eventSource: string | null;
  /** Each VM once, without the underscore of api-version 2017-03-01. */
  readonly resources: readonly string[];
  readonly notBefore: number | null;
  /** What stood there instead of a time. */
  readonly notBeforeText: string | null;
  readonly description: string | null;
  readonly durationSeconds: number | null;
}

const wordsMax = 120;
const vmsMax = 5_000;
const descriptionLengthMax = 10_000;

/** Reads `data` of an event record. @param at epoch ms of the record */
export function reportedEvent(transition: TransitionKind, data: unknown, at: number | null): ReportedEvent {
  const [affected, timeline] = [child(data, 'affected'), child(data, 'timeline')];
  const seen = (phase: TransitionKind): number | null => readTime(child(timeline, phase));
  return {
    transition,
    at: at ?? seen(transition),
    reason: wordsAt(data, 'reason'),
    inferred: child(data, 'inferred') === true,
    affected: typeof affected === 'boolean' ? affected : null,
    initial: child(data, 'initial') === true,
    details: eventDetails(child(data, 'event')),
    previous: child(data, 'previous'),
    timeline: {
      scheduled: seen('scheduled'),
      updated: seen('updated'),
      started: seen('started'),
      completed: seen('completed'),
      canceled: seen('canceled'),
    },
    noticeSeconds: numberAt(data, 'noticeSeconds'),
    vm: reportedVm(data),
  };
}

/** Reads an event as a record has it. */
export function eventDetails(event: unknown): EventDetails {
  const notBefore = readTime(child(event, 'notBefore'));
  const duration = numberAt(event, 'durationSeconds');
  return {
    eventType: wordsAt(event, 'eventType'),
    eventStatus: wordsAt(event, 'eventStatus'),
    eventSource: wordsAt(event, 'eventSource'),
    resources: vmNames(child(event, 'resources')),
    notBefore,
    notBeforeText:
      notBefore === null ? (wordsAt(event, 'notBeforeText') ?? wordsAt(event, 'notBefore')) : null,
    description: wordsAt(event, 'description', descriptionLengthMax),
    durationSeconds: duration !== null && duration >= 0 ? duration : null,
  };
}

/** Reads `data.observer` of any record. */
export function reportedVm(data: unknown): ReportedVm {
  const observer = child(data, 'observer');
  const resourceId = child(observer, 'resourceId');
  return {
    vmName: wordsAt(observer, 'vmName'),
    resourceId: typeof resourceId === 'string' ? resourceId : null,
    location: wordsAt(observer, 'location'),
    resourceGroup: wordsAt(observer, 'resourceGroup'),
    zone: wordsAt(observer, 'zone'),
    vmScaleSet: wordsAt(observer, 'vmScaleSet'),
    faultDomain: wordsAt(observer, 'faultDomain'),
    vmSize: wordsAt(observer, 'vmSize'),
  };
}

/** The id of the event that the record is about, as spelled; null when it names none. */
export const reportedEventId = (data: unknown): string | null =>
  wordsAt(child(data, 'event'), 'eventId') ?? wordsAt(data, 'eventId');

/** The value of a property of its own; undefined for anything that has none. */
export function child(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** A text or number as plain words; null when there is none. @param lengthMax in UTF-16 units */
export function wordsAt(value: unknown, name: string, lengthMax = wordsMax): string | null {
  const text = textOf(child(value, name));
  return text === null ? null : shortened(plainText(text), lengthMax) || null;
}

/** A finite number; null for anything else. */
export function numberAt(value: unknown, name: string): number | null {
  const number = child(value, name);
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

function vmNames(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  const names = new Map<string, string>();
  for (const index of value.slice(0, vmsMax).keys()) {
    const name = wordsAt(value, String(index))?.replace(/^_\s*/, '');
    if (name) names.set(canonicalName(name), name);
  }
  return [...names.values()];
}

/** Whether the event is under way as Azure has it. */
export const isUnderWay = ({ eventStatus }: EventDetails): boolean =>
  eventStatus?.toLowerCase() === 'started';

/** What tells which VMs an event names, and whether the one that speaks is among them. */
export type Naming = Pick<ReportedEvent, 'affected' | 'details' | 'vm'>;

/** The VMs that the event names, the one that speaks first. */
export function vmsOf({ affected, details, vm }: Naming): readonly string[] {
  const { vmName } = vm;
  if (affected !== true || vmName === null) return details.resources;
  const own = canonicalName(vmName);
  return [vmName, ...details.resources.filter((name) => canonicalName(name) !== own)];
}

/** Whether the start was seen as it happened: not when the agent began with the event already under way. */
export const isOnsetKnown = ({ initial, timeline }: ReportedEvent): boolean =>
  !initial || timeline.scheduled !== null;
