// How a trail stands, by what it says of itself: a quick look that proves nothing.
import { parseCheckpoint } from '../core/checkpoint.ts';
import { type JournalEntry, type JournalFact, journalEntryOf } from '../core/journal.ts';
import { textOfNote } from '../core/signed-note.ts';
import { localStreams, type StreamKind } from '../core/stream.ts';
import type { StoredEntry, TrailAgent, TrailReader, TrailSource } from './store.ts';

type FactOf<Kind extends JournalFact['kind']> = Extract<JournalEntry, { kind: Kind }>;

export interface StreamStatus {
  readonly name: string;
  readonly kind: StreamKind;
  readonly size: number;
  /** Base64. */
  readonly root: string | null;
  /** The names of the keys that are said to have signed the head. */
  readonly signedBy: readonly string[];
}

/** One anchor, by what the journal says of it. */
export interface AnchorStatus {
  readonly anchor: string;
  /** The last head that it took. */
  readonly taken: { readonly size: number; readonly at: number; readonly reference: string | null } | null;
  /** The last time that it took none, if nothing was taken since. */
  readonly failed: { readonly reason: string; readonly at: number } | null;
}

export interface TrailStatus {
  readonly place: string;
  readonly trail: string | null;
  readonly streams: readonly StreamStatus[];
  readonly lastSeal: { readonly index: number; readonly at: number } | null;
  readonly anchors: readonly AnchorStatus[];
  readonly keys: readonly string[];
  readonly consumers: readonly {
    readonly instance: string;
    readonly version: string | null;
    readonly startedAt: number | null;
    readonly stoppedAt: number | null;
  }[];
  readonly gaps: readonly FactOf<'gap'>[];
  readonly epochs: readonly FactOf<'epoch-changed'>[];
  readonly restored: readonly FactOf<'restored'>[];
  readonly pruned: Readonly<Record<string, number>>;
  readonly holds: readonly string[];
  readonly parked: Readonly<Record<string, number>>;
  readonly conflicts: number;
  /** Agents with records that never came here; null for a copy, which has no projections. */
  readonly agentsWithHoles: readonly TrailAgent[] | null;
}

/** @throws TrailUnusable, and the signal's reason */
export async function trailStatus(
  source: TrailSource,
  reader: TrailReader | null,
  signal: AbortSignal,
): Promise<TrailStatus> {
  const streams = await source.streams();
  const tally = newTally();
  const journals = streams.filter(({ kind }) => kind === 'journal');
  for (const name of await inOrder(
    source,
    journals.map((journal) => journal.name),
  )) {
    for await (const chunk of source.entries(name)) {
      signal.throwIfAborted();
      for (const entry of chunk) count(tally, factIn(entry));
    }
  }
  const { counted, ...facts } = tally;
  const agents = reader === null ? null : await reader.agents();
  return {
    ...{ place: source.place, trail: source.trail },
    streams: streams.map(({ name, kind, size, root, note }) => ({
      ...{ name, kind, size },
      root: root === null ? rootIn(note) : Buffer.from(root).toString('base64'),
      signedBy: signersOf(note),
    })),
    lastSeal: await lastSeal(source),
    ...{ keys: facts.keys, gaps: facts.gaps, epochs: facts.epochs, restored: facts.restored },
    ...{ pruned: Object.fromEntries(facts.pruned), parked: Object.fromEntries(facts.parked) },
    ...{ anchors: [...facts.anchors.values()], consumers: [...facts.consumers.values()] },
    ...{ holds: [...facts.holds], conflicts: counted.conflicts },
    agentsWithHoles: agents?.filter(({ missing }) => missing.length > 0) ?? null,
  };
}

/** A trail that was put back has several journals: the one that began first counts first. */
async function inOrder(source: TrailSource, journals: readonly string[]): Promise<string[]> {
  const begun: { readonly name: string; readonly at: number }[] = [];
  for (const name of journals) {
    const first = await source.entries(name)[Symbol.asyncIterator]().next();
    begun.push({ name, at: first.done === true ? 0 : (first.value[0]?.enqueuedMs ?? 0) });
  }
  return begun.sort((one, other) => one.at - other.at).map(({ name }) => name);
}

