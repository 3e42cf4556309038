// Keeps the outbox within its limits: what is settled goes first, and the newest record never does.
import type { DatabaseSync } from 'node:sqlite';
import { statement, transaction } from '../../sqlite.ts';
import { usedBytes } from './storage.ts';

export interface OutboxLimits {
  readonly sizeMax: number;
  readonly keepDeliveredMs: number;
  readonly keepDeadMs: number;
  /** How long facts are remembered, so that one that comes back is told apart from one said twice; 7 days unless given. */
  readonly keepSaidMs?: number;
}

const saidMsUsual = 7 * 24 * 3_600_000;
// Small, so that a full outbox gives up no more than it must.
const rowsAtOnce = 20;

/** Forgets what has been settled for longer than the limits say. @param now epoch ms */
export function prune(database: DatabaseSync, limits: OutboxLimits, now: number): void {
  transaction(database, () => {
    const settledBefore = (state: string, at: number): void => {
      const sql = `DELETE FROM delivery WHERE state = ? AND settled_at < ?`;
      statement(database, sql).run(state, at);
    };
    settledBefore('delivered', now - limits.keepDeliveredMs);
    settledBefore('discarded', now - limits.keepDeliveredMs);
    settledBefore('superseded', now - limits.keepDeliveredMs);
    settledBefore('dead', now - limits.keepDeadMs);
    statement(database, 'DELETE FROM said WHERE said_at < ?').run(now - (limits.keepSaidMs ?? saidMsUsual));
    dropBareRecords(database, now - limits.keepDeliveredMs);
  });
}

/** What had to give way to a full outbox. */
export interface Discarded {
  /** Dead deliveries nobody had looked at. */
  readonly dead: number;
  /** Deliveries that were still to be made: data is lost. */
  readonly pending: number;
}

/** What the log says when pending deliveries gave way. */
export const fullMessage =
  'the outbox is full: the oldest deliveries gave way; look at the sinks that do not take theirs';

// A record and a half, and for each sink a row with its share of three indexes.
const rowBytes = 4096;
// Every tree of the file may need a new page for one commit, and the watch several.
const headroomBytes = 64 * 1024;

/**
 * Makes room for what is to be committed under the hard cap: settled deliveries go first, then dead ones, then what the agent
 * said about itself, then the oldest events. What is about to be committed is not touched.
 */
export function makeRoom(
  database: DatabaseSync,
  limits: OutboxLimits,
  { drafts, sinks }: { readonly drafts: number; readonly sinks: number },
): Discarded {
  const bytes = headroomBytes + drafts * (1 + sinks) * rowBytes;
  let dead = 0;
  let pending = 0;
  const steps: readonly { readonly where: string; readonly count: (rows: number) => void }[] = [
    { where: `state IN ('delivered', 'superseded', 'discarded')`, count: () => undefined },
    { where: `state = 'dead'`, count: (rows) => (dead += rows) },
    { where: `state = 'pending' AND family = 'agent'`, count: (rows) => (pending += rows) },
    { where: `state = 'pending'`, count: (rows) => (pending += rows) },
  ];
  for (const { where, count } of steps) {
    while (usedBytes(database) + bytes > limits.sizeMax) {
      const rows = dropOldest(database, where);
      if (rows === 0) break;
      count(rows);
    }
  }
  return { dead, pending };
}

function dropOldest(database: DatabaseSync, where: string): number {
  return transaction(database, () => {
    const sql = `DELETE FROM delivery WHERE (sink, sequence) IN (
      SELECT sink, sequence FROM delivery JOIN record USING (sequence) WHERE ${where} ORDER BY sequence LIMIT ?)`;
    const { changes } = statement(database, sql).run(rowsAtOnce);
    dropBareRecords(database, Number.MAX_SAFE_INTEGER);
    return Number(changes);
  });
}

function dropBareRecords(database: DatabaseSync, before: number): void {
  const sql = `DELETE FROM record WHERE committed_at < ?
    AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.sequence = record.sequence)`;
  statement(database, sql).run(before);
}
