// Folds facts into waves: what belongs together for a person, such as a burst on one host or a set that is rolled over.
import { createHash } from 'node:crypto';
import { type EventState, eventStateOf, joinEvents, summarizeEvent } from './event-fold.ts';
import type { FleetFact, FleetVm, MissingVm } from './fleet-fact.ts';
import { joinLatest, joinTables, type Latest, type Table, tableOf } from './join.ts';
import { type EventFacts, readRecord, type TrailRecord } from './read-record.ts';
import { encodeRecord } from './record.ts';
import { scopeKey, scopeOf, vmKey, type WaveScope } from './wave-scope.ts';

/** One event of a wave. */
export interface WaveEvent {
  /** As Azure spells it. */
  readonly eventId: string;
  readonly state: EventState;
  /** Which of the VMs of the wave it names, by `vmKey`. */
  readonly vms: readonly string[];
  readonly missing: Latest<readonly MissingVm[]> | null;
}

/** Events of one kind at one place, close in time. Plain JSON. */
export interface Wave {
  /** Fit for ids and partition keys: no underscore, no dot. */
  readonly id: string;
  /** What its events have in common, to compare. */
  readonly key: string;
  /** Null when nothing is known of the VMs: then it is about one event alone. */
  readonly scope: WaveScope | null;
  /** Rises with each change. */
  readonly version: number;
  /** When it last changed: epoch ms by the clock of whoever folds. */
  readonly changedAt: number;
  /** By the form in which event ids are compared. */
  readonly events: Table<WaveEvent>;
  /** By `vmKey`. */
  readonly vms: Table<FleetVm>;
  /** What was said last of each status, as long as there is one event alone: its notice then reads as its own. */
  readonly latest: Table<Latest<FleetFact>>;
}

/** What folding one fact came to. */
export interface Folded {
  readonly waves: readonly Wave[];
  /** The wave that the fact belongs to. */
  readonly waveId: string;
  /** False for a fact that was folded before. */
  readonly changed: boolean;
}

/** How much a wave, and a list of them, may hold. */
export const waveLimits = { events: 500, vms: 5_000, waves: 1_000 } as const;

const minute = 60_000;
// Between the end of one fault domain and the announcement of the next.
const restMsMax = 30 * minute;
const quietMsMax = 24 * 60 * minute;
const noteMsMax = 30 * 24 * 60 * minute;

/** A fact, read. */
interface Told {
  readonly fact: FleetFact;
  readonly record: TrailRecord;
  readonly facts: EventFacts;
  readonly vms: Table<FleetVm>;
  readonly scope: WaveScope | null;
  readonly key: string;
}

/**
 * Folds a fact into the wave of its event, else into one that is open where it belongs, else into a new one. The same
 * fact twice changes nothing, and the facts of one event may come in any order.
 * @param fact its record is one that the trail has read as one about an event
 * @param now epoch ms: waves without news are forgotten by it
 */
export function foldWave(waves: readonly Wave[], fact: FleetFact, now: number): Folded {
  const told = readFact(fact);
  const own = waves.find(({ events }) => Object.hasOwn(events, told.facts.eventId));
  const home = own ?? waves.findLast((wave) => takesIn(wave, told, now)) ?? newWave(told);
  const grown = grow(home, told);
  if (saidOf(grown, told) === saidOf(home, told)) return { waves, waveId: home.id, changed: false };
  const changed: Wave = { ...grown, version: home.version + 1, changedAt: now };
  const others = waves.filter((wave) => wave.id !== home.id && !isForgotten(wave, now));
  return { waves: [...bounded(others), changed], waveId: home.id, changed: true };
}

function readFact(fact: FleetFact): Told {
  const reading = readRecord(encodeRecord(fact.record));
  if (reading.status === 'parked' || reading.record.event === null)
    throw new Error('a fact is told by a record about an event');
  const { record } = reading;
  const facts = reading.record.event;
  const vms = tableOf(fact.vms.slice(0, waveLimits.vms).map((vm) => [vmKey(vm), vm] as const));
  const scope = scopeOf(Object.values(vms), fact.record.data.observer.resourceId);
  const kind = [facts.eventType, facts.eventSource].map((word) => word?.toLowerCase() ?? null);
  const place = scope === null ? { event: facts.eventId } : scopeKey(scope);
  return { fact, record, facts, vms, scope, key: JSON.stringify([...kind, place]) };
}

const newWave = ({ record, key, scope }: Told): Wave => ({
  id: `wave-${createHash('sha256').update(`${key} ${record.id}`, 'utf8').digest('hex').slice(0, 24)}`,
  ...{ key, scope, version: 0, changedAt: 0, events: {}, vms: {}, latest: {} },
});

/**
 * Whether an event that is new to the wave belongs to it. What counts is when things happened, however late they are
 * heard; but what is heard at one time comes in any order, for partitions are caught up one after another.
 */
