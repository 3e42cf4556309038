// Folds what every observer said about one event into one life: its phases, its end and its latest content.
import type { TransitionKind } from './diff.ts';
import { joinLatest, joinSpans, joinTables, type Latest, type Span, type Table, tableOf } from './join.ts';
import type { EventFacts, TrailRecord } from './read-record.ts';

/** All that is known of an event. Two states join in any order, any number of times. */
export interface EventState {
  /** When each phase was first and last said to begin, over all observers. */
  readonly phases: Table<Span>;
  /** How the event was said to end, by evidence. */
  readonly endings: Table<Span>;
  /** When it was first seen: `watched` by an agent that had looked before, `initial` by one that began with it. */
  readonly openings: Table<Span>;
  /** The latest value of each field that any observer knew. */
  readonly fields: Table<Latest<string | number>>;
}

export const unknownEvent: EventState = { phases: {}, endings: {}, openings: {}, fields: {} };

/** What one record says about its event. */
export function eventStateOf(record: TrailRecord, facts: EventFacts): EventState {
  const span = { first: record.at, last: record.at };
  return {
    phases: { [facts.transition]: span },
    endings: facts.transition in endingRanks ? { [evidenceOf(facts)]: span } : {},
    openings: facts.transition in endingRanks ? {} : { [facts.initial ? 'initial' : 'watched']: span },
    fields: latestOf(facts, record.at),
  };
}

export const joinEvents = (one: EventState, other: EventState): EventState => ({
  phases: joinTables(one.phases, other.phases, joinSpans),
  endings: joinTables(one.endings, other.endings, joinSpans),
  openings: joinTables(one.openings ?? {}, other.openings ?? {}, joinSpans),
  fields: joinTables(one.fields, other.fields, joinLatest),
});

const fieldNames = ['eventType', 'eventSource', 'notBefore', 'durationSeconds', 'description'] as const;

function latestOf(facts: EventFacts, at: number): Table<Latest<string | number>> {
  const known = fieldNames.flatMap((name) => {
    const value = facts[name];
    return value === null ? [] : [[name, { at, value }] as const];
  });
  return tableOf(known);
}

/** Where an event stands now. */
export type EventStatus = 'scheduled' | 'started' | 'completed' | 'canceled';
/** How it ended; `missed-start` = it is gone after its time, but nobody saw it start. */
export type EventOutcome = 'completed' | 'canceled' | 'missed-start';

/** What the trail says about one event. Times are epoch ms; what nobody said is null. */
export interface EventSummary {
  readonly status: EventStatus;
  readonly outcome: EventOutcome | null;
  /** Azure did not say how it ended: observers inferred it from an absence. */
  readonly outcomeInferred: boolean;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly notBefore: string | null;
  readonly durationSeconds: number | null;
  readonly description: string | null;
  readonly firstSeenAt: number;
  /** Whoever saw it first began with it: it may have been there for longer. */
  readonly firstSeenInitial: boolean;
  readonly lastSeenAt: number;
  readonly scheduledAt: number | null;
  readonly updatedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** The summary of a state that at least one record went into. */
export function summarizeEvent(state: EventState): EventSummary {
  const phase = (kind: TransitionKind): Span | undefined => state.phases[kind];
  const spans = Object.values(state.phases);
  const end = endOf(state);
  const text = (name: string) => textOrNull(state.fields[name]?.value);
  const duration = state.fields['durationSeconds']?.value;
  return {
    ...(end === null ? openStatus(state) : end),
    eventType: text('eventType'),
    eventSource: text('eventSource'),
    notBefore: text('notBefore'),
    durationSeconds: typeof duration === 'number' ? duration : null,
    description: text('description'),
    firstSeenAt: Math.min(...spans.map(({ first }) => first)),
    firstSeenInitial: beganWith(state),
    lastSeenAt: Math.max(...spans.map(({ last }) => last)),
    scheduledAt: phase('scheduled')?.first ?? null,
    updatedAt: phase('updated')?.last ?? null,
    startedAt: phase('started')?.first ?? null,
  };
}

/** Two VMs of one group see an event at the same time: a moment's lead of the one that began with it says nothing. */
function beganWith({ openings }: EventState): boolean {
  const [initial, watched] = [openings?.['initial']?.first, openings?.['watched']?.first];
  return initial !== undefined && (watched === undefined || initial < watched);
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

// An event that comes back after its end is open again; but observers poll, queue and keep time a little apart.
const lagMsMax = 2 * 60_000;

type Ending = Pick<EventSummary, 'status' | 'outcome' | 'outcomeInferred' | 'endedAt'>;

function openStatus(state: EventState): Ending {
  const over = lastOf(Object.values(state.endings));
  const started = (state.phases['started']?.last ?? Number.NEGATIVE_INFINITY) > over + lagMsMax;
  return { status: started ? 'started' : 'scheduled', outcome: null, outcomeInferred: false, endedAt: null };
}

const endingRanks: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  completed: { status: 4, 'removed-after-started': 3, 'start-not-observed': 1 },
  canceled: { status: 4, 'removed-before-not-before': 2 },
};

const evidenceOf = ({ transition, reason, inferred }: EventFacts): string =>
  [transition, reason ?? 'unknown', inferred ? 'inferred' : 'said'].join(' ');

const rankOf = (evidence: string): number => {
  const [kind = '', reason = ''] = evidence.split(' ');
  return endingRanks[kind]?.[reason] ?? 0;
};

const lastOf = (spans: readonly Span[]): number =>
  Math.max(Number.NEGATIVE_INFINITY, ...spans.map(({ last }) => last));

/** The best founded of the endings said last, or null while the event is open. */
function endOf({ phases, endings }: EventState): Ending | null {
  const over = lastOf(Object.values(endings));
  const opened = ['scheduled', 'updated', 'started'].flatMap((kind) => phases[kind] ?? []);
  if (over === Number.NEGATIVE_INFINITY || lastOf(opened) > over + lagMsMax) return null;
  const [best = '', span] =
    Object.entries(endings)
      .filter(([, { last }]) => last >= over - lagMsMax)
      .sort(([a], [b]) => rankOf(b) - rankOf(a) || (a < b ? -1 : 1))[0] ?? [];
  const [kind, reason, basis] = best.split(' ');
  const ran = phases['started'] !== undefined && reason !== 'status';
  const status = kind === 'completed' || ran ? 'completed' : 'canceled';
  const missed = status === 'completed' && reason === 'start-not-observed' && !ran;
  return {
    status,
    outcome: missed ? 'missed-start' : status,
    outcomeInferred: basis !== 'said',
    endedAt: span?.first ?? null,
  };
}
