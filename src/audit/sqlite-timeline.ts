// Gathers from a trail in SQLite what the timeline of one event is made of, and what is known of all agents.
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { type AgentState, summarizeAgent } from '../core/agent-fold.ts';
import type { DeedState } from '../core/deed-fold.ts';
import { eventKey } from '../core/document.ts';
import { type EventState, summarizeEvent } from '../core/event-fold.ts';
import { transitionOf } from '../core/read-record.ts';
import { correlationOf } from '../core/record.ts';
import { finalTypes, type KnownAgent, withEnds } from '../core/silence.ts';
import {
  finalEventOf,
  heardBetween,
  type NotifiedFact,
  notifiedIn,
  othersBetween,
  othersMax,
  type TimelineEvent,
  type TimelineParts,
} from '../core/timeline-parts.ts';
import { requireVersion } from './sqlite-file.ts';

type Row = Readonly<Record<string, unknown>>;

/** Before this version the projections knew neither deeds nor who was heard of when. */
const versionWithDeeds = 3;

/** @throws TrailUnusable when the trail is of an earlier version */
export function timelineOf(database: DatabaseSync, path: string, eventId: string): TimelineParts | null {
  requireVersion(database, path, versionWithDeeds);
  const all = (sql: string, ...values: SQLInputValue[]) => database.prepare(sql).all(...values);
  const key = eventKey(eventId);
  const eventOf = eventReader(database);
  const [row] = all('SELECT event_id, state FROM event WHERE event_id = ?', key);
  if (row === undefined) return null;
  const event = eventOf(row);
  const others = othersBetween(event);
  return {
    event,
    tellings: all('SELECT id, type, agent_id, at_ms FROM observation WHERE event_id = ?', key).flatMap(
      tellingFrom,
    ),
    deeds: all('SELECT agent_id, state FROM deed WHERE event_id = ?', key).map((deed) => ({
      agentId: String(deed['agent_id']),
      ...(JSON.parse(String(deed['state'])) as DeedState),
    })),
    agents: agentsOf(database),
    heard: heardOf(database, event),
    others: all(
      `SELECT event_id, state FROM event WHERE last_ms >= ? AND first_ms <= ? AND event_id <> ?
       ORDER BY first_ms, event_id LIMIT ?`,
      ...[others.from, others.until, key, othersMax],
    ).map(eventOf),
    notices: noticesOf(database, event),
  };
}

/** The ids of events that begin with this, whatever its case. @param limit the first so many */
export function eventIdsOf(database: DatabaseSync, beginning: string, limit: number): readonly string[] {
  const key = eventKey(beginning);
  return database
    .prepare(
      `SELECT event_id FROM event WHERE event_id >= ?1 AND substr(event_id, 1, length(?1)) = ?1
       ORDER BY event_id LIMIT ?2`,
    )
    .all(key, limit)
    .map((row) => String(row['event_id']));
}

function tellingFrom(row: Row): TimelineParts['tellings'] {
  const transition = transitionOf(String(row['type']));
  if (transition === null) return [];
  const { id, agent_id: agentId, at_ms: at } = row;
  return [{ factId: String(id), transition, agentId: String(agentId), at: Number(at) }];
}

function heardOf(database: DatabaseSync, event: TimelineEvent): TimelineParts['heard'] {
  const { from, until } = heardBetween(event);
  return database
    .prepare(
      `SELECT agent_id, max(iif(at_ms <= ?1, at_ms, NULL)) AS before_ms,
         min(iif(at_ms > ?1, at_ms, NULL)) AS first_ms, max(iif(at_ms > ?1, at_ms, NULL)) AS last_ms
       FROM observation WHERE at_ms BETWEEN ?2 AND ?3 GROUP BY agent_id`,
    )
    .all(event.firstSeenAt, from, until)
    .map((row) => ({
      agentId: String(row['agent_id']),
      ...{ before: numberOrNull(row['before_ms']), first: numberOrNull(row['first_ms']) },
      last: numberOrNull(row['last_ms']),
    }));
}

const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

// One that is told again and again to many sinks.
const noticesMax = 10_000;

function noticesOf(database: DatabaseSync, { eventId, firstSeenAt }: TimelineEvent): NotifiedFact[] {
  const rows = database
    .prepare(
      `SELECT enqueued_ms, body FROM stream JOIN entry ON entry.stream = stream.id
       WHERE name GLOB 'trail/*/journal' AND enqueued_ms >= ? AND instr(body, CAST('"kind":"notified"' AS BLOB)) > 0
         AND instr(body, CAST(? AS BLOB)) > 0 ORDER BY name, idx LIMIT ?`,
    )
    .all(firstSeenAt, correlationOf(eventId), noticesMax);
  return rows.flatMap((row) => notifiedIn(row['body'] as Uint8Array, Number(row['enqueued_ms'])));
}

/** Reads rows with `event_id` and `state`. */
export function eventReader(database: DatabaseSync): (row: Row) => TimelineEvent {
  const vmsOf = database.prepare('SELECT vm_name FROM event_vm WHERE event_id = ? ORDER BY vm_key');
  return (row) => {
    const eventId = String(row['event_id']);
    return {
      eventId,
      ...summarizeEvent(JSON.parse(String(row['state'])) as EventState),
      vms: vmsOf.all(eventId).map(({ vm_name: name }) => String(name)),
    };
  };
}

/** By id. */
export function agentsOf(database: DatabaseSync): readonly KnownAgent[] {
  const agents = database
    .prepare('SELECT agent_id, state FROM agent ORDER BY agent_id')
    .all()
    .map((row) => summarizeAgent(String(row['agent_id']), JSON.parse(String(row['state'])) as AgentState));
  const ends = database
    .prepare(`SELECT event_id, state FROM event WHERE lower(type) IN (${finalTypes.map(() => '?').join()})`)
    .all(...finalTypes)
    .map(eventReader(database))
    .flatMap((event) => finalEventOf(event) ?? []);
  return withEnds(agents, ends);
}
