// Writes to the outbox from beside the agent, which may be running: what a person did, as the agent would have said it.
import type { DatabaseSync } from 'node:sqlite';
import type { BridgeRecord } from '../../core/record.ts';
import { transaction } from '../../sqlite.ts';
import type { Draft, Notes, Route } from './draft.ts';
import { enqueue } from './enqueue.ts';
import { listMeta, putNotes, readMeta } from './rows.ts';

/** What is written down, and for which sinks. */
export interface BesideCommit {
  readonly drafts: readonly Draft[];
  readonly notes: Notes;
  readonly routes: readonly Route[];
  /** Epoch ms. */
  readonly now: number;
}

/**
 * Commits records, their deliveries and notes, all or nothing, and on the disk when it returns.
 * @param database as `openOutboxForCare` gives it
 * @returns the records, in order
 * @throws what SQLite says when the file cannot be written
 */
export function commitBeside(
  database: DatabaseSync,
  { drafts, notes, routes, now }: BesideCommit,
): readonly BridgeRecord[] {
  database.exec('PRAGMA synchronous = FULL');
  return transaction(database, () => {
    putNotes(database, notes);
    return enqueue(database, drafts, { routes, now, watchLost: false });
  });
}

/** What is noted under keys that begin with `prefix`, by key. */
export const notesBeside = (database: DatabaseSync, prefix: string): ReadonlyMap<string, string> =>
  listMeta(database, prefix);

/** Whether the outbox is that of another VM, whose disk this one was copied from. */
export function isOfAnotherVm(database: DatabaseSync, vmId: string | null): boolean {
  const owner = readMeta(database, 'vmId');
  return owner !== null && owner !== 'damaged' && owner !== vmId;
}
