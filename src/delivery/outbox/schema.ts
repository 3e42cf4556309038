// What is in the outbox file, and how a file of an older version becomes one of this.
import type { DatabaseSync } from 'node:sqlite';
import { transaction } from '../../sqlite.ts';
import { putDelivery, readOldDelivery } from './rows.ts';

/** `PRAGMA user_version` of the files that this program reads and writes. */
export const schemaVersion = 2;

// Every value that matters is in a row with a checksum: SQLite does not notice a flipped bit inside a row.
const tables = `
CREATE TABLE IF NOT EXISTS meta (
  key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS record (
  sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, family TEXT NOT NULL, urgent INTEGER NOT NULL,
  committed_at INTEGER NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS record_id ON record (id);
CREATE INDEX IF NOT EXISTS record_urgent ON record (sequence) WHERE urgent = 1;
CREATE TABLE IF NOT EXISTS delivery (
  sink TEXT NOT NULL, sequence INTEGER NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL, reason TEXT, settled_at INTEGER, checksum INTEGER NOT NULL, queued_at INTEGER NOT NULL,
  PRIMARY KEY (sink, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS delivery_state ON delivery (state, settled_at);
CREATE INDEX IF NOT EXISTS delivery_queue ON delivery (sink, state, sequence);
CREATE INDEX IF NOT EXISTS delivery_record ON delivery (sequence);
CREATE TABLE IF NOT EXISTS sink (
  name TEXT PRIMARY KEY, state TEXT NOT NULL, until INTEGER NOT NULL, reason TEXT NOT NULL,
  paused_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memory (
  sink TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, set_at INTEGER NOT NULL, checksum INTEGER NOT NULL,
  PRIMARY KEY (sink, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS said (
  id TEXT PRIMARY KEY, count INTEGER NOT NULL, said_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** The file was written by a version of the program that this one does not know. */
export class UnknownSchema extends Error {}

/** Which version of the schema a file has; 0 for one that is empty. */
export const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare('PRAGMA user_version').get()?.['user_version']);

/**
 * Makes what is missing in the file; one of version 1 becomes one of version 2, whole or not at all.
 * @throws UnknownSchema
 */
export function bringUpToDate(database: DatabaseSync): void {
  const version = versionOf(database);
  if (version > schemaVersion) throw new UnknownSchema();
  if (version === schemaVersion) return;
  transaction(database, () => {
    if (version === 1) fromVersion1(database);
    database.exec(tables);
    database.exec(`PRAGMA user_version = ${schemaVersion}`);
  });
}

/** Version 1 counted the age of a delivery from the commit of its record, and let urgent records pass any pause. */
function fromVersion1(database: DatabaseSync): void {
  const sql = `SELECT delivery.*, COALESCE(committed_at, due_at) AS committed_at
    FROM delivery LEFT JOIN record USING (sequence)`;
  const deliveries = database.prepare(sql).all().map(readOldDelivery);
  database.exec('ALTER TABLE delivery ADD COLUMN queued_at INTEGER NOT NULL DEFAULT 0');
  for (const delivery of deliveries) putDelivery(database, delivery);
  database.exec(`ALTER TABLE sink ADD COLUMN paused_until INTEGER NOT NULL DEFAULT 0;
    UPDATE sink SET paused_until = until WHERE state = 'paused'`);
}
