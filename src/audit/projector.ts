// Derives the projections from entries: facts to rows, one write per event and agent however many spoke.

import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type AgentState,
  agentStateOf,
  joinAgents,
  joinWitnesses,
  type WitnessState,
  witnessStateOf,
} from '../core/agent-fold.ts';
import { canonicalName } from '../core/document.ts';
import { type EventState, eventStateOf, joinEvents, summarizeEvent } from '../core/event-fold.ts';
import { readRecord, type TrailRecord } from '../core/read-record.ts';
import type { AppendCounts } from './store.ts';

/** An entry and where it stands. */
export interface PlacedEntry {
  readonly streamId: number;
  readonly index: number;
  readonly bodySha256: Uint8Array;
  readonly body: Uint8Array;
}

export interface Projector {
  /** Writes everything derived from these entries; the caller owns the transaction. */
  project(entries: readonly PlacedEntry[]): AppendCounts;
}

/** Prepares the projections of a database whose tables stand already. */
export function openProjector(database: DatabaseSync): Projector {
  const statements = prepare(database);
  return {
    project: (entries) => {
      const news: News = { events: new Map(), agents: new Map(), counts: emptyCounts() };
      for (const entry of entries) projectEntry(statements, news, entry);
      for (const [eventId, fresh] of news.events) writeEvent(statements, eventId, fresh);
      for (const [agentId, state] of news.agents) writeAgent(statements, agentId, state);
      return news.counts;
    },
  };
}

type Counts = { -readonly [Name in keyof AppendCounts]: AppendCounts[Name] };
const emptyCounts = (): Counts => ({ entries: 0, records: 0, repeats: 0, conflicts: 0, parked: 0 });

/** What one batch says, joined in memory before it meets what stands on disk. */
interface News {
  readonly events: Map<string, EventNews>;
  readonly agents: Map<string, AgentState>;
  readonly counts: Counts;
}

interface EventNews {
  state: EventState;
  readonly vms: Set<string>;
  readonly witnesses: Map<string, WitnessState>;
}

type Statements = ReturnType<typeof prepare>;

