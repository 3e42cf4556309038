// Keeps the projections of a trail in PostgreSQL: looks up in bulk what a batch speaks of, and writes in bulk what it changes.
import { hash } from 'node:crypto';
import { type AgentState, summarizeAgent, type WitnessState } from '../../core/agent-fold.ts';
import { type DeedState, deedKey } from '../../core/deed-fold.ts';
import { canonicalName } from '../../core/document.ts';
import { type EventState, summarizeEvent } from '../../core/event-fold.ts';
import { type Changes, type Known, type Observation, projectBatch } from '../../core/projection.ts';
import { type PlacedEntry, type ReadBatch, readBatch, witnessKey } from '../../core/read-batch.ts';
import type { StreamIds } from '../projector.ts';
import type { Ask, Row } from './database.ts';
import { numbersOf, streamNames } from './log.ts';
import { putStatement, putValues, type TableName, tableNames, type Value } from './tables.ts';
import { fromColumn, fromColumnOrNull, toColumn } from './text.ts';

/** What projecting a batch came to, and the names of all streams by number. */
export interface Projected {
  readonly changes: Changes;
  readonly names: ReadonlyMap<number, string>;
}

/**
 * Writes everything derived from these entries. The caller owns the transaction, and has asked for the writing lock:
 * what is looked up here is looked up by statements behind that one, each of which sees what was committed before it.
 */
export async function project(ask: Ask, entries: readonly PlacedEntry[]): Promise<Projected> {
  const batch = readBatch(entries);
  // Sent at once: one way to the server and back for all of them.
  const [names, rows] = await Promise.all([streamNames(ask), lookUp(ask, batch)]);
  const streams = numbersOf(names);
  const changes = projectBatch(batch, knownFrom(rows, streams));
  const written = rowsOf(streams, changes);
  await Promise.all(
    tableNames.flatMap((name) =>
      written[name].length === 0 ? [] : [ask(putStatement(name), putValues(name, written[name]))],
    ),
  );
  return { changes, names };
}

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const hex = (value: unknown): string => Buffer.from(value as Uint8Array).toString('hex');

/** What `seb.key` gives. */
export const keyOf = (text: string): Uint8Array => hash('sha256', toColumn(text), 'buffer').subarray(0, 16);

type Found = Readonly<Record<'observations' | 'events' | 'agents' | 'witnesses' | 'deeds', readonly Row[]>>;

async function lookUp(ask: Ask, batch: ReadBatch): Promise<Found> {
  const { recordKeys, eventIds, agentIds } = batch;
  if (recordKeys.length === 0) return { observations: [], events: [], agents: [], witnesses: [], deeds: [] };
  const [observations, events, agents, witnesses, deeds] = await Promise.all([
    ask('SELECT * FROM seb.observation WHERE record_key = ANY($1::bytea[])', [recordKeys.map(bytes)]),
    ask('SELECT event_id AS id, state FROM seb.event WHERE seb.key(event_id) = ANY($1::bytea[])', [
      eventIds.map(keyOf),
    ]),
    ask('SELECT agent_id AS id, state FROM seb.agent WHERE seb.key(agent_id) = ANY($1::bytea[])', [
      agentIds.map(keyOf),
    ]),
    ask(
      `SELECT event_id, agent_id, phases, affected, first_ms, last_ms FROM seb.event_observer
       JOIN unnest($1::bytea[], $2::bytea[]) AS wanted (event, agent)
         ON seb.key(event_id) = wanted.event AND seb.key(agent_id) = wanted.agent`,
      [
        batch.witnesses.map(({ eventId }) => keyOf(eventId)),
        batch.witnesses.map(({ agentId }) => keyOf(agentId)),
      ],
    ),
    lookUpDeeds(ask, batch),
  ]);
  return { observations, events, agents, witnesses, deeds };
}

/** Most batches tell no deed. */
const lookUpDeeds = async (ask: Ask, { deeds }: ReadBatch): Promise<readonly Row[]> =>
  deeds.length === 0
    ? []
    : ask(
        `SELECT event_id, agent_id, what, state FROM seb.deed
         JOIN unnest($1::bytea[], $2::bytea[], $3::bytea[]) AS wanted (event, agent, deed)
           ON seb.key(event_id) = wanted.event AND seb.key(agent_id) = wanted.agent
             AND seb.key(what) = wanted.deed`,
        [
          deeds.map(({ eventId }) => keyOf(eventId)),
          deeds.map(({ agentId }) => keyOf(agentId)),
          deeds.map(({ what }) => keyOf(what)),
        ],
      );

