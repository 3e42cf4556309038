// What another notifier has told of the same trail, as the journal says, and what therefore need not be told from here.
import type { TrailStore, Unavailable } from '../../audit/store.ts';
import { journalEntryOf } from '../../core/journal.ts';
import { localStreams } from '../../core/stream.ts';
import type { Stored } from '../../delivery/outbox/guarded-storage.ts';
import type { Outbox } from '../../delivery/outbox/outbox.ts';
import { putDelivery, readDelivery, readMeta } from '../../delivery/outbox/rows.ts';
import { statement } from '../../sqlite.ts';
import { tellingKey, toldKey } from './notes.ts';

const readAtOnce = 500;

/**
 * What the journal says was told, from an index on, by `tellingKey`: records, and each of the facts in them. What was
 * skipped for something newer does not count: whether that was told is said by its own entry.
 */
export async function toldSince(
  trail: TrailStore,
  from: number,
): Promise<{ readonly status: 'known'; readonly told: ReadonlySet<string> } | Unavailable> {
  const known = await trail.trail();
  if (known.status === 'unavailable') return known;
  const { journal } = localStreams(known.trail);
  const told = new Set<string>();
  for (let at = from; ; at += readAtOnce) {
    const read = await trail.read(journal, at, readAtOnce);
    if (read.status === 'unavailable') return read;
    for (const { body, enqueuedMs } of read.entries) {
      const fact = body === null ? null : journalEntryOf({ body, enqueuedMs });
      if (fact?.kind !== 'notified' || fact.outcome === 'superseded') continue;
      for (const id of [fact.id, ...fact.facts]) told.add(tellingKey(fact.sink, id));
    }
    if (read.entries.length < readAtOnce) return { status: 'known', told };
  }
}

/** The first index of the journal at which something was written down at this time or later. @param since epoch ms */
export async function journalIndexAt(
  trail: TrailStore,
  since: number,
): Promise<{ readonly status: 'known'; readonly index: number } | Unavailable> {
  const known = await trail.trail();
  if (known.status === 'unavailable') return known;
  const { journal } = localStreams(known.trail);
  const found = await trail.tail(journal);
  if (found.status === 'unavailable') return found;
  let [low, high] = [0, found.tail === null ? 0 : found.tail.index + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const read = await trail.read(journal, middle, 1);
    if (read.status === 'unavailable') return read;
    if ((read.entries[0]?.enqueuedMs ?? since) < since) low = middle + 1;
    else high = middle;
  }
  return { status: 'known', index: low };
}

/** Lets go of what still waits here and was told elsewhere: every fact that a record tells, or the record. @param now epoch ms */
export function letGo(outbox: Outbox, told: ReadonlySet<string>, now: number): Stored<void> {
  return outbox.change((database) => {
    const sql = `SELECT delivery.*, record.id FROM delivery JOIN record USING (sequence) WHERE state = 'pending'`;
    for (const row of statement(database, sql).all()) {
      const delivery = readDelivery(row);
      const { sink } = delivery;
      const note = readMeta(database, toldKey(sink, String(row['id'])));
      const facts = note === null || note === 'damaged' ? [] : (JSON.parse(note) as string[]);
      const isTold = (id: string): boolean => told.has(tellingKey(sink, id));
      // Two notifiers may give records of a wave the same id, and tell different facts with them.
      if (!(facts.length === 0 ? isTold(String(row['id'])) : facts.every(isTold))) continue;
      const gone = { state: 'discarded', reason: 'told-elsewhere', settledAt: now } as const;
      putDelivery(database, { ...delivery, ...gone });
    }
  });
}
