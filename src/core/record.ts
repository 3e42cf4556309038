// Makes the record of a fact: a CloudEvent whose id names the fact and whose source names the witness.
import { createHash } from 'node:crypto';
import type { PreviousValues, TransitionKind, TransitionReason } from './diff.ts';
import { contentOf, eventKey, type ScheduledEvent } from './document.ts';
import { isAffected, type Observer } from './observer.ts';
import type { Observation, Timeline } from './watch.ts';

/** The families of records: what the `filter` of a sink speaks of. */
export type RecordFamily = 'event' | 'agent' | 'approval' | 'hook' | 'impact' | 'fleet';
/** How much a record asks of a person, in the words of OpenTelemetry. */
export type Severity = 'INFO' | 'WARN' | 'ERROR';

/** CloudEvents 1.0 envelope, structured JSON. */
export interface BridgeRecord<Data = unknown> {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly dataschema: string;
  readonly correlationid: string;
  readonly partitionkey: string;
  /** `agent.sequence` in 20 digits, so that it sorts as text. */
  readonly sequence: string;
  readonly severitytext: Severity;
  readonly severitynumber: number;
  readonly data: Data;
}

/** `data` of an event record. */
export interface EventData {
  readonly transition: TransitionKind;
  readonly inferred: boolean;
  readonly reason: TransitionReason;
  /** Whether the event names the observer; null while the observer's own name is not known. */
  readonly affected: boolean | null;
  readonly initial: boolean;
  readonly event: ScheduledEvent;
  readonly previous: PreviousValues;
  readonly timeline: Timeline;
  readonly noticeSeconds: number | null;
  readonly document: { readonly incarnation: string | null; readonly apiVersion: string };
  readonly observer: Observer;
  readonly clock: { readonly bootId: string; readonly pollGapMs: number | null };
  readonly agent: AgentStamp;
}

/** The agent that speaks: one installation, and the number it gave this record. */
export interface AgentStamp {
  readonly version: string;
  readonly instanceId: string;
  readonly sequence: number;
}

/** Who speaks, and the number the record gets: given by the outbox at commit. */
export interface Stamp {
  readonly observer: Observer;
  readonly agent: AgentStamp;
}

/** The document and clock an event record was made from. */
export interface Provenance {
  readonly incarnation: string | null;
  readonly apiVersion: string;
  readonly bootId: string;
  readonly pollGapMs: number | null;
}

const typePrefix = 'io.github.scheduled-events-bridge';

/**
 * The id of the fact: nothing of the VM or of one agent's history enters it, so that every VM that
 * sees the same fact sends the same id. At most 128 characters, no dot.
 */
export function factId(kind: TransitionKind, event: ScheduledEvent): string {
  const key = correlationOf(event.eventId);
  if (kind !== 'scheduled' && kind !== 'updated') return `${key}_${kind}`;
  return `${key}_${kind}_${sha256(contentOf(event)).slice(0, 12)}`;
}

/** The id of a fact that is said for the `count`th time: an event that came back repeats facts. */
export const repeatedId = (id: string, count: number): string => (count <= 1 ? id : `${id}_${count}`);

/** What the ids of all facts about one event begin with, up to their first `_`: its correlation id. */
export const eventPartOf = (id: string): string => id.slice(0, Math.max(id.indexOf('_'), 0));

