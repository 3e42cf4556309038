// Answers questions to a trail in PostgreSQL, without ever changing a row of it.
import { phaseBits } from '../../core/agent-fold.ts';
import { canonicalName } from '../../core/document.ts';
import { type EventState, summarizeEvent } from '../../core/event-fold.ts';
import { streamKind } from '../../core/stream.ts';
import type {
  EventQuery,
  TrailCounts,
  TrailEvent,
  TrailFact,
  TrailPhase,
  TrailReader,
  TrailStream,
} from '../store.ts';
import { type Ask, openDatabase, type PostgresSettings, type Row } from './database.ts';
import { keyOf, stateText } from './projector.ts';
import { asking, requireTables } from './source.ts';
import { fromColumn, toColumn } from './text.ts';
import { agentsOf, eventIdsOf, timelineOf, vmsOf } from './timeline.ts';

const once = { mode: 'REPEATABLE READ READ ONLY', statementMs: 60_000 } as const;

/**
 * Opens the trail for questions.
 * @throws TrailUnusable also when there is none: it is never made
 */
export async function openPostgresReader(settings: PostgresSettings): Promise<TrailReader> {
  return await asking(async () => {
    await using opened = new AsyncDisposableStack();
    const database = opened.use(await openDatabase(settings, { connectionsMax: 1 }));
    await database.transact(requireTables, once);
    const resources = opened.move();
    const answer = <Answer>(question: (ask: Ask) => Promise<Answer>): Promise<Answer> =>
      asking(() => database.transact(question, once));
    return {
      events: (query) => answer((ask) => eventsOf(ask, query)),
      facts: (eventId) => answer((ask) => factsOf(ask, eventId)),
      counts: () => answer(countsOf),
      streams: () => answer(streamsOf),
      agents: () => answer(agentsOf),
      timeline: (eventId) => answer((ask) => timelineOf(ask, eventId)),
      eventIds: (beginning, limit) => answer((ask) => eventIdsOf(ask, beginning, limit)),
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    };
  });
}

async function eventsOf(ask: Ask, query: EventQuery): Promise<TrailEvent[]> {
  const { clause, values } = conditionsOf(query);
  const found = await ask(
    `SELECT event_id, state FROM seb.event ${clause}
     ORDER BY first_ms DESC, event_id DESC LIMIT $${values.length + 1}`,
    [...values, query.limit],
  );
  const keys = found.map((row) => keyOf(fromColumn(String(row['event_id']))));
  const [vms, counts] = await Promise.all([vmsOf(ask, keys), observerCounts(ask, keys)]);
  return [...found].reverse().map((row) => {
    const stored = String(row['event_id']);
    return {
      eventId: fromColumn(stored),
      ...summarizeEvent(JSON.parse(stateText(row)) as EventState),
      vms: vms.get(stored) ?? [],
      ...(counts.get(stored) ?? countsFrom({})),
    };
  });
}

