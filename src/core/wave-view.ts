// What a wave comes to: where its VMs stand, which fault domain is next, and what of it is news to a person.
import { type EventSummary, summarizeEvent } from './event-fold.ts';
import type { MissingVm } from './fleet-fact.ts';
import { type Severity, severityNumbers, severityOf } from './record.ts';
import type { Wave, WaveEvent } from './wave.ts';
import { newsOf } from './wave-news.ts';
import type { WaveScope } from './wave-scope.ts';

/** How a wave stands, or one VM in it: by the event that asks most of a person. */
export type WaveState = 'started' | 'scheduled' | 'completed' | 'canceled';

/** One VM of a wave. */
export interface WaveVm {
  readonly name: string;
  readonly vmId: string | null;
  readonly faultDomain: string | null;
  readonly state: WaveState;
}

/** One event of a wave; times are RFC 3339 UTC, and null while nobody said them. */
export interface WaveEventView {
  readonly eventId: string;
  readonly state: WaveState;
  /** How it ended; `missed-start`: nobody saw it run. Null while it is open. */
  readonly outcome: EventSummary['outcome'];
  /** Azure did not say how it ended. */
  readonly inferred: boolean;
  readonly notBefore: string | null;
  readonly durationSeconds: number | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Names of VMs. */
  readonly vms: readonly string[];
  readonly faultDomains: readonly string[];
}

/** A wave, as it is told. Times are RFC 3339 UTC. */
export interface WaveView {
  readonly id: string;
  readonly version: number;
  readonly state: WaveState;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly scope: WaveScope | null;
  /** The longest that any of its events is said to take; null when Azure does not know. */
  readonly durationSeconds: number | null;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly startedAt: string | null;
  /** When the last of its events ended; null while one is open. */
  readonly endedAt: string | null;
  /** The earliest start that is still to come; null when there is none. */
  readonly nextNotBefore: string | null;
  readonly counts: Readonly<Record<WaveState, number>>;
  readonly vms: readonly WaveVm[];
  /** In the order in which they came. */
  readonly events: readonly WaveEventView[];
  readonly missing: readonly MissingVm[];
  /** What has been worth a word of its own so far, the latest last: names that stay the same. */
  readonly news: readonly string[];
}

/** An event with where it stands. */
export interface StandingEvent {
  readonly event: WaveEvent;
  readonly summary: EventSummary;
}

// What asks most of a person speaks for the rest; what was called off matters least.
const states: readonly WaveState[] = ['started', 'scheduled', 'completed', 'canceled'];

/**
 * What a wave comes to.
 * @param at epoch ms: what was due before then is not what comes next
 */
export function viewOf(wave: Wave, at: number): WaveView {
  const events = standingEvents(wave);
  const summaries = events.map(({ summary }) => summary);
  const open = summaries.filter(({ endedAt }) => endedAt === null);
  const vms = vmsOf(wave, events);
  const ends = summaries.map(({ endedAt }) => endedAt ?? 0);
  const [first] = summaries;
  const counts = Object.fromEntries(
    states.map((state) => [state, vms.filter((vm) => vm.state === state).length]),
  ) as Record<WaveState, number>;
  return {
    ...{ id: wave.id, version: wave.version, scope: wave.scope, counts, vms },
    state: worstOf(summaries.map(({ status }) => status)),
    eventType: first?.eventType ?? null,
    eventSource: first?.eventSource ?? null,
    durationSeconds: longestOf(open.length > 0 ? open : summaries),
    firstSeenAt: timeOf(Math.min(...summaries.map(({ firstSeenAt }) => firstSeenAt))),
    lastSeenAt: timeOf(Math.max(...summaries.map(({ lastSeenAt }) => lastSeenAt))),
    startedAt: earliest(summaries.flatMap(({ startedAt }) => startedAt ?? [])),
    endedAt: open.length > 0 ? null : timeOf(Math.max(...ends)),
    nextNotBefore: nextOf(open, at),
    events: events.map((standing) => eventView(wave, standing)),
    missing: missingOf(events),
    news: newsOf(events, severityOfWave(wave)),
  };
}

/** How much a wave asks of a person: as much as its worst open event. */
export function severityOfWave(wave: Wave): Severity {
  const severities = Object.values(wave.events).map(severityOfEvent);
  return severities.sort((one, other) => severityNumbers[other] - severityNumbers[one])[0] ?? 'INFO';
}

function severityOfEvent({ state }: WaveEvent): Severity {
  const { status, eventType, durationSeconds } = summarizeEvent(state);
  return severityOf({ eventType: eventType ?? '', durationSeconds }, status);
}

/** In the order in which they were first seen. */
const standingEvents = ({ events }: Wave): readonly StandingEvent[] =>
  Object.values(events)
    .map((event) => ({ event, summary: summarizeEvent(event.state) }))
    .sort(
      (one, other) => orderOf(one) - orderOf(other) || (one.event.eventId < other.event.eventId ? -1 : 1),
    );

const orderOf = ({ summary }: StandingEvent): number => summary.firstSeenAt;

const worstOf = (found: readonly WaveState[]): WaveState =>
  states.find((state) => found.includes(state)) ?? 'canceled';

function vmsOf({ vms }: Wave, events: readonly StandingEvent[]): readonly WaveVm[] {
  const found = new Map<string, WaveState[]>();
  for (const { event, summary } of events)
    for (const name of event.vms) found.set(name, [...(found.get(name) ?? []), summary.status]);
  return Object.entries(vms)
    .map(([key, { name, vmId, faultDomain }]) => ({
      ...{ name, vmId, faultDomain, state: worstOf(found.get(key) ?? []) },
    }))
    .sort((one, other) => byName(one.name, other.name));
}

const collator = new Intl.Collator('en', { numeric: true });
const byName = (one: string, other: string): number => collator.compare(one, other) || (one < other ? -1 : 1);

function eventView({ vms }: Wave, { event, summary }: StandingEvent): WaveEventView {
  const known = new Map(Object.entries(vms));
  const own = event.vms.flatMap((key) => known.get(key) ?? []);
  const { status, outcome, outcomeInferred: inferred, notBefore, durationSeconds } = summary;
  const { startedAt, endedAt } = summary;
  return {
    ...{ eventId: event.eventId, state: status, outcome, inferred, notBefore, durationSeconds },
    startedAt: startedAt === null ? null : timeOf(startedAt),
    endedAt: endedAt === null ? null : timeOf(endedAt),
    vms: own.map(({ name }) => name).sort(byName),
    faultDomains: [...new Set(own.flatMap(({ faultDomain }) => faultDomain ?? []))].sort(byName),
  };
}

/** Whoever was missing from the latest word on an event. */
function missingOf(events: readonly StandingEvent[]): readonly MissingVm[] {
  const missing = events.flatMap(({ event }) => event.missing?.value ?? []);
  return [...new Map(missing.map((vm) => [vm.name, vm])).values()];
}

function longestOf(summaries: readonly EventSummary[]): number | null {
  const known = summaries.flatMap(({ durationSeconds }) => durationSeconds ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

/** An announced event whose witnesses all vanished stays announced: its time passes, and nothing is next then. */
const nextOf = (open: readonly EventSummary[], at: number): string | null =>
  open
    .filter(({ status }) => status === 'scheduled')
    .flatMap(({ notBefore }) => notBefore ?? [])
    .filter((notBefore) => Date.parse(notBefore) > at)
    .sort()
    .at(0) ?? null;

const earliest = (times: readonly number[]): string | null =>
  times.length === 0 ? null : timeOf(Math.min(...times));

const timeOf = (at: number): string => new Date(at).toISOString();
