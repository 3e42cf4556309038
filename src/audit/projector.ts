// Keeps the projections of a trail in SQLite: looks up what a batch speaks of, and writes what it changes.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { type AgentState, summarizeAgent, type WitnessState } from '../core/agent-fold.ts';
import { type DeedState, deedKey } from '../core/deed-fold.ts';
import { canonicalName } from '../core/document.ts';
import { type EventState, summarizeEvent } from '../core/event-fold.ts';
import {
  type AppendCounts,
  type Changes,
  type Known,
  type Observation,
  projectBatch,
} from '../core/projection.ts';
import { type PlacedEntry, type ReadBatch, readBatch, witnessKey } from '../core/read-batch.ts';

/** What projecting a batch came to. */
export interface Projected {
  readonly counts: AppendCounts;
  readonly changes: Changes;
}

/** What has to be looked up. */
export type Keys = Pick<ReadBatch, 'recordKeys' | 'eventIds' | 'agentIds' | 'witnesses' | 'deeds'>;

/** The caller owns the transaction. */
export interface Projector {
  /** Writes everything derived from these entries. */
  project(entries: readonly PlacedEntry[]): Projected;
  /** What stands under these keys. */
  known(keys: Keys): Known;
  write(changes: Omit<Changes, 'counts'>): void;
}

/** Prepares the projections of a database whose tables stand already. @param streams their ids by name */
export function openProjector(database: DatabaseSync, streams: StreamIds): Projector {
  const statements = prepare(database);
  return {
    project: (entries) => {
      const batch = readBatch(entries);
      const changes = projectBatch(batch, knownOf(statements, streams, batch));
      write(statements, streams, changes);
      return { counts: changes.counts, changes };
    },
    known: (keys) => knownOf(statements, streams, keys),
    write: (changes) => write(statements, streams, changes),
  };
}

/** Rows name streams by a short number. */
export interface StreamIds {
  idOf(name: string): number;
  nameOf(id: number): string;
}

type Statements = ReturnType<typeof prepare>;
type Row = Readonly<Record<string, unknown>>;

function prepare(database: DatabaseSync) {
  const sql = (text: string): StatementSync => database.prepare(text);
  return {
    park: sql('INSERT INTO parked (stream, idx, reason) VALUES (?, ?, ?)'),
    versions: sql('SELECT * FROM observation WHERE record_key = ?'),
    putObservation: sql(`
      INSERT INTO observation
        (record_key, body_key, stream, idx, repeats, id, source, type, at_ms, agent_id, agent_seq, event_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (record_key, body_key) DO UPDATE SET
        stream = excluded.stream, idx = excluded.idx, repeats = excluded.repeats`),
    putConflict: sql(`
      INSERT INTO conflict (record_key, source, id, variants) VALUES (?, ?, ?, ?)
      ON CONFLICT (record_key) DO UPDATE SET variants = excluded.variants`),
    event: sql('SELECT state FROM event WHERE event_id = ?'),
    putEvent: sql(`
      INSERT OR REPLACE INTO event (event_id, type, status, outcome, first_ms, last_ms, state)
      VALUES (?, ?, ?, ?, ?, ?, ?)`),
    putVm: sql(`
      INSERT INTO event_vm (vm_key, event_id, vm_name) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET vm_name = min(vm_name, excluded.vm_name)`),
    witness: sql(`
      SELECT phases, affected, first_ms, last_ms FROM event_observer WHERE event_id = ? AND agent_id = ?`),
    putWitness: sql(`
      INSERT OR REPLACE INTO event_observer (event_id, agent_id, phases, affected, first_ms, last_ms)
      VALUES (?, ?, ?, ?, ?, ?)`),
    deed: sql('SELECT state FROM deed WHERE event_id = ? AND agent_id = ? AND what = ?'),
    putDeed: sql(
      'INSERT OR REPLACE INTO deed (event_id, agent_id, what, at_ms, state) VALUES (?, ?, ?, ?, ?)',
    ),
    agent: sql('SELECT state FROM agent WHERE agent_id = ?'),
    putAgent: sql(`
      INSERT OR REPLACE INTO agent (agent_id, vm_id, vm_name, resource_id, last_ms, state, first_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?)`),
  };
}

