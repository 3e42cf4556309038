// The rows of the outbox, each with a checksum over everything it says.
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { statement } from '../../sqlite.ts';
import type { Notes } from './draft.ts';

/** A record as it lies in the outbox. */
export interface StoredRecord {
  readonly sequence: number;
  readonly id: string;
  readonly family: string;
  readonly urgent: boolean;
  /** Epoch ms. */
  readonly committedAt: number;
  readonly body: Buffer;
}

/** A record's way to one sink, as it lies in the outbox. */
export interface StoredDelivery {
  readonly sink: string;
  readonly sequence: number;
  /** `discarded`: a person decided that it need not be made. `superseded`: a newer one says all that it would. */
  readonly state: 'pending' | 'delivered' | 'dead' | 'discarded' | 'superseded';
  readonly attempts: number;
  /** Epoch ms. */
  readonly dueAt: number;
  readonly reason: string | null;
  readonly settledAt: number | null;
  /** Epoch ms from which its age counts: the commit of its record, or when a person asked for it again. */
  readonly queuedAt: number;
}

type Row = Readonly<Record<string, unknown>>;

/** Reads a record row; null when its checksum does not fit. */
export function readRecord(row: Row): StoredRecord | null {
  const record = {
    sequence: Number(row['sequence']),
    id: String(row['id']),
    family: String(row['family']),
    urgent: row['urgent'] === 1,
    committedAt: Number(row['committed_at']),
    body: Buffer.from(row['body'] as Uint8Array),
  };
  return recordChecksum(record) === row['checksum'] ? record : null;
}

export function insertRecord(database: DatabaseSync, record: StoredRecord): void {
  const { sequence, id, family, urgent, committedAt, body } = record;
  statement(database, 'INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)').run(
    sequence,
    id,
    family,
    urgent ? 1 : 0,
    committedAt,
    body,
    recordChecksum(record),
  );
}

/** Reads a delivery row; one whose checksum does not fit is given as pending again: twice is better than never. */
export function readDelivery(row: Row): StoredDelivery {
  const delivery = deliveryOf(row, Number(row['queued_at']));
  return deliveryChecksum(delivery) === row['checksum'] ? delivery : asIfNew(delivery);
}

/** Reads a row of version 1, which had no `queued_at`, joined with the `committed_at` of its record. */
export function readOldDelivery(row: Row): StoredDelivery {
  const delivery = deliveryOf(row, Number(row['committed_at'] ?? row['due_at']));
  return crc32(saidBy(delivery)) === row['checksum'] ? delivery : asIfNew(delivery);
}

const deliveryOf = (row: Row, queuedAt: number): StoredDelivery => ({
  sink: String(row['sink']),
  sequence: Number(row['sequence']),
  state: String(row['state']) as StoredDelivery['state'],
  attempts: Number(row['attempts']),
  dueAt: Number(row['due_at']),
  reason: row['reason'] === null ? null : String(row['reason']),
  settledAt: row['settled_at'] === null ? null : Number(row['settled_at']),
  queuedAt,
});

const asIfNew = (delivery: StoredDelivery): StoredDelivery => ({
  ...delivery,
  ...{ state: 'pending', attempts: 0, dueAt: 0, reason: null, settledAt: null },
});

export function putDelivery(database: DatabaseSync, delivery: StoredDelivery): void {
  const { sink, sequence, state, attempts, dueAt, reason, settledAt, queuedAt } = delivery;
  const sql = `INSERT OR REPLACE INTO delivery
    (sink, sequence, state, attempts, due_at, reason, settled_at, queued_at, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const checksum = deliveryChecksum(delivery);
  statement(database, sql).run(
    ...[sink, sequence, state, attempts, dueAt, reason, settledAt, queuedAt, checksum],
  );
}

/** A value kept under a key; `damaged` when its checksum does not fit, null when there is none. */
export function readMeta(database: DatabaseSync, key: string): string | 'damaged' | null {
  const row = statement(database, 'SELECT value, checksum FROM meta WHERE key = ?').get(key);
  if (row === undefined) return null;
  return metaChecksum(key, String(row['value'])) === row['checksum'] ? String(row['value']) : 'damaged';
}

export function putMeta(database: DatabaseSync, key: string, value: string): void {
  statement(database, 'INSERT OR REPLACE INTO meta VALUES (?, ?, ?)').run(
    key,
    value,
    metaChecksum(key, value),
  );
}

/** Keeps what is noted under each key, and forgets what is null. */
export function putNotes(database: DatabaseSync, notes: Notes): void {
  for (const [key, value] of Object.entries(notes)) {
    if (value === null) statement(database, 'DELETE FROM meta WHERE key = ?').run(key);
    else putMeta(database, key, value);
  }
}

/** What is kept under keys that begin with `prefix`, sorted by key; what is damaged is left out. */
export function listMeta(database: DatabaseSync, prefix: string): ReadonlyMap<string, string> {
  const sql = 'SELECT key, value, checksum FROM meta WHERE substr(key, 1, ?) = ? ORDER BY key';
  const rows = statement(database, sql).all(prefix.length, prefix);
  const read = rows.map((row) => [String(row['key']), String(row['value']), row['checksum']] as const);
  const whole = read.filter(([key, value, checksum]) => metaChecksum(key, value) === checksum);
  return new Map(whole.map(([key, value]) => [key, value]));
}

const metaChecksum = (key: string, value: string): number => crc32(`${key}|${value}`);

const recordChecksum = ({ sequence, id, family, urgent, committedAt, body }: StoredRecord): number =>
  crc32(body, crc32([sequence, id, family, urgent, committedAt].join('|')));

const deliveryChecksum = (delivery: StoredDelivery): number =>
  crc32(`${saidBy(delivery)}|${delivery.queuedAt}`);

const saidBy = ({ sink, sequence, state, attempts, dueAt, reason, settledAt }: StoredDelivery): string =>
  [sink, sequence, state, attempts, dueAt, reason, settledAt].join('|');
