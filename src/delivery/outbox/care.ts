// Looks after the queue from outside the agent: what waits, what died, try again, let go.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { BridgeRecord } from '../../core/record.ts';
import { isThere } from '../../directories.ts';
import { statement, transaction } from '../../sqlite.ts';
import { outboxFile } from './outbox.ts';
import { wakeSink } from './queue.ts';
import { readRest } from './rest.ts';
import { putDelivery, readDelivery, readRecord, type StoredDelivery } from './rows.ts';
import { schemaVersion, UnknownSchema, versionOf } from './schema.ts';

/** How a delivery looks to a person: `suspended` is a pending one whose sink is suspended. */
export type CareState = 'pending' | 'suspended' | 'dead' | 'delivered' | 'discarded' | 'superseded';

/** One delivery, as `seb outbox list` shows it. Times are epoch ms. */
export interface CareRow {
  readonly id: string;
  readonly sequence: number;
  readonly sink: string;
  readonly state: CareState;
  readonly attempts: number;
  /** Null once it is settled. */
  readonly dueAt: number | null;
  readonly committedAt: number;
  readonly reason: string | null;
}

/** Which deliveries are meant: all that fit every given part. */
export interface CareSelection {
  readonly ids?: readonly string[];
  readonly sink?: string;
  readonly states?: readonly CareState[];
  /** Only those whose record was committed before, epoch ms. */
  readonly committedBefore?: number;
}

/**
 * Opens the outbox of an agent, which may be running: SQLite keeps the two apart.
 * @param directory the agent's `stateDir`
 * @returns null when there is none; nothing is created
 * @throws UnknownSchema for the file of another version of the agent, which may be running with it; what Node says
 *   when this user may not look into the directory
 */
export function openOutboxForCare(directory: string): DatabaseSync | null {
  const path = join(directory, outboxFile);
  if (!isThere(path)) return null;
  const database = new DatabaseSync(path, { timeout: 5_000 });
  try {
    if (versionOf(database) !== schemaVersion) throw new UnknownSchema();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The deliveries that fit, oldest first. */
export function listDeliveries(database: DatabaseSync, selection: CareSelection): CareRow[] {
  return select(database, selection).map(({ row }) => row);
}

/** A record with all its deliveries; null when no record has this id. */
export function showRecord(
  database: DatabaseSync,
  id: string,
): { readonly record: BridgeRecord | null; readonly deliveries: readonly CareRow[] } | null {
  const row = statement(database, 'SELECT * FROM record WHERE id = ? ORDER BY sequence DESC').get(id);
  if (row === undefined) return null;
  const stored = readRecord(row);
  const record = stored === null ? null : (JSON.parse(stored.body.toString('utf8')) as BridgeRecord);
  return { record, deliveries: listDeliveries(database, { ids: [id] }) };
}

/**
 * Makes deliveries due at once, dead ones too, and wakes their sinks. Delivered ones stay delivered.
 * @param now epoch ms
 * @returns those that will be tried, as they stand now
 */
export function retryDeliveries(database: DatabaseSync, selection: CareSelection, now: number): CareRow[] {
  return transaction(database, () => {
    const chosen = openDeliveries(database, selection);
    const anew = { attempts: 0, dueAt: now, settledAt: null, reason: null, queuedAt: now };
    for (const { delivery } of chosen) putDelivery(database, { ...delivery, ...anew, state: 'pending' });
    for (const sink of new Set(chosen.map(({ delivery }) => delivery.sink))) wakeSink(database, sink, now);
    return chosen.map(({ row }) => ({ ...row, state: 'pending', attempts: 0, dueAt: now, reason: null }));
  });
}

/**
 * Lets deliveries go that were not made. Their records stay for as long as settled ones do.
 * @param now epoch ms
 * @returns those that were let go, as they stand now
 */
export function discardDeliveries(database: DatabaseSync, selection: CareSelection, now: number): CareRow[] {
  return transaction(database, () =>
    openDeliveries(database, selection).map(({ delivery, row }) => {
      putDelivery(database, { ...delivery, state: 'discarded', reason: 'discarded', settledAt: now });
      return { ...row, state: 'discarded', dueAt: null, reason: 'discarded' };
    }),
  );
}

/** Of what fits, the deliveries that are not made and not let go. */
function openDeliveries(database: DatabaseSync, selection: CareSelection): Chosen[] {
  return select(database, selection).filter(
    ({ row }) => !['delivered', 'superseded', 'discarded'].includes(row.state),
  );
}

interface Chosen {
  readonly delivery: StoredDelivery;
  readonly row: CareRow;
}

function select(database: DatabaseSync, { ids, sink, states, committedBefore }: CareSelection): Chosen[] {
  const sql = `SELECT delivery.*, record.id, record.committed_at FROM delivery JOIN record USING (sequence)
    WHERE (?1 IS NULL OR record.id IN (SELECT value FROM json_each(?1))) AND (?2 IS NULL OR sink = ?2)
      AND (?3 IS NULL OR committed_at < ?3) ORDER BY sequence, sink`;
  const wanted = ids === undefined ? null : JSON.stringify(ids);
  const found: Chosen[] = [];
  for (const raw of statement(database, sql).iterate(wanted, sink ?? null, committedBefore ?? null)) {
    const delivery = readDelivery(raw);
    const row = careRow(database, delivery, raw);
    if (states === undefined || states.includes(row.state)) found.push({ delivery, row });
  }
  return found;
}

function careRow(
  database: DatabaseSync,
  delivery: StoredDelivery,
  raw: Readonly<Record<string, unknown>>,
): CareRow {
  const { sequence, sink, attempts } = delivery;
  const rest = delivery.state === 'pending' ? readRest(database, sink) : null;
  return {
    id: String(raw['id']),
    sequence,
    sink,
    attempts,
    state: rest?.state === 'suspended' ? 'suspended' : delivery.state,
    dueAt: delivery.state === 'pending' ? Math.max(delivery.dueAt, rest?.until ?? 0) : null,
    committedAt: Number(raw['committed_at']),
    reason: delivery.reason ?? rest?.reason ?? null,
  };
}
