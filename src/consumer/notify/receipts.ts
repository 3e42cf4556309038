// Brings receipts of deliveries into the journal of the trail: whether the team got it, and when.
import type { DatabaseSync } from 'node:sqlite';
import type { TrailStore } from '../../audit/store.ts';
import type { JournalFact } from '../../core/journal.ts';
import { eventPartOf } from '../../core/record.ts';
import type { Outbox } from '../../delivery/outbox/outbox.ts';
import { dropReceipts, type Receipt, readReceipts } from '../../delivery/outbox/receipts.ts';
import { putMeta, readMeta } from '../../delivery/outbox/rows.ts';
import { statement } from '../../sqlite.ts';
import { toldKey } from './notes.ts';

const atOnce = 100;

/**
 * Journals the receipts that wait, and forgets each once it stands there. What ends the process in between has it
 * written again: a repeat says the same.
 * @returns false while the trail or the outbox does not take them
 */
export async function journalReceipts(trail: TrailStore, outbox: Outbox): Promise<boolean> {
  for (;;) {
    const waiting = outbox.change((database) => {
      const receipts = readReceipts(database, atOnce);
      for (const receipt of receipts) if (receipt.outcome === 'superseded') handOver(database, receipt);
      return receipts.map((receipt) => ({ receipt, facts: factsOf(database, receipt) }));
    });
    if (!waiting.ok) return false;
    const last = waiting.value.at(-1)?.receipt.number;
    if (last === undefined) return true;
    const written = await trail.journal(waiting.value.map(({ receipt, facts }) => notified(receipt, facts)));
    if (written.status !== 'written') return false;
    const gone = waiting.value.map(({ receipt }) => receipt).filter(({ outcome }) => outcome !== 'dead');
    const dropped = outbox.change((database) => {
      dropReceipts(database, last);
      // A dead delivery may be asked for again: only then is it over what it told.
      const sql = 'DELETE FROM meta WHERE key = ?';
      for (const { sink, id } of gone) statement(database, sql).run(toldKey(sink, id));
    });
    if (!dropped.ok) return false;
  }
}

function factsOf(database: DatabaseSync, { family, sink, id }: Receipt): readonly string[] {
  const note = readMeta(database, toldKey(sink, id));
  if (note !== null && note !== 'damaged') return JSON.parse(note) as string[];
  return family === 'event' ? [id] : [];
}

/** What one record did not come to tell, the newer one of its wave tells. */
function handOver(database: DatabaseSync, receipt: Receipt): void {
  const [facts, part] = [factsOf(database, receipt), eventPartOf(receipt.id)];
  const sql = `SELECT id FROM record CROSS JOIN delivery ON delivery.sequence = record.sequence
    WHERE id > ? AND id < ? AND sink = ? ORDER BY record.sequence DESC LIMIT 1`;
  // The character after the underscore ends the range: every id of this wave lies in it.
  const newer = statement(database, sql).get(`${part}_`, `${part}\``, receipt.sink)?.['id'];
  if (part === '' || newer === undefined || newer === receipt.id || facts.length === 0) return;
  const { sink } = receipt;
  const its = factsOf(database, { ...receipt, id: String(newer) });
  putMeta(database, toldKey(sink, String(newer)), JSON.stringify([...new Set([...facts, ...its])]));
}

const notified = (receipt: Receipt, facts: readonly string[]): JournalFact => {
  const { sink, type, id, outcome, reason, attempts, settledAt } = receipt;
  const when = new Date(settledAt).toISOString();
  return { kind: 'notified', sink, type, id, facts, outcome, reason, attempts, settledAt: when };
};
