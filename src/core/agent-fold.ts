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
import type { TrailRecord } from './read-record.ts';

/** All that is known of an agent. Two states join in any order, any number of times. */
export interface AgentState {
  readonly seen: Span;
  /** The sequence numbers that are here: a hole between them is a record that never arrived. */
  readonly sequences: Ranges;
  /** The version and what is known of the VM, each as said last. */
  readonly fields: Table<Latest<string>>;
}

/** What one record says about the agent that sent it. */
export function agentStateOf({ at, agent }: TrailRecord): AgentState {
  const said = Object.entries({ version: agent.version, ...agent.observer });
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
