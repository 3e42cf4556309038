// What a trail still knows of records whose bodies are gone: what their rows prove, and what must be believed of the rest.
import { type AgentState, joinAgents, joinWitnesses, phaseBits, type WitnessState } from './agent-fold.ts';
import { type DeedState, joinDeeds } from './deed-fold.ts';
import { type EventState, joinEvents } from './event-fold.ts';
import { joinLatest, joinSpans, joinTables } from './join.ts';
import type { Known, Observation } from './projection.ts';
import { type WitnessKey, witnessKey } from './read-batch.ts';
import { transitionOf } from './read-record.ts';

/** What rows of records without a body say of events and agents, joined with what was known. */
export interface Recalled {
  readonly events: ReadonlyMap<string, EventState>;
  readonly agents: ReadonlyMap<string, AgentState>;
  readonly witnesses: readonly (WitnessKey & { readonly state: WitnessState })[];
}

/**
 * Folds what stands in the row of an observation: who said which phase of which event, when, and with which number.
 * The other fields of the record are gone with its body.
 */
export function recallBatch(observations: readonly Observation[], known: Known): Recalled {
  const events = new Map<string, EventState>();
  const agents = new Map<string, AgentState>();
  const witnesses = new Map<string, WitnessKey & { readonly state: WitnessState }>();
  for (const observation of observations) {
    const { agentId, eventId } = observation;
    const agent = agents.get(agentId) ?? known.agents.get(agentId);
    const saying = agentIn(observation);
    agents.set(agentId, agent === undefined ? saying : joinAgents(agent, saying));
    // A deed tells no phase: what was done is gone with its body, and nobody witnessed the event by it.
    if (eventId === null || transitionOf(observation.type) === null) continue;
    const event = events.get(eventId) ?? known.events.get(eventId);
    const telling = eventIn(observation);
    events.set(eventId, event === undefined ? telling : joinEvents(event, telling));
    const key = witnessKey({ eventId, agentId });
    const witness = witnesses.get(key)?.state ?? known.witnesses.get(key);
    const seeing = witnessIn(observation);
    const state = witness === undefined ? seeing : joinWitnesses(witness, seeing);
    witnesses.set(key, { eventId, agentId, state });
  }
  return { events, agents, witnesses: [...witnesses.values()] };
}

const agentIn = ({ at, agentSequence }: Observation): AgentState => ({
  seen: { first: at, last: at },
  sequences: agentSequence === null ? [] : [[agentSequence, agentSequence]],
  fields: {},
});

function eventIn({ at, type }: Observation): EventState {
  const transition = transitionOf(type);
  const phases = transition === null ? {} : { [transition]: { first: at, last: at } };
  return { phases, endings: {}, openings: {}, fields: {} };
}

function witnessIn({ at, type }: Observation): WitnessState {
  const transition = transitionOf(type);
  const phases = transition === null ? 0 : phaseBits[transition];
  return { seen: { first: at, last: at }, phases, affected: -1 };
}

/**
 * An event that a record without a body speaks of: its phases are what the rows give, exactly; how it was first
 * seen, how it was said to end and its fields may hold more than `given`, which nothing proves any more.
 */
export const keepEvent = (stored: EventState, given: EventState): EventState => ({
  phases: given.phases,
  endings: joinTables(stored.endings, given.endings, joinSpans),
  openings: joinTables(stored.openings, given.openings, joinSpans),
  fields: joinTables(stored.fields, given.fields, joinLatest),
});

/** An agent that sent a record without a body: when it was heard and its numbers exactly; its fields may hold more. */
export const keepAgent = (stored: AgentState, given: AgentState): AgentState => ({
  seen: given.seen,
  sequences: given.sequences,
  fields: joinTables(stored.fields, given.fields, joinLatest),
});

/** A witness whose record has no body: times and phases exactly; whether the event named its VM may be known from it. */
export const keepWitness = (stored: WitnessState, given: WitnessState): WitnessState => ({
  ...given,
  affected: Math.max(stored.affected, given.affected),
});

/** A deed that a record without a body may have told: its family and its agent are proven, and its words are not. */
export const keepDeed = (stored: DeedState, given: DeedState | undefined): DeedState =>
  given === undefined ? stored : joinDeeds(stored, given);