/** The record of one observed transition. */
export function eventRecord(
  observation: Observation,
  id: string,
  stamp: Stamp,
  provenance: Provenance,
): BridgeRecord<EventData> {
  const { event, kind, sighting } = observation;
  const severity = severityOf(event, kind);
  return {
    ...envelope(`event.${kind}`, 'event', stamp),
    id,
    time: new Date(observation.at).toISOString(),
    correlationid: correlationOf(event.eventId),
    partitionkey: correlationOf(event.eventId),
    severitytext: severity,
    severitynumber: severityNumbers[severity],
    data: {
      transition: kind,
      inferred: observation.inferred,
      reason: observation.reason,
      affected: isAffected(event.resources, stamp.observer),
      initial: sighting.initial,
      // Azure blanks NotBefore once an event has started; the last one known still tells when it was due.
      event: { ...event, notBefore: event.notBefore ?? sighting.notBefore },
      previous: observation.previous,
      timeline: sighting.timeline,
      noticeSeconds: observation.noticeSeconds,
      document: { incarnation: provenance.incarnation, apiVersion: provenance.apiVersion },
      observer: stamp.observer,
      clock: { bootId: provenance.bootId, pollGapMs: provenance.pollGapMs },
      agent: stamp.agent,
    },
  };
}

/** The record of something the agent says about itself; `test` is a trial that a person asked for. */
export function agentRecord(
  what: 'started' | 'heartbeat' | 'test',
  at: number,
  data: Readonly<Record<string, unknown>>,
  stamp: Stamp,
): BridgeRecord {
  const base = envelope(`agent.${what}`, 'agent', stamp);
  const voice = stamp.observer.vmId ?? stamp.agent.instanceId;
  return {
    ...base,
    id: `${stamp.agent.instanceId}_${what}_${stamp.agent.sequence}`,
    time: new Date(at).toISOString(),
    correlationid: voice,
    partitionkey: voice,
    data: { ...data, observer: stamp.observer, agent: stamp.agent },
  };
}

/** The bytes that are stored, signed and sent: made once. */
export const encodeRecord = (record: BridgeRecord): Buffer => Buffer.from(JSON.stringify(record), 'utf8');

/** The family a record type belongs to, such as `event`; null for a type that is not ours. */
export function familyOf(type: string): RecordFamily | null {
  if (!type.startsWith(`${typePrefix}.`)) return null;
  const family = type.slice(typePrefix.length + 1).split('.')[0] ?? '';
  return families.find((name) => name === family) ?? null;
}

const families: readonly RecordFamily[] = ['event', 'agent', 'approval', 'hook', 'impact', 'fleet'];

/** OpenTelemetry's severity numbers. */
export const severityNumbers: Readonly<Record<Severity, number>> = { INFO: 9, WARN: 13, ERROR: 17 };

// A freeze of up to this length is what live migration does to every VM now and then.
const harmlessFreezeSeconds = 10;

/** How much an event asks of a person, by what it does to the VM. */
export function severityOf(
  event: Pick<ScheduledEvent, 'eventType' | 'durationSeconds'>,
  kind: TransitionKind,
): Severity {
  if (kind === 'completed' || kind === 'canceled') return 'INFO';
  const type = event.eventType.toLowerCase();
  if (type === 'redeploy' || type === 'preempt' || type === 'terminate') return 'ERROR';
  const short = event.durationSeconds !== null && event.durationSeconds <= harmlessFreezeSeconds;
  return type === 'freeze' && short ? 'INFO' : 'WARN';
}

/** The attributes of a record of this kind, still without its id, its time and its event. */
export function envelope(what: string, family: RecordFamily, { observer, agent }: Stamp) {
  const subject = observer.resourceId ?? observer.vmName;
  return {
    specversion: '1.0',
    id: '',
    source: `urn:uuid:${observer.vmId ?? agent.instanceId}`,
    type: `${typePrefix}.${what}.v1`,
    ...(subject === null ? {} : { subject }),
    time: '',
    datacontenttype: 'application/json',
    dataschema: `urn:scheduled-events-bridge:${family}:v1`,
    correlationid: '',
    partitionkey: '',
    sequence: String(agent.sequence).padStart(20, '0'),
    severitytext: 'INFO',
    severitynumber: severityNumbers.INFO,
  } as const;
}

/** An EventId fit for ids and partition keys: any that is not the GUID Azure promises is hashed. */
export function correlationOf(eventId: string): string {
  const key = eventKey(eventId);
  return /^[a-z0-9-]{1,64}$/.test(key) ? key : sha256(key).slice(0, 32);
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');
