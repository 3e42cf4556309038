// The queue of one sink: which delivery is next, and what a verdict makes of it.
import type { DatabaseSync } from 'node:sqlite';
import type { Verdict } from '../../core/delivery.ts';
import { statement } from '../../sqlite.ts';
import { putDelivery, readDelivery, readRecord, type StoredDelivery, type StoredRecord } from './rows.ts';

/** What a sink's loop should do now. */
export type Next =
  | { readonly status: 'delivery'; readonly delivery: StoredDelivery; readonly record: StoredRecord }
  /** Its record cannot be read any more: nothing can be sent. */
  | { readonly status: 'damaged'; readonly delivery: StoredDelivery }
  /** Epoch ms when something falls due; null when the queue is empty. */
  | { readonly status: 'wait'; readonly until: number | null };

/** The state of a sink as a whole. No row means that it is active. */
export interface SinkRest {
  readonly state: 'paused' | 'suspended';
  /** Epoch ms: the end of the pause, or the next probe. */
  readonly until: number;
  readonly reason: string;
}

/** Deliveries as they are by verdicts that could not be written yet. */
export type Unwritten = (sink: string, sequence: number) => StoredDelivery | undefined;

/**
 * The delivery that is due: the oldest, for each sink gets its records in order. While the sink rests or its head
 * backs off, a record of short notice that was never tried goes first.
 */
export function nextDelivery(database: DatabaseSync, sink: string, now: number, unwritten: Unwritten): Next {
  const head = firstPending(database, sink, unwritten);
  if (head === null) return { status: 'wait', until: null };
  const dueAt = Math.max(head.dueAt, restOf(database, sink)?.until ?? 0);
  if (dueAt <= now) return withRecord(database, head);
  const urgent = firstUrgent(database, sink, unwritten);
  return urgent === null ? { status: 'wait', until: dueAt } : withRecord(database, urgent);
}

function firstPending(database: DatabaseSync, sink: string, unwritten: Unwritten): StoredDelivery | null {
  const sql = `SELECT * FROM delivery WHERE sink = ? AND state = 'pending' ORDER BY sequence`;
  return first(statement(database, sql).iterate(sink), unwritten, () => true);
}

function firstUrgent(database: DatabaseSync, sink: string, unwritten: Unwritten): StoredDelivery | null {
  const sql = `SELECT delivery.* FROM delivery JOIN record USING (sequence)
    WHERE sink = ? AND state = 'pending' AND attempts = 0 AND urgent = 1 ORDER BY sequence`;
  return first(statement(database, sql).iterate(sink), unwritten, ({ attempts }) => attempts === 0);
}

function first(
  rows: Iterable<Readonly<Record<string, unknown>>>,
  unwritten: Unwritten,
  wanted: (delivery: StoredDelivery) => boolean,
): StoredDelivery | null {
  for (const row of rows) {
    const stored = readDelivery(row);
    const delivery = unwritten(stored.sink, stored.sequence) ?? stored;
    if (delivery.state === 'pending' && wanted(delivery)) return delivery;
  }
  return null;
}

function withRecord(database: DatabaseSync, delivery: StoredDelivery): Next {
  const row = statement(database, 'SELECT * FROM record WHERE sequence = ?').get(delivery.sequence);
  const record = row === undefined ? null : readRecord(row);
  return record === null ? { status: 'damaged', delivery } : { status: 'delivery', delivery, record };
}

/** Whether and how long the sink as a whole rests. */
export function restOf(database: DatabaseSync, sink: string): SinkRest | null {
  const row = statement(database, 'SELECT * FROM sink WHERE name = ?').get(sink);
  if (row === undefined) return null;
  return {
    state: row['state'] as SinkRest['state'],
    until: Number(row['until']),
    reason: String(row['reason']),
  };
}

/** What the verdict makes of the delivery. @param now epoch ms */
export function settled(delivery: StoredDelivery, verdict: Verdict, now: number): StoredDelivery {
  const attempts = delivery.attempts + 1;
  if (verdict.state === 'delivered') {
    return { ...delivery, attempts, state: 'delivered', reason: null, settledAt: now };
  }
  if (verdict.state === 'superseded') {
    return { ...delivery, state: 'superseded', reason: null, settledAt: now };
  }
  const reason = verdict.reason;
  if (verdict.state === 'dead') return { ...delivery, attempts, state: 'dead', reason, settledAt: now };
  return { ...delivery, attempts, state: 'pending', reason, dueAt: verdict.dueAt };
}

/** Writes down a settled delivery, and what its verdict means for the sink as a whole. */
export function writeSettled(database: DatabaseSync, delivery: StoredDelivery, verdict: Verdict): void {
  putDelivery(database, delivery);
  if (verdict.state === 'suspended') {
    putRest(database, delivery.sink, { state: 'suspended', until: verdict.dueAt, reason: verdict.reason });
  } else if (verdict.state === 'pending' && verdict.pauseUntil !== undefined) {
    putRest(database, delivery.sink, { state: 'paused', until: verdict.pauseUntil, reason: verdict.reason });
  } else if (verdict.state !== 'pending') {
    // An answer about the record is proof that the sink itself works.
    wakeSink(database, delivery.sink);
  }
}

/** Ends a sink's rest. */
export function wakeSink(database: DatabaseSync, sink: string): void {
  statement(database, 'DELETE FROM sink WHERE name = ?').run(sink);
}

/** Ends a sink's rest and makes its oldest waiting delivery due. @param now epoch ms */
export function wakeHead(database: DatabaseSync, sink: string, now: number): void {
  wakeSink(database, sink);
  const head = firstPending(database, sink, () => undefined);
  if (head !== null && head.dueAt > now) putDelivery(database, { ...head, dueAt: now });
}

function putRest(database: DatabaseSync, sink: string, { state, until, reason }: SinkRest): void {
  statement(database, 'INSERT OR REPLACE INTO sink VALUES (?, ?, ?, ?)').run(sink, state, until, reason);
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
     FROM delivery WHERE sink = ? AND state IN ('pending', 'dead')`,
  ).get(sink);
  const oldest = statement(
    database,
    `SELECT MIN(committed_at) AS at FROM delivery JOIN record USING (sequence)
     WHERE sink = ? AND state = 'pending'`,
  ).get(sink);
  return {
    pending: Number(counts?.['pending'] ?? 0),
    dead: Number(counts?.['dead'] ?? 0),
    oldestPendingAt: oldest?.['at'] == null ? null : Number(oldest['at']),
    rest: restOf(database, sink),
  };
}

/** What waits for a sink that is no longer configured would wait for ever: it dies, and a person may retry it. */
export function retireRemovedSinks(database: DatabaseSync, configured: readonly string[], now: number): void {
  const sql = `SELECT * FROM delivery WHERE state = 'pending' AND sink NOT IN (SELECT value FROM json_each(?))`;
  for (const row of database.prepare(sql).all(JSON.stringify(configured))) {
    putDelivery(database, { ...readDelivery(row), state: 'dead', reason: 'sink-removed', settledAt: now });
  }
}

/** Wakes every sink: a new start may mean a mended configuration. */
export function wakeAllSinks(database: DatabaseSync): void {
  database.exec('DELETE FROM sink');
}
