// What the loop of a sink should do now: attempt what is due, write down what needs no attempt, or wait.
import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryPolicy, Verdict } from '../../core/delivery.ts';
import { credibleDueAt, expiresAt } from '../../core/delivery-time.ts';
import { eventPartOf } from '../../core/record.ts';
import { statement } from '../../sqlite.ts';
import { isResting, type SinkRest } from './rest.ts';
import { readDelivery, readRecord, type StoredDelivery, type StoredRecord } from './rows.ts';
import type { Unwritten } from './unwritten.ts';

/** What the queue of one sink goes by. */
export interface QueueRules {
  readonly policy: DeliveryPolicy;
  /** How many records, and bytes of all of them, one attempt may carry; one record unless given. */
  readonly batchMax?: { readonly records: number; readonly bytes: number };
  /** The least ms from one attempt to the next; 0 unless given. */
  readonly spacingMs?: number;
}

/** A delivery with what is to be delivered. */
export interface DueDelivery {
  readonly delivery: StoredDelivery;
  readonly record: StoredRecord;
}

/** A delivery that comes to its end without an attempt. */
export interface Foregone {
  readonly delivery: StoredDelivery;
  readonly verdict: Verdict;
  /** Epoch ms; null when the record cannot be read any more. */
  readonly committedAt: number | null;
}

/** What the loop of a sink should do now. */
export type Next =
  /** At least one, in order: one attempt for all of them. */
  | {
      readonly status: 'due';
      readonly due: readonly DueDelivery[];
      /** It goes before what is older, and past everything but a pause. */
      readonly urgent: boolean;
      /** The sink is suspended: this is to find out whether it still is at fault. */
      readonly probe: boolean;
    }
  /** At least one: to be written down. */
  | { readonly status: 'foregone'; readonly foregone: readonly Foregone[] }
  /** Epoch ms when something falls due or becomes too old; null when the queue is empty. */
  | { readonly status: 'wait'; readonly until: number | null };

/** Everything a decision about a queue is made from. */
interface View {
  readonly database: DatabaseSync;
  readonly sink: string;
  readonly rules: QueueRules;
  readonly rest: SinkRest | null;
  readonly now: number;
  readonly unwritten: Unwritten;
}

// So many at once end without an attempt: a long queue that is too old must not hold up the other loops.
const foregoneMax = 100;

// While a sink works, an urgent record waits for so many before it, which keeps their order and costs next to nothing.
const beforeUrgentMax = 10;
// However few they are: a sink that works may still be slow.
const beforeUrgentMsMax = 2_000;

/**
 * What is next at a sink: the oldest delivery, for each sink gets its records in order. A record of short notice
 * that was never tried does not wait behind trouble or a long queue, nor for anything but a pause that the receiver
 * asked for.
 * @param now epoch ms
 */
export function nextAt(
  database: DatabaseSync,
  sink: string,
  rules: QueueRules,
  { now, unwritten }: { readonly now: number; readonly unwritten: Unwritten },
): Next {
  const rest = unwritten.restOf(database, sink);
  const view = { database, sink, rules, rest, now, unwritten };
  const isPaused = rest !== null && credibleDueAt(rest.pausedUntil, rest.pausedUntil, now) > now;
  const urgent = isPaused ? null : first(urgentDeliveries(view));
  if (urgent === null || !goesFirst(view, urgent)) return headOf(view);
  const ready = prepared(view, urgent);
  return 'verdict' in ready ? foregone([ready]) : { status: 'due', due: [ready], urgent: true, probe: false };
}

function goesFirst(view: View, { sequence, queuedAt }: StoredDelivery): boolean {
  const { rest, rules, now } = view;
  if (rest !== null || (rules.spacingMs ?? 0) > 0 || now - queuedAt > beforeUrgentMsMax) return true;
  let before = 0;
  for (const delivery of pendingDeliveries(view)) {
    if (delivery.sequence >= sequence) return before === 0;
    before += 1;
    if (before > beforeUrgentMax || delivery.attempts > 0) return true;
  }
  return true;
}

function headOf(view: View): Next {
  const head = first(pendingDeliveries(view));
  if (head === null) return { status: 'wait', until: null };
  if (isDue(view, head) || isExpired(view, head)) {
    const old = foregoneFrom(view);
    if (old.length > 0) return foregone(old);
    const probe = view.rest?.state === 'suspended';
    return { status: 'due', due: batchFrom(view), urgent: false, probe };
  }
  return { status: 'wait', until: Math.min(dueAtOf(view, head), expiryOf(view, head)) };
}

const foregone = (found: readonly Foregone[]): Next => ({ status: 'foregone', foregone: found });

/** The head and those behind it that need no attempt, up to the first that does or is not due. */
function foregoneFrom(view: View): Foregone[] {
  const found: Foregone[] = [];
  for (const delivery of pendingDeliveries(view)) {
    if (found.length >= foregoneMax || !(isDue(view, delivery) || isExpired(view, delivery))) break;
    const ready = prepared(view, delivery);
    if (!('verdict' in ready)) break;
    found.push(ready);
  }
  return found;
}

