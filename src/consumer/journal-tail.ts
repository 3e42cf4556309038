// Finds what the journal said last about something, from its end backwards and not further than it has to.
import type { StoredEntry, TrailStore, Unavailable } from '../audit/store.ts';
import { type JournalEntry, type JournalKind, journalEntryOf } from '../core/journal.ts';
import { localStreams } from '../core/stream.ts';

export type FactOf<Kind extends JournalKind> = Extract<JournalEntry, { readonly kind: Kind }>;

export type LastFact<Kind extends JournalKind> =
  | { readonly status: 'known'; readonly fact: FactOf<Kind> | null }
  | Unavailable;

const readAtOnce = 500;
// A year of restarts and anchors. What stands before it counts as not said: it is then said once more.
const readMaxUsual = 100_000;

interface Search<Fact> {
  readonly isMeant?: (fact: Fact) => boolean;
  /** How many entries to go back at most. */
  readonly readMax?: number;
}

/** The last fact of a kind in the trail's own journal that `isMeant` accepts; null when there is none. */
export async function lastFact<Kind extends JournalKind>(
  trail: TrailStore,
  kind: Kind,
  { isMeant = () => true, readMax = readMaxUsual }: Search<FactOf<Kind>> = {},
): Promise<LastFact<Kind>> {
  const known = await trail.trail();
  if (known.status === 'unavailable') return known;
  const { journal } = localStreams(known.trail);
  const tail = await trail.tail(journal);
  if (tail.status === 'unavailable') return tail;
  const size = tail.tail === null ? 0 : tail.tail.index + 1;
  const begin = Math.max(0, size - readMax);
  for (let end = size; end > begin; end -= readAtOnce) {
    const from = Math.max(end - readAtOnce, begin);
    const read = await trail.read(journal, from, end - from);
    if (read.status === 'unavailable') return read;
    const fact = factsIn(read.entries).findLast(
      (each): each is FactOf<Kind> => each.kind === kind && isMeant(each as FactOf<Kind>),
    );
    if (fact !== undefined) return { status: 'known', fact };
  }
  return { status: 'known', fact: null };
}

const factsIn = (entries: readonly StoredEntry[]): readonly JournalEntry[] =>
  entries.flatMap(({ body, enqueuedMs }) => {
    const fact = body === null ? null : journalEntryOf({ body, enqueuedMs });
    return fact === null ? [] : [fact];
  });
