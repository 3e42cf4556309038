// Reads a received body into what the trail needs of it; whatever the bytes are, it gives an answer.
import type { TransitionKind, TransitionReason } from './diff.ts';
import { canonicalName, eventKey } from './document.ts';
import { type DeedFacts, readDeed } from './read-deed.ts';
import { readSelf, type SelfFacts } from './read-self.ts';
import { child, readTime, textAt } from './read-wire.ts';
import { familyOf, type RecordFamily } from './record.ts';

/** Why a body stays an entry only: a person may want to look at it. */
export type ParkReason =
  | 'not-utf8'
  | 'not-json'
  | 'not-a-cloudevent'
  | 'foreign-type'
  | 'unknown-type'
  | 'test'
  | 'no-time'
  | 'no-event'
  | 'too-long';

export type RecordReading =
  | { readonly status: 'record'; readonly record: TrailRecord }
  | { readonly status: 'parked'; readonly reason: ParkReason };

/** One record as the trail sees it. */
export interface TrailRecord {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly family: RecordFamily;
  /** Epoch ms by the agent's clock. */
  readonly at: number;
  readonly agent: AgentFacts;
  /** What an event record says; null for the other families. */
  readonly event: EventFacts | null;
  /** What a record about a deed says; null for the other families, and where it says nothing of any event. */
  readonly deed: DeedFacts | null;
  /** What an agent says of itself; null for the other families. */
  readonly self: SelfFacts | null;
}

/** The event that a record is about, in the form in which ids are compared; null when it is about none. */
export const eventIdIn = ({ event, deed }: TrailRecord): string | null =>
  event?.eventId ?? deed?.eventId ?? null;

/** Who speaks. What the record does not say is null. */
export interface AgentFacts {
  /** The installation; the record's source when the record names none. */
  readonly agentId: string;
  readonly sequence: number | null;
  readonly version: string | null;
  readonly observer: ObserverFacts;
}

/** What the fleet's questions need to know about the observer. */
export type ObserverFacts = Readonly<Record<(typeof observerFields)[number], string | null>>;

const observerFields = [
  'vmId',
  'vmName',
  'resourceId',
  'location',
  'zone',
  'vmScaleSet',
  'placementGroupId',
  'faultDomain',
  'updateDomain',
] as const;

/** What the record says about the event. */
export interface EventFacts {
  /** In the form in which ids are compared. */
  readonly eventId: string;
  readonly transition: TransitionKind;
  readonly reason: TransitionReason | null;
  readonly inferred: boolean;
  readonly affected: boolean | null;
  /** The agent began with the event already there: it may have been there for longer. */
  readonly initial: boolean;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly notBefore: string | null;
  readonly durationSeconds: number | null;
  readonly description: string | null;
  /** The VMs it names, each once, as spelled but for the underscore of api-version 2017-03-01. */
  readonly vms: readonly string[];
}

const idLengthMax = 1_024;
const vmsMax = 5_000;

// Making one costs more than using it.
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads one body.
 * @param body the bytes as the hub gave them
 * @returns the record, or why there is none; never throws
 */
export function readRecord(body: Uint8Array): RecordReading {
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    return parked('not-utf8');
  }
  try {
    return readEnvelope(JSON.parse(text));
  } catch (error) {
    // Only JSON.parse throws here: the bytes are text, but no JSON.
    if (error instanceof SyntaxError) return parked('not-json');
    throw error;
  }
}

const parked = (reason: ParkReason): RecordReading => ({ status: 'parked', reason });

function readEnvelope(wire: unknown): RecordReading {
  const [id, source, type] = [textAt(wire, 'id'), textAt(wire, 'source'), textAt(wire, 'type')];
  if (!id || !source || !type || textAt(wire, 'specversion') !== '1.0') return parked('not-a-cloudevent');
  if (Math.max(id.length, source.length, type.length) > idLengthMax) return parked('too-long');
  const kind = readType(type);
  if (kind.status === 'parked') return kind;
  const at = readTime(textAt(wire, 'time') ?? '');
  if (Number.isNaN(at)) return parked('no-time');
  const data = child(wire, 'data');
  const event = kind.transition === null ? null : readEvent(data, kind.transition);
  if (event === 'no-event' || event === 'too-long') return parked(event);
  const agent = readAgent(data, source);
  const { family } = kind;
  const [deed, self] = [readDeed(family, data), family === 'agent' ? readSelf(data) : null];
  return { status: 'record', record: { id, source, type, family, at, agent, event, deed, self } };
}

