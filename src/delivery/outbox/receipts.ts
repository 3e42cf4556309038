// Receipts of deliveries that have come to their end, for whoever keeps account of them: written with the end itself.
import type { DatabaseSync } from 'node:sqlite';
import { statement } from '../../sqlite.ts';

/** How one delivery ended. */
export interface Receipt {
  /** Rises with each receipt. */
  readonly number: number;
  readonly sink: string;
  /** Of the record. */
  readonly id: string;
  readonly type: string;
  readonly family: string;
  readonly outcome: 'delivered' | 'dead' | 'superseded' | 'discarded';
  readonly reason: string | null;
  readonly attempts: number;
  /** Epoch ms. */
  readonly settledAt: number;
}

const type = `CASE WHEN json_valid(CAST(body AS TEXT)) THEN COALESCE(CAST(body AS TEXT) ->> '$.type', '') ELSE '' END`;
const ended = `('delivered', 'dead', 'superseded', 'discarded')`;

// By triggers, because deliveries end in many ways: by an answer, by a person in another process, by a sink that is
// configured no more, or by a full outbox, which removes what still waits.
const tables = `
CREATE TABLE IF NOT EXISTS receipt (
  number INTEGER PRIMARY KEY AUTOINCREMENT, sink TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,
  family TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT, attempts INTEGER NOT NULL, settled_at INTEGER NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS receipt_of_delivery AFTER INSERT ON delivery WHEN NEW.state IN ${ended} BEGIN
  INSERT INTO receipt (sink, id, type, family, outcome, reason, attempts, settled_at)
  SELECT NEW.sink, id, ${type}, family, NEW.state, NEW.reason, NEW.attempts,
    COALESCE(NEW.settled_at, 0)
  FROM record WHERE sequence = NEW.sequence;
END;
CREATE TRIGGER IF NOT EXISTS receipt_of_removal BEFORE DELETE ON delivery WHEN OLD.state = 'pending' BEGIN
  INSERT INTO receipt (sink, id, type, family, outcome, reason, attempts, settled_at)
  SELECT OLD.sink, id, ${type}, family, 'dead', 'outbox-full', OLD.attempts,
    CAST(unixepoch('subsec') * 1000 AS INTEGER)
  FROM record WHERE sequence = OLD.sequence;
END;
`;

/** Has receipts written from now on. */
export const keepReceipts = (database: DatabaseSync): void => database.exec(tables);

/** The oldest receipts. */
export function readReceipts(database: DatabaseSync, limit: number): readonly Receipt[] {
  const rows = statement(database, 'SELECT * FROM receipt ORDER BY number LIMIT ?').all(limit);
  return rows.map((row) => ({
    number: Number(row['number']),
    sink: String(row['sink']),
    id: String(row['id']),
    type: String(row['type']),
    family: String(row['family']),
    outcome: String(row['outcome']) as Receipt['outcome'],
    reason: row['reason'] === null ? null : String(row['reason']),
    attempts: Number(row['attempts']),
    settledAt: Number(row['settled_at']),
  }));
}

/** Forgets the receipts up to this number. */
export function dropReceipts(database: DatabaseSync, upTo: number): void {
  statement(database, 'DELETE FROM receipt WHERE number <= ?').run(upTo);
}
