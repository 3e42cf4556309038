// Reads the journals of a trail for what they explain: gaps, prunings, clocks, starts, keys, copies put back.
import { joinRanges, type Ranges } from '../../core/join.ts';
import { type JournalEntry, type JournalFact, journalEntryOf } from '../../core/journal.ts';
import { localStreams } from '../../core/stream.ts';
import type { TrailSource } from '../store.ts';

type FactOf<Kind extends JournalFact['kind']> = Extract<JournalEntry, { kind: Kind }>;

/** What the journals explain. It grows with gaps, prunings, jumps and starts, not with the trail. */
export interface JournalFacts {
  /** Sequence numbers that never came here, by stream. */
  readonly gaps: Map<string, Ranges>;
  readonly pruned: Map<string, FactOf<'pruned'>[]>;
  readonly jumps: FactOf<'clock-jumped'>[];
  /** Epoch ms, in the order in which they were written. */
  readonly starts: number[];
  /** Which keys signed from when on. */
  readonly keys: FactOf<'keys-changed'>[];
  /** Where a journal first names each key. */
  readonly keysSince: Map<string, { readonly stream: string; readonly index: number }>;
  readonly restored: FactOf<'restored'>[];
  /** Heads that somebody went on from without knowing who vouches for them. */
  readonly unvouched: FactOf<'unvouched'>[];
  /** The ids of the trail, the first one first. */
  trails: readonly string[];
  /** Of all facts; null while there is none. */
  firstAt: number | null;
  lastAt: number | null;
  /** The index of the last fact of each journal that is to be sealed soon: that an anchor took a seal can wait for the next. */
  readonly lastNews: Map<string, number>;
  /** Entries that are no facts this version knows. */
  readonly unreadable: { readonly stream: string; readonly index: number }[];
}

const quietKinds: ReadonlySet<JournalFact['kind']> = new Set(['anchored', 'anchor-failed']);

/** Follows the journals from the current one back through the copies that were put back. */
export async function readJournals(source: TrailSource, signal: AbortSignal): Promise<JournalFacts> {
  const facts: JournalFacts = {
    ...{ gaps: new Map(), pruned: new Map(), jumps: [], starts: [], keys: [], restored: [] },
    unvouched: [],
    ...{ lastNews: new Map(), keysSince: new Map() },
    ...{ trails: [], firstAt: null, lastAt: null, unreadable: [] },
  };
  const trails: string[] = [];
  for (let trail = source.trail; trail !== null && !trails.includes(trail); ) {
    trails.unshift(trail);
    const { journal } = localStreams(trail);
    const restored = await readJournal(source, journal, facts, signal);
    facts.restored.unshift(...restored);
    trail = restored[0]?.earlier ?? null;
  }
  facts.trails = trails;
  facts.keys.sort((one, other) => one.at - other.at);
  facts.starts.sort((one, other) => one - other);
  return facts;
}

async function readJournal(
  source: TrailSource,
  stream: string,
  facts: JournalFacts,
  signal: AbortSignal,
): Promise<FactOf<'restored'>[]> {
  const restored: FactOf<'restored'>[] = [];
  for await (const chunk of source.entries(stream)) {
    signal.throwIfAborted();
    for (const { index, body, enqueuedMs } of chunk) {
      const fact = body === null ? null : journalEntryOf({ body, enqueuedMs });
      if (fact === null) facts.unreadable.push({ stream, index });
      if (fact === null) continue;
      if (fact.kind === 'keys-changed') noteKeys(facts, fact.keys, { stream, index });
      if (!quietKinds.has(fact.kind)) facts.lastNews.set(stream, index);
      if (fact.kind === 'restored') restored.push(fact);
      else note(facts, fact);
    }
  }
  return restored;
}

function noteKeys(
  { keysSince }: JournalFacts,
  keys: readonly string[],
  place: { stream: string; index: number },
) {
  for (const key of keys) if (!keysSince.has(key)) keysSince.set(key, place);
}

function note(facts: JournalFacts, fact: JournalEntry): void {
  facts.firstAt = Math.min(facts.firstAt ?? fact.at, fact.at);
  facts.lastAt = Math.max(facts.lastAt ?? fact.at, fact.at);
  if (fact.kind === 'gap') {
    const known = facts.gaps.get(fact.stream) ?? [];
    facts.gaps.set(fact.stream, joinRanges(known, [[fact.from, fact.to]]));
  } else if (fact.kind === 'pruned') {
    const known = facts.pruned.get(fact.stream);
    if (known === undefined) facts.pruned.set(fact.stream, [fact]);
    else known.push(fact);
  } else if (fact.kind === 'clock-jumped') facts.jumps.push(fact);
  else if (fact.kind === 'consumer-started') facts.starts.push(fact.at);
  else if (fact.kind === 'keys-changed') facts.keys.push(fact);
  else if (fact.kind === 'unvouched') facts.unvouched.push(fact);
}

/** Whether all these numbers are in one of the ranges. */
export const covers = (ranges: Ranges | undefined, from: number, to: number): boolean =>
  ranges?.some(([first, last]) => first <= from && to <= last) === true;

/** Whether a body was pruned; for indexes in rising order, so that each range is looked at once. */
export function prunedIndexes({ pruned }: JournalFacts, stream: string): (index: number) => boolean {
  const facts = (pruned.get(stream) ?? []).toSorted((one, other) => one.from - other.from);
  let [place, end] = [0, -1];
  return (index) => {
    for (let fact = facts[place]; fact !== undefined && fact.from <= index; fact = facts[place]) {
      end = Math.max(end, fact.to);
      place += 1;
    }
    return index <= end;
  };
}