interface KnownType {
  readonly status: 'known';
  readonly family: RecordFamily;
  /** Set for event records. */
  readonly transition: TransitionKind | null;
}

const transitions: readonly TransitionKind[] = ['scheduled', 'updated', 'started', 'completed', 'canceled'];

/** A later version of a type may mean something else, so it waits for a reader that knows it. */
function readType(type: string): KnownType | Extract<RecordReading, { status: 'parked' }> {
  const family = familyOf(type);
  if (family === null) return { status: 'parked', reason: 'foreign-type' };
  const what = /\.(?:event|agent|approval|hook|impact)(?:\.([a-z]+))?\.v1$/.exec(type);
  if (what === null) return { status: 'parked', reason: 'unknown-type' };
  // `seb sink test` speaks for no agent: what it sends says nothing about the fleet.
  if (family === 'agent' && what[1] === 'test') return { status: 'parked', reason: 'test' };
  if (family !== 'event') return { status: 'known', family, transition: null };
  const transition = transitions.find((name) => name === what[1]);
  if (transition === undefined) return { status: 'parked', reason: 'unknown-type' };
  return { status: 'known', family, transition };
}

/** The phase of its event that a record of this type tells; null for a record of another family. */
export function transitionOf(type: string): TransitionKind | null {
  const kind = readType(type);
  return kind.status === 'known' ? kind.transition : null;
}

const reasons: readonly TransitionReason[] = [
  'status',
  'removed-after-started',
  'removed-before-not-before',
  'start-not-observed',
];

function readEvent(data: unknown, transition: TransitionKind): EventFacts | 'no-event' | 'too-long' {
  const event = child(data, 'event');
  const eventId = textAt(event, 'eventId');
  if (!eventId) return 'no-event';
  if (eventId.length > idLengthMax) return 'too-long';
  const [affected, duration] = [child(data, 'affected'), child(event, 'durationSeconds')];
  const reason = textAt(data, 'reason');
  return {
    eventId: eventKey(eventId),
    transition,
    reason: reasons.find((name) => name === reason) ?? null,
    inferred: child(data, 'inferred') === true,
    affected: typeof affected === 'boolean' ? affected : null,
    initial: child(data, 'initial') === true,
    eventType: textAt(event, 'eventType'),
    eventSource: textAt(event, 'eventSource'),
    notBefore: textAt(event, 'notBefore'),
    durationSeconds: typeof duration === 'number' && Number.isFinite(duration) ? duration : null,
    description: textAt(event, 'description'),
    vms: readNames(child(event, 'resources')),
  };
}

function readNames(wire: unknown): readonly string[] {
  if (!Array.isArray(wire)) return [];
  const names = wire.slice(0, vmsMax).filter((name) => typeof name === 'string' && name !== '');
  const spelled = names.map((name: string) => unscored(name.toWellFormed()).slice(0, idLengthMax));
  // Of several spellings the lowest: which one stays does not depend on their order.
  const lowestLast = spelled.sort().reverse();
  return [...new Map(lowestLast.map((name) => [canonicalName(name), name])).values()].sort();
}

const unscored = (name: string): string => (name.startsWith('_') ? name.slice(1) : name);

function readAgent(data: unknown, source: string): AgentFacts {
  const agent = child(data, 'agent');
  const observer = child(data, 'observer');
  const sequence = child(agent, 'sequence');
  const facts = {} as Record<(typeof observerFields)[number], string | null>;
  for (const name of observerFields) facts[name] = textAt(observer, name);
  return {
    agentId: textAt(agent, 'instanceId')?.slice(0, idLengthMax) || source,
    sequence: Number.isSafeInteger(sequence) && Number(sequence) >= 0 ? Number(sequence) : null,
    version: textAt(agent, 'version'),
    observer: facts,
  };
}
