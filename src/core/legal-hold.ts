// Which legal holds stand, by what the journal says of them.
import { journalEntryOf } from './journal.ts';
import type { HubEvent } from './leaf.ts';

/**
 * The holds that stand after these entries of the journal, in the order in which they were laid. A hold that was laid
 * twice is one hold. What cannot be read lays none and releases none.
 * @param entries in their order: those of the first journal first, where a trail began its own streams anew
 * @param standing what stood before them
 */
export function standingHolds(
  entries: Iterable<Pick<HubEvent, 'body' | 'enqueuedMs'>>,
  standing: Iterable<string> = [],
): string[] {
  const holds = new Set(standing);
  for (const entry of entries) {
    const fact = journalEntryOf(entry);
    if (fact?.kind === 'held') holds.add(fact.hold);
    if (fact?.kind === 'released') holds.delete(fact.hold);
  }
  return [...holds];
}
