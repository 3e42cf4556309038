// Folds the records of one agent into what is known of it: its VM, its version, and which of its records are here.
import {
  joinLatest,
  joinRanges,
  joinSpans,
  joinTables,
  type Latest,
  type Ranges,
  type Span,
  type Table,
  tableOf,
} from './join.ts';
import type { ObserverFacts, TrailRecord } from './read-record.ts';
import type { SeenEvent } from './read-self.ts';

/** All that is known of an agent. Two states join in any order, any number of times. */
export interface AgentState {
  readonly seen: Span;
  /** The sequence numbers that are here: a hole between them is a record that never arrived. */
  readonly sequences: Ranges;
  /** The version, what is known of the VM and what the agent says of itself, each as said last. */
  readonly fields: Table<Latest<AgentField>>;
}

/** A word, a number, or the events that the agent saw last. */
export type AgentField = string | number | readonly SeenEvent[];

/** What one record says about the agent that sent it. */
export function agentStateOf({ at, agent, self }: TrailRecord): AgentState {
  const said = Object.entries({ version: agent.version, ...agent.observer, ...self });
  return {
    seen: { first: at, last: at },
    sequences: agent.sequence === null ? [] : [[agent.sequence, agent.sequence]],
    fields: tableOf(said.flatMap(([name, value]) => (value === null ? [] : [[name, { at, value }]]))),
  };
}

export const joinAgents = (one: AgentState, other: AgentState): AgentState => ({
  seen: joinSpans(one.seen, other.seen),
  sequences: joinRanges(one.sequences, other.sequences),
  fields: joinTables(one.fields, other.fields, joinLatest),
});

/** The numbers between the first and the last that are not here. */
export const missingOf = ({ sequences }: AgentState): Ranges =>
  sequences.slice(1).map(([from], place) => [(sequences[place]?.[1] ?? from) + 1, from - 1] as const);

/** What is known of an agent. Times are epoch ms by its own clock; what it never said is null. */
export interface AgentSummary extends ObserverFacts {
  readonly agentId: string;
  readonly version: string | null;
  readonly heartbeatIntervalMs: number | null;
  readonly pollIntervalMs: number | null;
  /** Whether IMDS answered it when it spoke of itself last: `fresh` when it did. */
  readonly sourceState: string | null;
  /** When it said so. */
  readonly sourceAt: number | null;
  readonly lastDocumentAt: number | null;
  /** The events in its last document, and when it said so. */
  readonly seen: readonly SeenEvent[];
  readonly seenAt: number | null;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Numbers of records that never came here although later ones did. */
  readonly missing: Ranges;
}

/** The summary of what at least one record went into. */
export function summarizeAgent(agentId: string, state: AgentState): AgentSummary {
  const { fields, seen: heard } = state;
  const text = (name: string) => textOrNull(fields[name]?.value);
  const number = (name: string) => numberOrNull(fields[name]?.value);
  const seen = fields['seen']?.value;
  return {
    ...{ agentId, version: text('version'), vmId: text('vmId'), vmName: text('vmName') },
    ...{ resourceId: text('resourceId'), location: text('location'), zone: text('zone') },
    ...{ vmScaleSet: text('vmScaleSet'), placementGroupId: text('placementGroupId') },
    ...{ faultDomain: text('faultDomain'), updateDomain: text('updateDomain') },
    ...{ heartbeatIntervalMs: number('heartbeatIntervalMs'), pollIntervalMs: number('pollIntervalMs') },
    ...{ sourceState: text('sourceState'), sourceAt: fields['sourceState']?.at ?? null },
    lastDocumentAt: number('lastDocumentAt'),
    ...{ seen: Array.isArray(seen) ? seen : [], seenAt: fields['seen']?.at ?? null },
    ...{ firstAt: heard.first, lastAt: heard.last, missing: missingOf(state) },
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** How one agent witnessed one event. */
export interface WitnessState {
  readonly seen: Span;
  /** One bit per phase, as `phaseBits` numbers them. */
  readonly phases: number;
  /** Whether the event names the agent's VM: 1 yes, 0 no, -1 not known. */
  readonly affected: number;
}

/** One bit for each phase that an observer reported. */
export const phaseBits = { scheduled: 1, updated: 2, started: 4, completed: 8, canceled: 16 } as const;

/** What one record says about its witness; null when it is about no event. */
export function witnessStateOf({ at, event }: TrailRecord): WitnessState | null {
  if (event === null) return null;
  const affected = event.affected === null ? -1 : Number(event.affected);
  return { seen: { first: at, last: at }, phases: phaseBits[event.transition], affected };
}

export const joinWitnesses = (one: WitnessState, other: WitnessState): WitnessState => ({
  seen: joinSpans(one.seen, other.seen),
  phases: one.phases | other.phases,
  affected: Math.max(one.affected, other.affected),
});
