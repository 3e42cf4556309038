// Which legal holds stand in a trail, read from all journals that it ever kept.
import { standingHolds } from '../core/legal-hold.ts';
import type { StoredEntry, TrailSource } from './store.ts';

/**
 * The holds that stand, in the order in which they were laid. A trail that was put back has several journals: the one
 * that began first counts first.
 * @throws TrailUnusable
 */
export async function holdsIn(source: TrailSource): Promise<string[]> {
  const journals: StoredEntry[][] = [];
  for (const { name, kind } of await source.streams()) {
    if (kind !== 'journal') continue;
    const entries: StoredEntry[] = [];
    for await (const chunk of source.entries(name)) entries.push(...chunk.filter(speaksOfHolds));
    journals.push(entries);
  }
  const begin = (entries: readonly StoredEntry[]): number => entries[0]?.enqueuedMs ?? 0;
  const ordered = journals.sort((one, other) => begin(one) - begin(other)).flat();
  return standingHolds(
    ordered.flatMap(({ body, enqueuedMs }) => (body === null ? [] : [{ body, enqueuedMs }])),
  );
}

/** A journal holds much else, which need not stay in memory. */
const speaksOfHolds = ({ body }: StoredEntry): boolean =>
  body !== null && /"kind":"(held|released)"/.test(Buffer.from(body).toString('utf8'));
