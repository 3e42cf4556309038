// Reads what IMDS answers, whatever its api-version or mood, into one normalized document.
import { parseNotBefore } from './not-before.ts';

/** One entry of `Events`, normalized. Unknown types, statuses and sources stay as they came. */
export interface ScheduledEvent {
  /** As IMDS spells it. Compare by `eventKey`: the case of a GUID varies between Azure's own channels. */
  readonly eventId: string;
  readonly eventType: string;
  readonly eventStatus: string;
  /** Null before api-version 2019-08-01. */
  readonly eventSource: string | null;
  readonly resourceType: string | null;
  /** VM names as they came, in their order: the first one has a say in who approves. */
  readonly resources: readonly string[];
  /** RFC 3339 UTC, or null when blank, missing or unreadable. */
  readonly notBefore: string | null;
  /** The wire's own text, kept only when it was there and could not be read as a time. */
  readonly notBeforeText?: string;
  readonly description: string | null;
  /** Null for -1, missing or unreadable: Azure does not know, or it does not apply. */
  readonly durationSeconds: number | null;
}

/** The Scheduled Events document: what IMDS says is true now. */
export interface ScheduledEventsDocument {
  /** As text: IMDS has sent numbers and strings, and it resets, so it only ever is a hint. */
  readonly incarnation: string | null;
  /** At most one per event key. */
  readonly events: readonly ScheduledEvent[];
  /** True when an entry could not be read: such a document cannot prove that an event is gone. */
  readonly partial: boolean;
}

/** What one 200 body turned out to be. `empty` and `unreadable` say nothing about any event. */
export type Reading =
  | {
      readonly status: 'document';
      readonly document: ScheduledEventsDocument;
      readonly oddities: readonly string[];
    }
  | { readonly status: 'empty' }
  | { readonly status: 'unreadable'; readonly reason: string };

/** The identity of an event within and between documents. */
export const eventKey = (eventId: string): string => eventId.toLowerCase();

/**
 * Reads the body of a 200 answer.
 * @param body the text as it came; a byte order mark and white space around it are tolerated
 * @returns the document, or why there is none; never throws
 */
export function readDocument(body: string): Reading {
  // `trim` takes a byte order mark for white space.
  const text = body.trim();
  // A zero-byte 200 is IMDS's normal answer while the feature wakes up, and on some nodes for ever.
  if (text === '') return { status: 'empty' };
  let wire: unknown;
  try {
    wire = JSON.parse(text);
  } catch {
    return { status: 'unreadable', reason: 'the body is not JSON' };
  }
  if (!isObject(wire)) return { status: 'unreadable', reason: 'the body is not a JSON object' };
  if (!Array.isArray(wire['Events'])) return { status: 'unreadable', reason: 'the body has no Events list' };
  return readEvents(wire, wire['Events']);
}

function readEvents(wire: WireObject, entries: readonly unknown[]): Reading {
  const oddities: string[] = [];
  const events = new Map<string, ScheduledEvent>();
  let partial = false;
  entries.forEach((entry, index) => {
    const event = readEvent(entry);
    if (event === null) {
      partial = true;
      oddities.push(`Events[${index}] has no EventId and was left out`);
      return;
    }
    const key = eventKey(event.eventId);
    const twin = events.get(key);
    if (twin !== undefined) oddities.push(`EventId ${event.eventId} stands more than once`);
    events.set(key, twin === undefined ? event : merge(twin, event));
    if (event.notBeforeText !== undefined) oddities.push(`NotBefore of ${event.eventId} is not a time`);
  });
  const document = {
    incarnation: textOf(wire['DocumentIncarnation']),
    events: [...events.values()],
    partial,
  };
  return { status: 'document', document, oddities };
}

function readEvent(entry: unknown): ScheduledEvent | null {
  if (!isObject(entry)) return null;
  const eventId = textOf(entry['EventId'])?.trim();
  if (!eventId) return null;
  const notBeforeText = textOf(entry['NotBefore'])?.trim() ?? '';
  const notBefore = parseNotBefore(notBeforeText);
  const type = textOf(entry['EventType']) ?? '';
  return {
    eventId,
    // The 2016 preview called a freeze a pause; later versions renamed it.
    eventType: type.toLowerCase() === 'pause' ? 'Freeze' : type,
    eventStatus: textOf(entry['EventStatus']) ?? '',
    eventSource: textOf(entry['EventSource']),
    resourceType: textOf(entry['ResourceType']),
    resources: readResources(entry['Resources']),
    notBefore,
    ...(notBefore === null && notBeforeText !== '' ? { notBeforeText } : {}),
    description: textOf(entry['Description']),
    durationSeconds: readDuration(entry['DurationInSeconds']),
  };
}

/**
 * Two entries of one id are one event: the further one speaks, and no VM named in either is lost.
 * Which of them stands first must not matter, or a document that turns them round would be news.
 */
function merge(first: ScheduledEvent, second: ScheduledEvent): ScheduledEvent {
  const speaks = progressOf(first) > progressOf(second) ? first : second;
  return { ...speaks, resources: [...new Set([...first.resources, ...second.resources])] };
}

function progressOf(event: ScheduledEvent): string {
  const phase = endingOf(event) !== null ? 2 : isStarted(event) ? 1 : 0;
  return `${phase} ${contentOf({ ...event, resources: [] })}`;
}

/** Whether Azure says the event has begun. */
export const isStarted = (event: ScheduledEvent): boolean => event.eventStatus.toLowerCase() === 'started';

/** How Azure itself says that the event is over; null while it does not. No IMDS document has done so yet. */
export function endingOf(event: ScheduledEvent): 'completed' | 'canceled' | null {
  const status = event.eventStatus.toLowerCase();
  if (status === 'completed') return 'completed';
  return status === 'canceled' || status === 'cancelled' ? 'canceled' : null;
}

/**
 * What makes two sightings of an event the same fact: its content, not the order of its VMs.
 * The resource type is left out because it has only ever had one value.
 */
export function contentOf(event: ScheduledEvent): string {
  return JSON.stringify([
    event.eventType,
    event.eventStatus,
    event.eventSource,
    [...event.resources].sort(),
    event.notBefore ?? event.notBeforeText ?? null,
    event.description,
    event.durationSeconds,
  ]);
}

/**
 * Whether `resources` names this VM: exact, but for case and one leading underscore, which
 * api-version 2017-03-01 put before the names of IaaS VMs. A prefix or substring is never a match:
 * `web1` is not `web10`.
 */
export function names(resources: readonly string[], vmName: string): boolean {
  const own = canonicalName(vmName);
  return resources.some((resource) => canonicalName(resource) === own);
}

/** The form in which VM names are compared. */
export const canonicalName = (name: string): string => name.replace(/^_/, '').toLowerCase();

type WireObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is WireObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of a JSON string or number: Azure has sent one for the other. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return null;
}

function readResources(value: unknown): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.map(textOf).filter((name): name is string => name !== null && name !== '');
}

function readDuration(value: unknown): number | null {
  if (typeof value !== 'number' && !(typeof value === 'string' && value.trim() !== '')) return null;
  const seconds = Number(value);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
