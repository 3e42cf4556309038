// Who this installation of the agent is, and how far it has counted.
import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { statement } from '../../sqlite.ts';
import { putDelivery, putMeta, readDelivery, readMeta } from './rows.ts';

export interface Identity {
  readonly instanceId: string;
  /** The number of the last record. */
  readonly sequence: number;
}

/** Reads it back; without a readable one, this is a new installation. */
export function readIdentity(database: DatabaseSync): Identity {
  const instanceId = readMeta(database, 'instanceId');
  const sequence = readMeta(database, 'sequence');
  if (instanceId === null || instanceId === 'damaged' || sequence === null || sequence === 'damaged') {
    return { instanceId: randomUUID(), sequence: highestSequence(database) };
  }
  return { instanceId, sequence: Number(sequence) };
}

// A new name may not reuse the numbers under which old records still wait.
const highestSequence = (database: DatabaseSync): number =>
  Number(statement(database, 'SELECT MAX(sequence) AS highest FROM record').get()?.['highest'] ?? 0);

export function putIdentity(database: DatabaseSync, { instanceId, sequence }: Identity): void {
  putMeta(database, 'instanceId', instanceId);
  putMeta(database, 'sequence', String(sequence));
}

/**
 * Ties the file to a VM. A disk that was copied to another VM brings the first one's file with it: the copy begins
 * as an installation of its own, sees with its own eyes, and leaves to the first what was the first one's to send.
 * @param now epoch ms
 * @returns whether the file was another VM's
 */
export function adopt(database: DatabaseSync, vmId: string, now: number): boolean {
  const owner = readMeta(database, 'vmId');
  putMeta(database, 'vmId', vmId);
  if (owner === null || owner === 'damaged' || owner === vmId) return false;
  putIdentity(database, { instanceId: randomUUID(), sequence: highestSequence(database) });
  statement(database, `DELETE FROM meta WHERE key = 'watch' OR key LIKE 'deed/%'`).run();
  statement(database, 'DELETE FROM said').run();
  statement(database, 'DELETE FROM memory').run();
  for (const row of statement(database, `SELECT * FROM delivery WHERE state = 'pending'`).all()) {
    putDelivery(database, { ...readDelivery(row), state: 'dead', reason: 'other-vm', settledAt: now });
  }
  return true;
}
