// Sets a damaged outbox aside with its bytes kept, and saves from a copy of it what can still be read.
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { AgentStamp, BridgeRecord } from '../../core/record.ts';
import { statement, transaction } from '../../sqlite.ts';
import {
  insertRecord,
  putDelivery,
  putMeta,
  readDelivery,
  readMeta,
  readOldDelivery,
  readRecord,
  type StoredDelivery,
  type StoredRecord,
} from './rows.ts';
import { takeOverMemo } from './sink-memory.ts';

/**
 * Moves the file and its side files out of the way.
 * @param now epoch ms, for the new name
 * @returns the new path; null when the directory does not allow it
 */
export function setAside(path: string, now: number): string | null {
  const stamp = new Date(now).toISOString().replace(/[-:]/g, '').replace('.', '-');
  const aside = `${path}.damaged-${stamp}`;
  try {
    for (const side of ['', '-wal', '-shm']) {
      if (existsSync(path + side)) renameSync(path + side, aside + side);
    }
    return aside;
  } catch {
    return null;
  }
}

/** What was saved. */
export interface Salvaged {
  readonly records: number;
  readonly deliveries: number;
  readonly meta: number;
}

/**
 * Takes over from the damaged file what still has a fitting checksum: who the agent is, how far it counted, what it
 * last saw, what it did about events, and every record with a delivery that is not made yet.
 * @param aside the damaged file; it is read through a copy, because opening it would change its bytes
 */
export function salvage(aside: string, into: DatabaseSync): Salvaged {
  const copy = `${aside}.copy`;
  try {
    for (const side of ['', '-wal']) if (existsSync(aside + side)) copyFileSync(aside + side, copy + side);
    const from = new DatabaseSync(copy);
    try {
      return transaction(into, () => transfer(from, into));
    } finally {
      from.close();
    }
  } catch {
    return { records: 0, deliveries: 0, meta: 0 };
  } finally {
    for (const side of ['', '-wal', '-shm']) rmSync(copy + side, { force: true });
  }
}

function transfer(from: DatabaseSync, into: DatabaseSync): Salvaged {
  const records = new Map<number, StoredRecord>();
  for (const row of readable(from, 'record', 'sequence')) {
    const record = readRecord(row);
    if (record !== null) records.set(record.sequence, record);
  }
  const meta = salvageMeta(from, into) + salvageIdentity([...records.values()], into);
  const waiting = deliveriesOf(from, records).filter(
    ({ state, sequence }) => !['delivered', 'superseded'].includes(state) && records.has(sequence),
  );
  for (const sequence of new Set(waiting.map((delivery) => delivery.sequence))) {
    const record = records.get(sequence);
    if (record !== undefined) insertRecord(into, record);
  }
  for (const delivery of waiting) putDelivery(into, delivery);
  for (const row of readable(from, 'said', 'id')) salvageSaid(row, into);
  for (const row of readable(from, 'memory', 'sink, key')) takeOverMemo(into, row);
  return { records: new Set(waiting.map(({ sequence }) => sequence)).size, deliveries: waiting.length, meta };
}

function deliveriesOf(from: DatabaseSync, records: ReadonlyMap<number, StoredRecord>): StoredDelivery[] {
  return readable(from, 'delivery', 'sink, sequence').map((row) => {
    if (row['queued_at'] !== undefined) return readDelivery(row);
    return readOldDelivery({ ...row, committed_at: records.get(Number(row['sequence']))?.committedAt });
  });
}

function salvageMeta(from: DatabaseSync, into: DatabaseSync): number {
  let saved = 0;
  for (const key of ['instanceId', 'sequence', 'watch', 'observer', 'vmId', ...deedKeys(from)]) {
    const value = attempt(() => readMeta(from, key));
    if (value === undefined || value === null || value === 'damaged') continue;
    putMeta(into, key, value);
    saved += 1;
  }
  return saved;
}

/** What was done about events: without it a hook would be begun twice, and a recover be lost. */
function deedKeys(from: DatabaseSync): readonly string[] {
  const keys = readable(from, 'meta', 'key').map(({ key }) => String(key));
  return keys.filter((key) => key.startsWith('deed/'));
}

/** When the agent's own name or count is lost, its newest record still says both. */
function salvageIdentity(records: readonly StoredRecord[], into: DatabaseSync): number {
  const newest = records.reduce<StoredRecord | null>(
    (best, record) => (best === null || record.sequence > best.sequence ? record : best),
    null,
  );
  const known = readMeta(into, 'instanceId') !== null && readMeta(into, 'sequence') !== null;
  if (known || newest === null) return 0;
  const { data } = JSON.parse(newest.body.toString('utf8')) as BridgeRecord<{ agent: AgentStamp }>;
  putMeta(into, 'instanceId', data.agent.instanceId);
  putMeta(into, 'sequence', String(data.agent.sequence));
  return 2;
}

function salvageSaid(row: Readonly<Record<string, unknown>>, into: DatabaseSync): void {
  const { id, count, said_at } = row;
  if (typeof id !== 'string' || typeof count !== 'number' || typeof said_at !== 'number') return;
  statement(into, 'INSERT OR REPLACE INTO said VALUES (?, ?, ?)').run(id, count, said_at);
}

type Row = Readonly<Record<string, unknown>>;

/** The rows up to the first bad page, from either end of the table. */
function readable(database: DatabaseSync, table: string, key: string): Row[] {
  const rows = new Map<string, Row>();
  for (const order of ['ASC', 'DESC']) {
    const by = key
      .split(', ')
      .map((column) => `${column} ${order}`)
      .join(', ');
    attempt(() => {
      for (const row of database.prepare(`SELECT * FROM ${table} ORDER BY ${by}`).iterate()) {
        rows.set(JSON.stringify(key.split(', ').map((column) => row[column])), row);
      }
    });
  }
  return [...rows.values()];
}

function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