function takesIn(wave: Wave, { key, record, vms }: Told, now: number): boolean {
  if (wave.key !== key || Object.keys(wave.events).length >= waveLimits.events) return false;
  const names = new Set([...Object.keys(wave.vms), ...Object.keys(vms)]);
  if (names.size > waveLimits.vms) return false;
  const events = Object.values(wave.events).map(({ state }) => summarizeEvent(state));
  const at = Math.min(record.at, now);
  const begun = Math.min(...events.map(({ firstSeenAt }) => firstSeenAt));
  const lastNews = Math.max(...events.map(({ lastSeenAt }) => lastSeenAt));
  if (at < begun - quietMsMax || at > lastNews + quietMsMax) return false;
  const isOpen = events.some(({ endedAt }) => endedAt === null);
  const lastEnd = Math.max(...events.map(({ endedAt }) => endedAt ?? 0));
  return isOpen || at - lastEnd <= restMsMax || now - wave.changedAt <= restMsMax;
}

/** All in a wave that a fact can change: to compare the whole of a big wave for each fact would take seconds. */
function saidOf({ events, vms, latest }: Wave, { facts, ...told }: Told): string {
  const known = (table: Table<unknown>, names: readonly string[]): unknown[] =>
    names.map((name) => (Object.hasOwn(table, name) ? table[name] : null));
  return JSON.stringify([known(events, [facts.eventId]), known(vms, Object.keys(told.vms)), latest]);
}

/** Joins in everything that the fact says. */
function grow(wave: Wave, told: Told): Wave {
  const { fact, record, facts } = told;
  // An id may be the name of what every object has.
  const known = Object.hasOwn(wave.events, facts.eventId) ? wave.events[facts.eventId] : undefined;
  const event = joinWaveEvents(known, {
    eventId: fact.record.data.event.eventId,
    state: eventStateOf(record, facts),
    vms: Object.keys(told.vms),
    missing: fact.missing === undefined ? null : { at: record.at, value: fact.missing },
  });
  const events = tableOf([...Object.entries(wave.events), [facts.eventId, event] as const]);
  const alone = Object.keys(events).length === 1;
  return {
    ...wave,
    events,
    vms: joinTables(wave.vms, told.vms, joinVms),
    latest: alone ? joinTables(wave.latest, latestOf(told), joinFacts) : {},
  };
}

function joinWaveEvents(one: WaveEvent | undefined, other: WaveEvent): WaveEvent {
  if (one === undefined) return other;
  const { missing } = one;
  return {
    eventId: [one.eventId, other.eventId].sort()[0] ?? one.eventId,
    state: joinEvents(one.state, other.state),
    vms: [...new Set([...one.vms, ...other.vms])].sort(),
    missing:
      missing !== null && other.missing !== null
        ? joinLatest(missing, other.missing)
        : (missing ?? other.missing),
  };
}

/** What is known of a VM stays known; of two values the same one stays, whichever came first. */
function joinVms(one: FleetVm, other: FleetVm): FleetVm {
  const names = Object.keys(one) as (keyof FleetVm)[];
  const joined = names.map((name) => {
    const [a, b] = [one[name], other[name]];
    return [name, a === null || (b !== null && b < a) ? b : a] as const;
  });
  return Object.fromEntries(joined) as unknown as FleetVm;
}

/** By the status that the fact alone gives its event. */
function latestOf({ fact, record, facts }: Told): Table<Latest<FleetFact>> {
  const begun = fact.record.data.event.eventStatus.toLowerCase() === 'started';
  const { status } = summarizeEvent(eventStateOf(record, facts));
  const name = facts.transition === 'updated' && begun ? 'started' : status;
  return { [name]: { at: record.at, value: fact } };
}

/** The later one; the one that was told first, when it is told again. */
function joinFacts(one: Latest<FleetFact>, other: Latest<FleetFact>): Latest<FleetFact> {
  if (one.value.record.id === other.value.record.id) return one;
  return joinLatest(one, other);
}

/** Late facts find their wave for a day after its last news, or after the latest start that it waits for. */
function isForgotten({ events, changedAt }: Wave, now: number): boolean {
  if (now - changedAt <= quietMsMax) return false;
  const open = Object.values(events)
    .map(({ state }) => summarizeEvent(state))
    .filter(({ endedAt }) => endedAt === null);
  const due = open.map(({ notBefore }) => Date.parse(notBefore ?? '')).filter((at) => !Number.isNaN(at));
  const until = Math.min(Math.max(changedAt, ...due), changedAt + noteMsMax);
  return now - until > quietMsMax;
}

/** Room for one more: those that changed last stay. */
function bounded(waves: readonly Wave[]): readonly Wave[] {
  const surplus = waves.length + 1 - waveLimits.waves;
  if (surplus <= 0) return waves;
  const oldest = new Set([...waves].sort((a, b) => a.changedAt - b.changedAt).slice(0, surplus));
  return waves.filter((wave) => !oldest.has(wave));
}
