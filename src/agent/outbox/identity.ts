// Who this installation of the agent is, and how far it has counted.
import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { putMeta, readMeta } from './rows.ts';
import { statement } from './storage.ts';

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
