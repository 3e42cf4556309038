// An outbox file as version 1 of the schema had it, written by its own SQL.
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { StoredDelivery } from '../../src/delivery/outbox/rows.ts';

const schema = `
CREATE TABLE meta (
  key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE record (
  sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, family TEXT NOT NULL, urgent INTEGER NOT NULL,
  committed_at INTEGER NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE delivery (
  sink TEXT NOT NULL, sequence INTEGER NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL, reason TEXT, settled_at INTEGER, checksum INTEGER NOT NULL,
  PRIMARY KEY (sink, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_state ON delivery (state, settled_at);
CREATE INDEX delivery_queue ON delivery (sink, state, sequence);
CREATE INDEX delivery_record ON delivery (sequence);
CREATE TABLE sink (
  name TEXT PRIMARY KEY, state TEXT NOT NULL, until INTEGER NOT NULL, reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE said (
  id TEXT PRIMARY KEY, count INTEGER NOT NULL, said_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 1;
`;

export interface Version1Outbox extends Disposable {
  readonly database: DatabaseSync;
  /** A record with an empty event, committed at the epoch ms given. */
  record(sequence: number, committedAt: number): void;
  delivery(row: Omit<StoredDelivery, 'queuedAt'>): void;
  meta(key: string, value: string): void;
}

/** Makes the file; it is whole once it is disposed of. */
export function version1Outbox(path: string): Version1Outbox {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec(schema);
  return {
    database,
    record(sequence, committedAt) {
      const id = `event-${sequence}_started`;
      const agent = { version: '0', instanceId: 'version-1', sequence };
      const padded = String(sequence).padStart(20, '0');
      const body = Buffer.from(JSON.stringify({ id, sequence: padded, data: { agent } }));
      const checksum = crc32(body, crc32(`${sequence}|${id}|event|false|${committedAt}`));
      const sql = `INSERT INTO record VALUES (?, ?, 'event', 0, ?, ?, ?)`;
      database.prepare(sql).run(sequence, id, committedAt, body, checksum);
    },
    delivery({ sink, sequence, state, attempts, dueAt, reason, settledAt }) {
      const row = [sink, sequence, state, attempts, dueAt, reason, settledAt];
      const sql = 'INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
      database.prepare(sql).run(...row, crc32(row.join('|')));
    },
    meta(key, value) {
      database.prepare('INSERT INTO meta VALUES (?, ?, ?)').run(key, value, crc32(`${key}|${value}`));
    },
    [Symbol.dispose]: () => database.close(),
  };
}