function conditionsOf({ type, since, until, vm, open }: EventQuery): { clause: string; values: unknown[] } {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const given = (value: unknown): string => `$${values.push(value)}`;
  // In the collation "C" only the letters of ASCII have a case, as in SQLite.
  if (type !== undefined)
    conditions.push(`lower(type) = lower(${given(toColumn(type.toWellFormed()))} COLLATE "C")`);
  if (since !== undefined) conditions.push(`last_ms >= ${given(since)}`);
  if (until !== undefined) conditions.push(`first_ms < ${given(until)}`);
  // Records are read as well-formed texts.
  const name = vm?.toWellFormed();
  if (name !== undefined) {
    conditions.push(`event_id IN (${eventsOfVm(given(keyOf(canonicalName(name))), given(toColumn(name)))})`);
  }
  if (open === true) conditions.push(`status IN ('scheduled', 'started')`);
  return { clause: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

// An event names VMs; whoever knows a VM by an id finds it through the agent that runs on it.
const eventsOfVm = (key: string, id: string): string => `
  SELECT event_id FROM seb.event_vm WHERE seb.key(vm_key) = ${key}
  UNION
  SELECT seen.event_id FROM seb.agent JOIN seb.event_observer AS seen
    ON seb.key(seen.agent_id) = seb.key(agent.agent_id)
  WHERE affected = 1 AND lower(${id} COLLATE "C") IN (lower(vm_id), lower(resource_id))`;

type ObserverCounts = Pick<TrailEvent, 'observers' | 'phaseObservers'>;
const phases = Object.keys(phaseBits) as TrailPhase[];

/** Counts VMs, not installations: an agent may report before it knows its VM, and a VM may be installed anew. */
async function observerCounts(
  ask: Ask,
  keys: readonly Uint8Array[],
): Promise<ReadonlyMap<string, ObserverCounts>> {
  const vm = 'coalesce(agent.vm_id, agent.agent_id)';
  const perPhase = phases.map(
    (phase) => `count(DISTINCT ${vm}) FILTER (WHERE phases & ${phaseBits[phase]} <> 0) AS ${phase}`,
  );
  const rows = await ask(
    `SELECT seen.event_id, count(DISTINCT ${vm}) AS observers, ${perPhase.join(', ')}
     FROM seb.event_observer AS seen JOIN seb.agent ON seb.key(agent.agent_id) = seb.key(seen.agent_id)
     WHERE seb.key(seen.event_id) = ANY($1::bytea[]) GROUP BY seen.event_id`,
    [keys],
  );
  return new Map(rows.map((row) => [String(row['event_id']), countsFrom(row)]));
}

function countsFrom(row: Row): ObserverCounts {
  const phaseObservers = Object.fromEntries(phases.map((phase) => [phase, Number(row[phase] ?? 0)]));
  return {
    observers: Number(row['observers'] ?? 0),
    phaseObservers: phaseObservers as Record<TrailPhase, number>,
  };
}

/** What agents did about an event is no fact of it. */
const eventTypes = 'io.github.scheduled-events-bridge.event.';

async function factsOf(ask: Ask, eventId: string | undefined): Promise<TrailFact[]> {
  const one = eventId === undefined ? 'event_id IS NOT NULL' : 'seb.key(event_id) = $1';
  const clause = `${one} AND type LIKE '${eventTypes}%'`;
  const rows = await ask(
    `SELECT id, min(type) AS type, event_id, count(DISTINCT source) AS observers, min(at_ms) AS first_ms
     FROM seb.observation WHERE ${clause} GROUP BY event_id, id ORDER BY first_ms, id`,
    eventId === undefined ? [] : [keyOf(eventId.toLowerCase().toWellFormed())],
  );
  return rows.map((row) => ({
    ...{ id: fromColumn(String(row['id'])), type: fromColumn(String(row['type'])) },
    ...{ eventId: fromColumn(String(row['event_id'])), observers: Number(row['observers']) },
    firstAt: Number(row['first_ms']),
  }));
}

async function countsOf(ask: Ask): Promise<TrailCounts> {
  const [row = {}] = await ask(
    `SELECT
       (SELECT count(*) FROM seb.observation) AS observations,
       (SELECT coalesce(sum(repeats), 0)::bigint FROM seb.observation) AS repeats,
       (SELECT coalesce(sum(variants - 1), 0)::bigint FROM seb.conflict) AS conflicts,
       (SELECT count(*) FROM seb.parked) AS parked,
       (SELECT count(*) FROM seb.event) AS events,
       (SELECT count(*) FROM seb.agent) AS agents`,
  );
  const count = (name: string): number => Number(row[name]);
  return {
    entries: (await streamsOf(ask)).reduce((sum, { size }) => sum + size, 0),
    records: count('observations') - count('conflicts'),
    ...{ repeats: count('repeats'), conflicts: count('conflicts'), parked: count('parked') },
    ...{ events: count('events'), agents: count('agents') },
  };
}

async function streamsOf(ask: Ask): Promise<TrailStream[]> {
  const rows = await ask('SELECT name, size, last_seq, last_enqueued_ms FROM seb.stream ORDER BY name');
  return rows
    .filter((row) => streamKind(String(row['name'])) === 'hub')
    .map((row) => ({
      ...{ name: String(row['name']), size: Number(row['size']) },
      lastSequenceNumber: Number(row['last_seq']),
      lastEnqueuedMs: row['last_enqueued_ms'] === null ? null : Number(row['last_enqueued_ms']),
    }));
}
