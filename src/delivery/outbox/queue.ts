// The queue of one sink: what a verdict makes of a delivery, what wakes it, and how it stands.
import type { DatabaseSync } from 'node:sqlite';
import type { Verdict } from '../../core/delivery.ts';
import { statement } from '../../sqlite.ts';
import { readRest, restChangeOf, type SinkRest, suspendedSinks, writeRest } from './rest.ts';
import { putDelivery, readDelivery, type StoredDelivery } from './rows.ts';
import type { Change } from './unwritten.ts';

/** A verdict on a delivery. */
export interface Settlement {
  readonly delivery: StoredDelivery;
  readonly verdict: Verdict;
  /** Whether the sink was asked. */
  readonly attempted: boolean;
}

/** What a verdict makes of the delivery and of its sink. @param now epoch ms */
export function changeOf({ delivery, verdict, attempted }: Settlement, now: number): Change {
  const attempts = delivery.attempts + (attempted ? 1 : 0);
  const reason = 'reason' in verdict ? verdict.reason : null;
  const rest = restChangeOf(verdict, attempted);
  if (verdict.state === 'pending' || verdict.state === 'suspended') {
    // It is the sink that waits: once that is over, whoever ends it, nothing keeps this delivery any longer.
    const dueAt = verdict.state === 'suspended' ? now : verdict.dueAt;
    return { delivery: { ...delivery, attempts, state: 'pending', reason, dueAt }, rest };
  }
  return { delivery: { ...delivery, attempts, state: verdict.state, reason, settledAt: now }, rest };
}

/** Ends a sink's rest and makes its oldest waiting delivery due. @param now epoch ms */
export function wakeSink(database: DatabaseSync, sink: string, now: number): void {
  writeRest(database, sink, 'over');
  const sql = `SELECT * FROM delivery INDEXED BY delivery_queue
    WHERE sink = ? AND state = 'pending' ORDER BY sequence LIMIT 1`;
  const row = statement(database, sql).get(sink);
  if (row !== undefined) putDelivery(database, { ...readDelivery(row), dueAt: now });
}

/**
 * Wakes every suspended sink: a new start may mean a mended configuration. What a receiver asked for holds on.
 * @param now epoch ms
 */
export function wakeSuspendedSinks(database: DatabaseSync, now: number): void {
  for (const sink of suspendedSinks(database)) {
    const rest = readRest(database, sink);
    wakeSink(database, sink, now);
    if (rest === null || rest.pausedUntil <= now) continue;
    writeRest(database, sink, { ...rest, state: 'paused', until: rest.pausedUntil });
  }
}

/** How a sink's queue stands. */
export interface QueueState {
  readonly pending: number;
  readonly dead: number;
  /** Epoch ms of the commit of the oldest record not yet delivered; null when there is none. */
  readonly oldestPendingAt: number | null;
  readonly rest: SinkRest | null;
}

export function queueState(database: DatabaseSync, sink: string): QueueState {
  const counts = statement(
    database,
    `SELECT COUNT(*) FILTER (WHERE state = 'pending') AS pending, COUNT(*) FILTER (WHERE state = 'dead') AS dead
     FROM delivery INDEXED BY delivery_queue WHERE sink = ? AND state IN ('pending', 'dead')`,
  ).get(sink);
  const oldest = statement(
    database,
    `SELECT committed_at AS at FROM delivery INDEXED BY delivery_queue JOIN record USING (sequence)
     WHERE sink = ? AND state = 'pending' ORDER BY sequence LIMIT 1`,
  ).get(sink);
  return {
    pending: Number(counts?.['pending'] ?? 0),
    dead: Number(counts?.['dead'] ?? 0),
    oldestPendingAt: oldest?.['at'] == null ? null : Number(oldest['at']),
    rest: readRest(database, sink),
  };
}

/** What waits for a sink that is no longer configured would wait for ever: it dies, and a person may retry it. */
export function retireRemovedSinks(database: DatabaseSync, configured: readonly string[], now: number): void {
  const names = JSON.stringify(configured);
  const sql = `SELECT * FROM delivery WHERE state = 'pending' AND sink NOT IN (SELECT value FROM json_each(?))`;
  for (const row of database.prepare(sql).all(names)) {
    putDelivery(database, { ...readDelivery(row), state: 'dead', reason: 'sink-removed', settledAt: now });
  }
  database.prepare('DELETE FROM sink WHERE name NOT IN (SELECT value FROM json_each(?))').run(names);
}

/** Which of these sinks do not have every record about an event yet. */
export function sinksWithout(
  database: DatabaseSync,
  eventPart: string,
  sinks: readonly string[],
): readonly string[] {
  // The character after the underscore ends the range: every id of this event lies in it.
  const sql = `SELECT DISTINCT sink FROM record CROSS JOIN delivery ON delivery.sequence = record.sequence
    WHERE record.id > ? AND record.id < ? AND family = 'event' AND state NOT IN ('delivered', 'superseded', 'discarded')`;
  const rows = statement(database, sql).all(`${eventPart}_`, `${eventPart}\``);
  return rows.map(({ sink }) => String(sink)).filter((sink) => sinks.includes(sink));
}
