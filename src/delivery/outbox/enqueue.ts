// Makes records of drafts and queues them: each gets its number, its id, and one delivery for each sink that takes it.
import type { DatabaseSync } from 'node:sqlite';
import { takes } from '../../core/filter.ts';
import { type BridgeRecord, encodeRecord, familyOf, repeatedId } from '../../core/record.ts';
import { statement } from '../../sqlite.ts';
import type { Draft, Route } from './draft.ts';
import { type Identity, putIdentity, readIdentity } from './identity.ts';
import { insertRecord, putDelivery } from './rows.ts';

/** What queueing goes by. */
export interface EnqueueRules {
  readonly routes: readonly Route[];
  /** Epoch ms. */
  readonly now: number;
  /** The memory of the last document is lost, but not that of what was said: nothing is said twice because of it. */
  readonly watchLost: boolean;
}

/** Queues the drafts, within the caller's transaction. @returns their records, in order */
export function enqueue(
  database: DatabaseSync,
  drafts: readonly Draft[],
  rules: EnqueueRules,
): readonly BridgeRecord[] {
  let identity: Identity = readIdentity(database);
  const records: BridgeRecord[] = [];
  for (const draft of drafts) {
    const id = idFor(database, draft, rules);
    if (id === null) continue;
    identity = { ...identity, sequence: identity.sequence + 1 };
    const record = draft.make(identity, id);
    enqueueRecord(database, record, { sequence: identity.sequence, draft }, rules);
    records.push(record);
  }
  putIdentity(database, identity);
  return records;
}

/** The id for this time of saying; null when the fact was said before and only the memory of it was lost. */
function idFor(database: DatabaseSync, { factId }: Draft, { now, watchLost }: EnqueueRules): string | null {
  if (factId === null) return '';
  const row = statement(database, 'SELECT count FROM said WHERE id = ?').get(factId);
  const count = Number(row?.['count'] ?? 0) + 1;
  if (count > 1 && watchLost) return null;
  statement(database, 'INSERT OR REPLACE INTO said VALUES (?, ?, ?)').run(factId, count, now);
  return repeatedId(factId, count);
}

function enqueueRecord(
  database: DatabaseSync,
  record: BridgeRecord,
  { sequence, draft: { urgent, to } }: { readonly sequence: number; readonly draft: Draft },
  { routes, now }: EnqueueRules,
): void {
  const family = familyOf(record.type) ?? 'agent';
  const body = encodeRecord(record);
  insertRecord(database, { sequence, id: record.id, family, urgent, committedAt: now, body });
  for (const { name, filter } of routes) {
    if (!(to?.includes(name) ?? takes(filter, record))) continue;
    const waiting = { sink: name, sequence, state: 'pending', attempts: 0, dueAt: now } as const;
    putDelivery(database, { ...waiting, reason: null, settledAt: null, queuedAt: now });
  }
}