/** The head, and what one attempt can carry of those behind it. A suspended sink is probed with one record. */
function batchFrom(view: View): DueDelivery[] {
  const most =
    view.rest === null ? (view.rules.batchMax ?? { records: 1, bytes: 0 }) : { records: 1, bytes: 0 };
  const batch: DueDelivery[] = [];
  let bytes = 0;
  for (const delivery of pendingDeliveries(view)) {
    if (batch.length >= most.records || !isDue(view, delivery)) break;
    const ready = prepared(view, delivery);
    if ('verdict' in ready) break;
    bytes += ready.record.body.length;
    if (batch.length > 0 && bytes > most.bytes) break;
    batch.push(ready);
  }
  return batch;
}

/** The delivery with its record, or why it needs no attempt. */
function prepared(view: View, delivery: StoredDelivery): DueDelivery | Foregone {
  const record = recordOf(view, delivery);
  const dead = (reason: 'damaged' | 'expired'): Foregone => {
    return { delivery, verdict: { state: 'dead', reason }, committedAt: record?.committedAt ?? null };
  };
  if (record === null) return dead('damaged');
  if (isExpired(view, delivery)) return dead('expired');
  if (view.rules.policy.supersedes && isOvertaken(view, delivery, record)) {
    return { delivery, verdict: { state: 'superseded' }, committedAt: record.committedAt };
  }
  return { delivery, record };
}

/** Null when it cannot be read any more. */
function recordOf({ database }: View, { sequence }: StoredDelivery): StoredRecord | null {
  const row = statement(database, 'SELECT * FROM record WHERE sequence = ?').get(sequence);
  return row === undefined ? null : readRecord(row);
}

/** Whether the sink was told more of the same event since this was queued, or is about to be. */
function isOvertaken(
  view: View,
  { queuedAt }: StoredDelivery,
  { family, id, sequence }: StoredRecord,
): boolean {
  const { database, sink, unwritten } = view;
  const event = eventPartOf(id);
  // A wave of the fleet has a life as an event has one: its records say all that those before them said.
  if ((family !== 'event' && family !== 'fleet') || event === '') return false;
  // The character after the underscore ends the range: every id of this event lies in it.
  const sql = `SELECT delivery.* FROM record CROSS JOIN delivery ON delivery.sequence = record.sequence
    WHERE record.id > ? AND record.id < ? AND record.sequence > ? AND family = ?
      AND delivery.sink = ? AND delivery.state IN ('pending', 'delivered')`;
  const rows = statement(database, sql).iterate(`${event}_`, `${event}\``, sequence, family, sink);
  for (const row of rows) {
    const newer = unwritten.latest(readDelivery(row));
    // What a person asked for again after the newer one was said is wanted all the same.
    if (newer.state === 'delivered' && (newer.settledAt ?? 0) >= queuedAt) return true;
    if (newer.state === 'pending' && recordOf(view, newer) !== null) return true;
  }
  return false;
}

/** Epoch ms. One that was never tried waits only while its sink rests. */
function dueAtOf({ rest, now }: View, delivery: StoredDelivery): number {
  const { until = 0, pausedUntil = 0 } = rest ?? {};
  const own = delivery.attempts === 0 ? 0 : credibleDueAt(delivery.dueAt, pausedUntil, now);
  return Math.max(own, credibleDueAt(until, pausedUntil, now));
}

const isDue = (view: View, delivery: StoredDelivery): boolean => dueAtOf(view, delivery) <= view.now;

const expiryOf = ({ rest, now, rules }: View, delivery: StoredDelivery): number =>
  expiresAt({ ...delivery, resting: isResting(rest, now) }, rules.policy);

const isExpired = (view: View, delivery: StoredDelivery): boolean => expiryOf(view, delivery) <= view.now;

function* pendingDeliveries({ database, sink, unwritten }: View): Generator<StoredDelivery> {
  // Told which index: by the primary key it would step over all that was delivered before.
  const sql = `SELECT * FROM delivery INDEXED BY delivery_queue
    WHERE sink = ? AND state = 'pending' ORDER BY sequence`;
  for (const row of statement(database, sql).iterate(sink)) {
    const delivery = unwritten.latest(readDelivery(row));
    if (delivery.state === 'pending') yield delivery;
  }
}

function* urgentDeliveries({ database, sink, unwritten }: View): Generator<StoredDelivery> {
  // From the few urgent records to their deliveries: a long queue is not searched for what goes before it.
  const sql = `SELECT delivery.* FROM record CROSS JOIN delivery ON delivery.sequence = record.sequence
    WHERE urgent = 1 AND sink = ? AND state = 'pending' AND attempts = 0 ORDER BY record.sequence`;
  for (const row of statement(database, sql).iterate(sink)) {
    const delivery = unwritten.latest(readDelivery(row));
    if (delivery.state === 'pending' && delivery.attempts === 0) yield delivery;
  }
}

function first<Value>(values: Iterable<Value>): Value | null {
  for (const value of values) return value;
  return null;
}