/** Of a key in hex. */
export const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');
const hex = (value: unknown): string => Buffer.from(value as Uint8Array).toString('hex');

function knownOf(statements: Statements, streams: StreamIds, keys: Keys): Known {
  return {
    observations: keys.recordKeys.flatMap((key) =>
      statements.versions.all(bytes(key)).map((row) => observationFrom(row, streams)),
    ),
    events: statesOf<EventState>(statements.event, keys.eventIds),
    agents: statesOf<AgentState>(statements.agent, keys.agentIds),
    witnesses: new Map(
      keys.witnesses.flatMap((key) => {
        const row = statements.witness.get(key.eventId, key.agentId);
        return row === undefined ? [] : [[witnessKey(key), witnessFrom(row)] as const];
      }),
    ),
    deeds: new Map(
      keys.deeds.flatMap((key) => {
        const row = statements.deed.get(key.eventId, key.agentId, key.what);
        return row === undefined
          ? []
          : [[deedKey(key), JSON.parse(String(row['state'])) as DeedState] as const];
      }),
    ),
  };
}

const statesOf = <State>(query: StatementSync, keys: readonly string[]): Map<string, State> =>
  new Map(
    keys.flatMap((key) => {
      const row = query.get(key);
      return row === undefined ? [] : [[key, JSON.parse(String(row['state'])) as State] as const];
    }),
  );

const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));

/** An observation as its row says. */
export const observationFrom = (row: Row, streams: StreamIds): Observation => ({
  ...{ recordKey: hex(row['record_key']), bodyKey: hex(row['body_key']) },
  ...{ stream: streams.nameOf(Number(row['stream'])), index: Number(row['idx']) },
  ...{ repeats: Number(row['repeats']), id: String(row['id']), source: String(row['source']) },
  ...{ type: String(row['type']), at: Number(row['at_ms']), agentId: String(row['agent_id']) },
  agentSequence: row['agent_seq'] === null ? null : Number(row['agent_seq']),
  eventId: textOrNull(row['event_id']),
});

const witnessFrom = (row: Row): WitnessState => ({
  phases: Number(row['phases']),
  affected: Number(row['affected']),
  seen: { first: Number(row['first_ms']), last: Number(row['last_ms']) },
});

function write(statements: Statements, streams: StreamIds, changes: Omit<Changes, 'counts'>): void {
  for (const { stream, index, reason } of changes.parked)
    statements.park.run(streams.idOf(stream), index, reason);
  for (const version of changes.observations) {
    statements.putObservation.run(...observationRow(version, streams.idOf(version.stream)));
  }
  for (const { recordKey, source, id, variants } of changes.conflicts) {
    statements.putConflict.run(bytes(recordKey), source, id, variants);
  }
  for (const [eventId, state] of changes.events) statements.putEvent.run(...eventRow(eventId, state));
  for (const [eventId, names] of changes.vms) {
    for (const name of names) statements.putVm.run(canonicalName(name), eventId, name);
  }
  for (const { eventId, agentId, state } of changes.witnesses) {
    const { phases, affected, seen } = state;
    statements.putWitness.run(eventId, agentId, phases, affected, seen.first, seen.last);
  }
  for (const { eventId, agentId, what, state } of changes.deeds) {
    statements.putDeed.run(eventId, agentId, what, state.at, JSON.stringify(state));
  }
  for (const [agentId, state] of changes.agents) statements.putAgent.run(...agentRow(agentId, state));
}

const observationRow = (version: Observation, streamId: number): SQLInputValue[] => [
  ...[bytes(version.recordKey), bytes(version.bodyKey), streamId, version.index, version.repeats],
  ...[version.id, version.source, version.type, version.at],
  ...[version.agentId, version.agentSequence, version.eventId],
];

function eventRow(eventId: string, state: EventState): SQLInputValue[] {
  const { eventType, status, outcome, firstSeenAt, lastSeenAt } = summarizeEvent(state);
  return [eventId, eventType, status, outcome, firstSeenAt, lastSeenAt, JSON.stringify(state)];
}

function agentRow(agentId: string, state: AgentState): SQLInputValue[] {
  const { vmId, vmName, resourceId, firstAt, lastAt } = summarizeAgent(agentId, state);
  return [agentId, vmId, vmName, resourceId, lastAt, JSON.stringify(state), firstAt];
}
