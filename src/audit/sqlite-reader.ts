// Answers questions to a trail in SQLite, without ever changing a byte of it.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { phaseBits } from '../core/agent-fold.ts';
import { canonicalName } from '../core/document.ts';
import { openForReading, withSentence } from './sqlite-file.ts';
import { agentsOf, eventIdsOf, eventReader, timelineOf } from './sqlite-timeline.ts';
import type {
  EventQuery,
  TrailCounts,
  TrailEvent,
  TrailFact,
  TrailPhase,
  TrailReader,
  TrailStream,
} from './store.ts';

/**
 * Opens the trail at `path` for questions.
 * @throws TrailUnusable also when there is no such file: it is never made
 */
export function openSqliteReader(path: string): TrailReader {
  // Questions go to tables that every version has.
  const database = openForReading(path, 1);
  const answer = <Answer>(question: () => Answer): Answer => withSentence(path, question);
  return {
    events: async (query) => answer(() => eventsOf(database, query)),
    facts: async (eventId) => answer(() => factsOf(database, eventId)),
    counts: async () => answer(() => countsOf(database)),
    streams: async () => answer(() => streamsOf(database)),
    agents: async () => answer(() => agentsOf(database)),
    timeline: async (eventId) => answer(() => timelineOf(database, path, eventId)),
    eventIds: async (beginning, limit) => answer(() => eventIdsOf(database, beginning, limit)),
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

type Row = Readonly<Record<string, unknown>>;

function eventsOf(database: DatabaseSync, query: EventQuery): TrailEvent[] {
  const { clause, values } = conditionsOf(query);
  const rows = database
    .prepare(`SELECT event_id, state FROM event ${clause} ORDER BY first_ms DESC, event_id DESC LIMIT ?`)
    .all(...values, query.limit);
  const [observersOf, eventOf] = [observerCounts(database), eventReader(database)];
  return rows.reverse().map((row) => ({ ...eventOf(row), ...observersOf(String(row['event_id'])) }));
}

function conditionsOf({ type, since, until, vm, open }: EventQuery): {
  clause: string;
  values: SQLInputValue[];
} {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const narrow = (condition: string, ...given: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...given);
  };
  if (type !== undefined) narrow('type = ? COLLATE NOCASE', type);
  if (since !== undefined) narrow('last_ms >= ?', since);
  if (until !== undefined) narrow('first_ms < ?', until);
  if (vm !== undefined) narrow(`event_id IN (${eventsOfVm})`, canonicalName(vm), vm, vm);
  if (open === true) narrow(`status IN ('scheduled', 'started')`);
  return { clause: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

// An event names VMs; whoever knows a VM by an id finds it through the agent that runs on it. CROSS: the few agents
// first, and then what they saw by its index.
const eventsOfVm = `
  SELECT event_id FROM event_vm WHERE vm_key = ?
  UNION
  SELECT event_id FROM agent CROSS JOIN event_observer USING (agent_id)
  WHERE affected = 1 AND (vm_id = ? COLLATE NOCASE OR resource_id = ? COLLATE NOCASE)`;

type ObserverCounts = Pick<TrailEvent, 'observers' | 'phaseObservers'>;

/** Counts VMs, not installations: an agent may report before it knows its VM, and a VM may be installed anew. */
function observerCounts(database: DatabaseSync): (eventId: string) => ObserverCounts {
  const phases = Object.keys(phaseBits) as TrailPhase[];
  const vm = 'coalesce(agent.vm_id, agent.agent_id)';
  const perPhase = phases.map(
    (phase) => `count(DISTINCT iif(phases & ${phaseBits[phase]}, ${vm}, NULL)) AS ${phase}`,
  );
  const statement = database.prepare(
    `SELECT count(DISTINCT ${vm}) AS observers, ${perPhase.join(', ')}
     FROM event_observer JOIN agent USING (agent_id) WHERE event_id = ?`,
  );
  return (eventId) => {
    const row: Row = statement.get(eventId) ?? {};
    const phaseObservers = Object.fromEntries(phases.map((phase) => [phase, Number(row[phase])]));
    return {
      observers: Number(row['observers']),
      phaseObservers: phaseObservers as Record<TrailPhase, number>,
    };
  };
}

/** What agents did about an event is no fact of it. */
const eventTypes = 'io.github.scheduled-events-bridge.event.';

function factsOf(database: DatabaseSync, eventId: string | undefined): TrailFact[] {
  const clause = `type GLOB '${eventTypes}*' AND event_id ${eventId === undefined ? 'IS NOT NULL' : '= ?'}`;
  const rows = database
    .prepare(
      `SELECT id, min(type) AS type, event_id, count(DISTINCT source) AS observers, min(at_ms) AS first_ms
       FROM observation WHERE ${clause} GROUP BY event_id, id ORDER BY first_ms, id`,
    )
    .all(...(eventId === undefined ? [] : [eventId.toLowerCase()]));
  return rows.map((row) => ({
    id: String(row['id']),
    type: String(row['type']),
    eventId: String(row['event_id']),
    observers: Number(row['observers']),
    firstAt: Number(row['first_ms']),
  }));
}

// What the trail says of itself stands in streams of its own.
const ofHubs = `name NOT GLOB 'trail/*/journal' AND name NOT GLOB 'trail/*/seal'`;

function countsOf(database: DatabaseSync): TrailCounts {
  const row: Row =
    database
      .prepare(
        `SELECT
           (SELECT coalesce(sum(size), 0) FROM stream WHERE ${ofHubs}) AS entries,
           (SELECT count(*) FROM observation) AS observations,
           (SELECT coalesce(sum(repeats), 0) FROM observation) AS repeats,
           (SELECT coalesce(sum(variants - 1), 0) FROM conflict) AS conflicts,
           (SELECT count(*) FROM parked) AS parked,
           (SELECT count(*) FROM event) AS events,
           (SELECT count(*) FROM agent) AS agents`,
      )
      .get() ?? {};
  const count = (name: string): number => Number(row[name]);
  return {
    entries: count('entries'),
    records: count('observations') - count('conflicts'),
    repeats: count('repeats'),
    conflicts: count('conflicts'),
    parked: count('parked'),
    events: count('events'),
    agents: count('agents'),
  };
}

const streamsOf = (database: DatabaseSync): TrailStream[] =>
  database
    .prepare(`SELECT name, size, last_seq, last_enqueued_ms FROM stream WHERE ${ofHubs} ORDER BY name`)
    .all()
    .map((row) => ({
      name: String(row['name']),
      size: Number(row['size']),
      lastSequenceNumber: Number(row['last_seq']),
      lastEnqueuedMs: row['last_enqueued_ms'] === null ? null : Number(row['last_enqueued_ms']),
    }));