function prepare(database: DatabaseSync) {
  const sql = (text: string): StatementSync => database.prepare(text);
  return {
    park: sql('INSERT INTO parked (stream, idx, reason) VALUES (?, ?, ?)'),
    // Of several copies the one that stands lowest is the evidence, whichever came first.
    observe: sql(`
      INSERT INTO observation
        (record_key, body_key, stream, idx, id, source, type, at_ms, agent_id, agent_seq, event_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (record_key, body_key) DO UPDATE SET
        repeats = repeats + 1,
        stream = iif((excluded.stream, excluded.idx) < (stream, idx), excluded.stream, stream),
        idx = iif((excluded.stream, excluded.idx) < (stream, idx), excluded.idx, idx)
      RETURNING repeats`),
    variants: sql('SELECT count(*) AS variants FROM observation WHERE record_key = ?'),
    conflict: sql(`
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
    agent: sql('SELECT state FROM agent WHERE agent_id = ?'),
    putAgent: sql(`
      INSERT OR REPLACE INTO agent (agent_id, vm_id, vm_name, resource_id, last_ms, state)
      VALUES (?, ?, ?, ?, ?, ?)`),
  };
}

function projectEntry(statements: Statements, news: News, entry: PlacedEntry): void {
  news.counts.entries += 1;
  const reading = readRecord(entry.body);
  if (reading.status === 'parked') {
    statements.park.run(entry.streamId, entry.index, reading.reason);
    news.counts.parked += 1;
    return;
  }
  const { record } = reading;
  const recordKey = recordKeyOf(record);
  if (!observe(statements, recordKey, record, entry)) {
    news.counts.repeats += 1;
    return;
  }
  if (hasVariants(statements, recordKey, record)) news.counts.conflicts += 1;
  else news.counts.records += 1;
  hear(news, record);
}

const keyLength = 16;

/** Source and id name a record; a byte that neither may hold keeps them apart. */
const recordKeyOf = ({ source, id }: TrailRecord): Uint8Array =>
  createHash('sha256')
    .update(JSON.stringify([source, id]), 'utf8')
    .digest()
    .subarray(0, keyLength);

/** Whether these bytes of this record are new. */
function observe(
  { observe }: Statements,
  recordKey: Uint8Array,
  record: TrailRecord,
  entry: PlacedEntry,
): boolean {
  const { id, source, type, at, agent, event } = record;
  const bodyKey = entry.bodySha256.subarray(0, keyLength);
  const place = [recordKey, bodyKey, entry.streamId, entry.index] as const;
  const who = [agent.agentId, agent.sequence] as const;
  const row = observe.get(...place, id, source, type, at, ...who, event?.eventId ?? null);
  return row?.['repeats'] === 0;
}

function hasVariants(statements: Statements, recordKey: Uint8Array, { source, id }: TrailRecord): boolean {
  const variants = Number(statements.variants.get(recordKey)?.['variants']);
  if (variants > 1) statements.conflict.run(recordKey, source, id, variants);
  return variants > 1;
}

/** Folds a record into what the batch says. Both versions of a conflict count: neither can be called false. */
function hear(news: News, record: TrailRecord): void {
  const { event, agent } = record;
  const known = news.agents.get(agent.agentId);
  const said = agentStateOf(record);
  news.agents.set(agent.agentId, known === undefined ? said : joinAgents(known, said));
  const witness = witnessStateOf(record);
  if (event === null || witness === null) return;
  const state = eventStateOf(record, event);
  const fresh = news.events.get(event.eventId) ?? { state, vms: new Set(), witnesses: new Map() };
  fresh.state = joinEvents(fresh.state, state);
  for (const vm of event.vms) fresh.vms.add(vm);
  const before = fresh.witnesses.get(agent.agentId);
  fresh.witnesses.set(agent.agentId, before === undefined ? witness : joinWitnesses(before, witness));
  news.events.set(event.eventId, fresh);
}

function writeEvent(statements: Statements, eventId: string, fresh: EventNews): void {
  const row = statements.event.get(eventId);
  const known = row === undefined ? null : (JSON.parse(String(row['state'])) as EventState);
  const state = known === null ? fresh.state : joinEvents(known, fresh.state);
  const { eventType, status, outcome, firstSeenAt, lastSeenAt } = summarizeEvent(state);
  statements.putEvent.run(
    ...[eventId, eventType, status, outcome, firstSeenAt, lastSeenAt],
    JSON.stringify(state),
  );
  for (const vm of fresh.vms) statements.putVm.run(canonicalName(vm), eventId, vm);
  for (const [agentId, witness] of fresh.witnesses) writeWitness(statements, eventId, agentId, witness);
}

function writeWitness(statements: Statements, eventId: string, agentId: string, fresh: WitnessState): void {
  const row = statements.witness.get(eventId, agentId);
  const known = row === undefined ? fresh : witnessFrom(row);
  const { phases, affected, seen } = joinWitnesses(known, fresh);
  statements.putWitness.run(eventId, agentId, phases, affected, seen.first, seen.last);
}

const witnessFrom = (row: Readonly<Record<string, unknown>>): WitnessState => ({
  phases: Number(row['phases']),
  affected: Number(row['affected']),
  seen: { first: Number(row['first_ms']), last: Number(row['last_ms']) },
});

function writeAgent(statements: Statements, agentId: string, fresh: AgentState): void {
  const row = statements.agent.get(agentId);
  const known = row === undefined ? null : (JSON.parse(String(row['state'])) as AgentState);
  const state = known === null ? fresh : joinAgents(known, fresh);
  const field = (name: string): string | null => state.fields[name]?.value ?? null;
  statements.putAgent.run(
    ...[agentId, field('vmId'), field('vmName'), field('resourceId')],
    ...[state.seen.last, JSON.stringify(state)],
  );
}