const factIn = ({ body, enqueuedMs }: StoredEntry): JournalEntry | null =>
  body === null ? null : journalEntryOf({ body, enqueuedMs });

function rootIn(note: string | null): string | null {
  const text = note === null ? null : textOfNote(note);
  const checkpoint = text === null ? null : parseCheckpoint(text);
  return checkpoint === null ? null : Buffer.from(checkpoint.root).toString('base64');
}

const signersOf = (note: string | null): string[] =>
  (note ?? '').split('\n').flatMap((line) => (line.startsWith('\u2014 ') ? [line.split(' ')[1] ?? ''] : []));

async function lastSeal(source: TrailSource): Promise<TrailStatus['lastSeal']> {
  if (source.trail === null) return null;
  const { seal } = localStreams(source.trail);
  const size = (await source.streams()).find(({ name }) => name === seal)?.size ?? 0;
  let last: TrailStatus['lastSeal'] = null;
  for await (const chunk of source.entries(seal, Math.max(size - 1, 0))) {
    for (const { index, enqueuedMs } of chunk) last = { index, at: enqueuedMs };
  }
  return last;
}

const newTally = () => ({
  keys: [] as readonly string[],
  gaps: [] as FactOf<'gap'>[],
  epochs: [] as FactOf<'epoch-changed'>[],
  restored: [] as FactOf<'restored'>[],
  pruned: new Map<string, number>(),
  parked: new Map<string, number>(),
  holds: new Set<string>(),
  anchors: new Map<string, AnchorStatus>(),
  consumers: new Map<string, TrailStatus['consumers'][number]>(),
  counted: { conflicts: 0 },
});

type Tally = ReturnType<typeof newTally>;

const add = (sums: Map<string, number>, name: string, by: number): void =>
  void sums.set(name, (sums.get(name) ?? 0) + by);

/** What each kind of fact adds; the others say nothing that is asked here. */
const counting: { readonly [Kind in JournalFact['kind']]?: (tally: Tally, fact: FactOf<Kind>) => void } = {
  gap: ({ gaps }, fact) => void gaps.push(fact),
  'epoch-changed': ({ epochs }, fact) => void epochs.push(fact),
  restored: ({ restored }, fact) => void restored.push(fact),
  pruned: ({ pruned }, { stream, from, to }) => add(pruned, stream, to - from + 1),
  parked: ({ parked }, { entries }) => {
    for (const { reason } of entries) add(parked, reason, 1);
  },
  conflict: ({ counted }) => {
    counted.conflicts += 1;
  },
  held: ({ holds }, { hold }) => void holds.add(hold),
  released: ({ holds }, { hold }) => void holds.delete(hold),
  'keys-changed': (tally, { keys }) => {
    tally.keys = keys;
  },
  anchored: ({ anchors }, { anchor, size, at, reference }) =>
    void anchors.set(anchor, { anchor, taken: { size, at, reference }, failed: null }),
  'anchor-failed': ({ anchors }, { anchor, reason, at }) =>
    void anchors.set(anchor, {
      anchor,
      taken: anchors.get(anchor)?.taken ?? null,
      failed: { reason, at },
    }),
  'consumer-started': ({ consumers }, { instance, version, at }) =>
    void consumers.set(instance, { instance, version, startedAt: at, stoppedAt: null }),
  'consumer-stopped': ({ consumers }, { instance, at }) => {
    const known = consumers.get(instance);
    consumers.set(instance, {
      instance,
      version: known?.version ?? null,
      startedAt: known?.startedAt ?? null,
      stoppedAt: at,
    });
  },
};

function count(tally: Tally, fact: JournalEntry | null): void {
  if (fact === null || !Object.hasOwn(counting, fact.kind)) return;
  const take = counting[fact.kind] as ((tally: Tally, fact: JournalEntry) => void) | undefined;
  take?.(tally, fact);
}
