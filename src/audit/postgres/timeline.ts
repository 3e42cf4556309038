// Gathers from a trail in PostgreSQL what the timeline of one event is made of, and what is known of all agents.
import { type AgentState, summarizeAgent } from '../../core/agent-fold.ts';
import type { DeedState } from '../../core/deed-fold.ts';
import { eventKey } from '../../core/document.ts';
import { type EventState, summarizeEvent } from '../../core/event-fold.ts';
import { transitionOf } from '../../core/read-record.ts';
import { correlationOf } from '../../core/record.ts';
import { finalTypes, type KnownAgent, withEnds } from '../../core/silence.ts';
import {
  finalEventOf,
  heardBetween,
  type NotifiedFact,
  notifiedIn,
  othersBetween,
  othersMax,
  type TimelineEvent,
  type TimelineParts,
} from '../../core/timeline-parts.ts';
import type { Ask, Row } from './database.ts';
import { byBytes, keyOf, stateText } from './projector.ts';
import { fromColumn, toColumn } from './text.ts';

const text = (row: Row, name: string): string => fromColumn(String(row[name]));

/** Asked one after the other: they are few, and answered in one snapshot. */
export async function timelineOf(ask: Ask, eventId: string): Promise<TimelineParts | null> {
  const key = keyOf(eventKey(eventId).toWellFormed());
  const found = await ask('SELECT event_id, state FROM seb.event WHERE seb.key(event_id) = $1', [key]);
  const [event] = await eventsFrom(ask, found);
  if (event === undefined) return null;
  const tellings = await ask(
    'SELECT id, type, agent_id, at_ms FROM seb.observation WHERE seb.key(event_id) = $1',
    [key],
  );
  const deeds = await ask('SELECT agent_id, state FROM seb.deed WHERE seb.key(event_id) = $1', [key]);
  return {
    event,
    tellings: tellings.flatMap(tellingFrom),
    deeds: deeds.map((row) => ({
      agentId: text(row, 'agent_id'),
      ...(JSON.parse(stateText(row)) as DeedState),
    })),
    agents: await agentsOf(ask),
    heard: await heardOf(ask, event),
    others: await othersOf(ask, event, key),
    notices: await noticesOf(ask, event),
  };
}

/** The ids of events that begin with this, whatever its case. @param limit the first so many */
export async function eventIdsOf(ask: Ask, beginning: string, limit: number): Promise<readonly string[]> {
  const rows = await ask(
    'SELECT event_id FROM seb.event WHERE starts_with(event_id, $1) ORDER BY event_id COLLATE "C" LIMIT $2',
    [toColumn(eventKey(beginning).toWellFormed()), limit],
  );
  return rows.map((row) => text(row, 'event_id'));
}

function tellingFrom(row: Row): TimelineParts['tellings'] {
  const transition = transitionOf(text(row, 'type'));
  if (transition === null) return [];
  const at = Number(row['at_ms']);
  return [{ factId: text(row, 'id'), transition, agentId: text(row, 'agent_id'), at }];
}

async function heardOf(ask: Ask, event: TimelineEvent): Promise<TimelineParts['heard']> {
  const { from, until } = heardBetween(event);
  const rows = await ask(
    `SELECT agent_id, max(at_ms) FILTER (WHERE at_ms <= $1) AS before_ms,
       min(at_ms) FILTER (WHERE at_ms > $1) AS first_ms, max(at_ms) FILTER (WHERE at_ms > $1) AS last_ms
     FROM seb.observation WHERE at_ms BETWEEN $2 AND $3 GROUP BY agent_id`,
    [event.firstSeenAt, from, until],
  );
  return rows.map((row) => ({
    agentId: text(row, 'agent_id'),
    ...{ before: numberOrNull(row['before_ms']), first: numberOrNull(row['first_ms']) },
    last: numberOrNull(row['last_ms']),
  }));
}

const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

async function othersOf(ask: Ask, event: TimelineEvent, key: Uint8Array): Promise<TimelineEvent[]> {
  const { from, until } = othersBetween(event);
  const rows = await ask(
    `SELECT event_id, state FROM seb.event WHERE last_ms >= $1 AND first_ms <= $2 AND seb.key(event_id) <> $3
     ORDER BY first_ms, event_id LIMIT ${othersMax}`,
    [from, until, key],
  );
  return await eventsFrom(ask, rows);
}

// One that is told again and again to many sinks.
const noticesMax = 10_000;

async function noticesOf(ask: Ask, { eventId, firstSeenAt }: TimelineEvent): Promise<NotifiedFact[]> {
  const rows = await ask(
    `SELECT enqueued_ms, body FROM seb.stream JOIN seb.entry ON entry.stream = stream.id
     WHERE name LIKE 'trail/%/journal' AND enqueued_ms >= $1
       AND position(convert_to('"kind":"notified"', 'UTF8') IN body) > 0
       AND position(convert_to($2, 'UTF8') IN body) > 0 ORDER BY name, idx LIMIT ${noticesMax}`,
    [firstSeenAt, correlationOf(eventId)],
  );
  return rows.flatMap((row) => notifiedIn(row['body'] as Uint8Array, Number(row['enqueued_ms'])));
}

/** Reads rows with `event_id` and `state`. */
async function eventsFrom(ask: Ask, rows: readonly Row[]): Promise<TimelineEvent[]> {
  if (rows.length === 0) return [];
  const vms = await vmsOf(
    ask,
    rows.map((row) => keyOf(text(row, 'event_id'))),
  );
  return rows.map((row) => ({
    eventId: text(row, 'event_id'),
    ...summarizeEvent(JSON.parse(stateText(row)) as EventState),
    vms: vms.get(String(row['event_id'])) ?? [],
  }));
}

/** The VMs that events name, by the event's id as it is stored. @param keys of the events */
export async function vmsOf(
  ask: Ask,
  keys: readonly Uint8Array[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await ask(
    `SELECT event_id, vm_key, vm_name FROM seb.event_vm WHERE seb.key(event_id) = ANY($1::bytea[])`,
    [keys],
  );
  const sorted = rows
    .map((row) => [String(row['event_id']), fromColumn(String(row['vm_key'])), row['vm_name']] as const)
    .sort(([, one], [, other]) => byBytes(one, other));
  const vms = new Map<string, string[]>();
  for (const [eventId, , name] of sorted) {
    const known = vms.get(eventId) ?? [];
    vms.set(eventId, known);
    known.push(fromColumn(String(name)));
  }
  return vms;
}

/** By id. */
export async function agentsOf(ask: Ask): Promise<readonly KnownAgent[]> {
  const rows = await ask('SELECT agent_id, state FROM seb.agent ORDER BY agent_id');
  const agents = rows.map((row) =>
    summarizeAgent(text(row, 'agent_id'), JSON.parse(stateText(row)) as AgentState),
  );
  const ends = await ask('SELECT event_id, state FROM seb.event WHERE lower(type) = ANY($1::text[])', [
    finalTypes,
  ]);
  return withEnds(
    agents,
    (await eventsFrom(ask, ends)).flatMap((event) => finalEventOf(event) ?? []),
  );
}
