// Finds where the records with one id stand in a trail, also in a copy that keeps no index of them.
import { readRecord } from '../core/read-record.ts';
import type { RecordPlace, StoredEntry, TrailSource } from './store.ts';

/**
 * Every place of the records with this id: those of each source, in each version, once for equal bytes.
 * A source that cannot look ids up is read from end to end, and a pruned record is not found there.
 * @throws TrailUnusable, and the signal's reason
 */
export async function findRecord(
  source: TrailSource,
  id: string,
  signal: AbortSignal,
): Promise<readonly RecordPlace[]> {
  if (source.find !== null) return await source.find(id);
  const places = new Map<string, RecordPlace>();
  for await (const { stream, entry } of hubEntries(source, signal)) {
    const found = recordIn(entry, id);
    if (found === null) continue;
    const key = JSON.stringify([found, Buffer.from(entry.bodySha256).toString('hex')]);
    if (!places.has(key)) places.set(key, { id, source: found, stream, index: entry.index });
  }
  return [...places.values()];
}

async function* hubEntries(source: TrailSource, signal: AbortSignal) {
  for (const { name, kind } of await source.streams()) {
    if (kind !== 'hub') continue;
    for await (const chunk of source.entries(name)) {
      signal.throwIfAborted();
      for (const entry of chunk) yield { stream: name, entry };
    }
  }
}

/** The source of the record in an entry, when it has this id. */
function recordIn({ body }: StoredEntry, id: string): string | null {
  // Most entries are others: reading each as JSON would take many times longer.
  if (body === null || !Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(id)) return null;
  const reading = readRecord(body);
  return reading.status === 'record' && reading.record.id === id ? reading.record.source : null;
}