const knownFrom = ({ observations, events, agents, witnesses, deeds }: Found, streams: StreamIds): Known => ({
  observations: observations.map((row) => observationFrom(row, streams)),
  events: statesOf<EventState>(events),
  agents: statesOf<AgentState>(agents),
  witnesses: new Map(witnesses.map(witnessFrom)),
  deeds: new Map(deeds.map(deedFrom)),
});

const statesOf = <State>(rows: readonly Row[]): Map<string, State> =>
  new Map(rows.map((row) => [fromColumn(String(row['id'])), JSON.parse(stateText(row)) as State]));

/** The state that a row holds, as JSON. */
export const stateText = (row: Row): string => fromColumn(String(row['state']));

const observationFrom = (row: Row, streams: StreamIds): Observation => ({
  ...{ recordKey: hex(row['record_key']), bodyKey: hex(row['body_key']) },
  ...{ stream: streams.nameOf(Number(row['stream'])), index: Number(row['idx']) },
  ...{ repeats: Number(row['repeats']), id: fromColumn(String(row['id'])) },
  ...{ source: fromColumn(String(row['source'])), type: fromColumn(String(row['type'])) },
  ...{ at: Number(row['at_ms']), agentId: fromColumn(String(row['agent_id'])) },
  agentSequence: row['agent_seq'] === null ? null : Number(row['agent_seq']),
  eventId: fromColumnOrNull(row['event_id']),
});

function witnessFrom(row: Row): [string, WitnessState] {
  const [eventId, agentId] = [fromColumn(String(row['event_id'])), fromColumn(String(row['agent_id']))];
  const seen = { first: Number(row['first_ms']), last: Number(row['last_ms']) };
  const state = { phases: Number(row['phases']), affected: Number(row['affected']), seen };
  return [witnessKey({ eventId, agentId }), state];
}

function deedFrom(row: Row): [string, DeedState] {
  const [eventId, agentId] = [fromColumn(String(row['event_id'])), fromColumn(String(row['agent_id']))];
  const what = fromColumn(String(row['what']));
  return [deedKey({ eventId, agentId, what }), JSON.parse(stateText(row)) as DeedState];
}

type Rows = Readonly<Record<TableName, readonly (readonly Value[])[]>>;

const rowsOf = (streams: StreamIds, changes: Changes): Rows => ({
  observation: changes.observations.map((version) => [
    ...[bytes(version.recordKey), bytes(version.bodyKey), streams.idOf(version.stream), version.index],
    ...[version.repeats, version.id, version.source, version.type, version.at],
    ...[version.agentId, version.agentSequence, version.eventId],
  ]),
  conflict: changes.conflicts.map(({ recordKey, source, id, variants }) => [
    ...[bytes(recordKey), source, id, variants],
  ]),
  parked: changes.parked.map(({ stream, index, reason }) => [streams.idOf(stream), index, reason]),
  event: [...changes.events].map(([eventId, state]) => eventRow(eventId, state)),
  event_vm: [...changes.vms].flatMap(([eventId, names]) => vmRows(eventId, names)),
  event_observer: changes.witnesses.map(({ eventId, agentId, state: { phases, affected, seen } }) => [
    ...[eventId, agentId, phases, affected, seen.first, seen.last],
  ]),
  deed: changes.deeds.map(({ eventId, agentId, what, state }) => [
    ...[eventId, agentId, what, state.at, JSON.stringify(state)],
  ]),
  agent: [...changes.agents].map(([agentId, state]) => agentRow(agentId, state)),
});

function eventRow(eventId: string, state: EventState): Value[] {
  const { eventType, status, outcome, firstSeenAt, lastSeenAt } = summarizeEvent(state);
  return [eventId, eventType, status, outcome, firstSeenAt, lastSeenAt, JSON.stringify(state)];
}

/** One row for each VM: one statement may not touch a row twice. Of several spellings the lowest by bytes stays. */
function vmRows(eventId: string, names: ReadonlySet<string>): Value[][] {
  const lowest = new Map<string, string>();
  for (const name of names) {
    const key = canonicalName(name);
    const before = lowest.get(key);
    if (before === undefined || byBytes(name, before) < 0) lowest.set(key, name);
  }
  return [...lowest].map(([key, name]) => [key, eventId, name]);
}

/** The order of texts in a column, which is that of their bytes in UTF-8. */
export const byBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(toColumn(one)), Buffer.from(toColumn(other)));

function agentRow(agentId: string, state: AgentState): Value[] {
  const { vmId, vmName, resourceId, firstAt, lastAt } = summarizeAgent(agentId, state);
  return [agentId, vmId, vmName, resourceId, lastAt, JSON.stringify(state), firstAt];
}
