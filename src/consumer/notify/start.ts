// Finds where the notices go on: where this outbox stands, where a former notifier stood, or here and now for the first one.
import type { StreamHead, TrailStore, Unavailable } from '../../audit/store.ts';
import type { JournalFact } from '../../core/journal.ts';
import { streamKind } from '../../core/stream.ts';
import type { Outbox } from '../../delivery/outbox/outbox.ts';
import { lastFact } from '../journal-tail.ts';
import { journalIndexAt, letGo, toldSince } from './elsewhere.ts';
import { tellableMsMax } from './facts.ts';
import { noteKeys } from './notes.ts';

/** Where the notices go on. */
export interface Start {
  readonly status: 'known';
  /** Epoch ms: what the hub stored before is told to nobody. */
  readonly since: number;
  /** Entries of each stream that were looked at; a stream that is not named is new. */
  readonly cursors: ReadonlyMap<string, number>;
  /** What another notifier has told already, by `tellingKey`. */
  readonly told: ReadonlySet<string>;
}

export interface StartOptions {
  readonly trail: TrailStore;
  readonly outbox: Outbox;
  readonly instance: string;
  /** Epoch ms. */
  readonly now: number;
}

/** What this outbox knows of itself. */
interface Own {
  /** The id of the trail. */
  readonly trail: string;
  readonly since: number | null;
  readonly cursors: ReadonlyMap<string, number>;
  readonly journal: number | null;
  readonly notifier: string;
}

type Position = Extract<JournalFact, { readonly kind: 'notify-position' }>;

/** @returns where they go on; or why that cannot be known or written down now */
export async function findStart(options: StartOptions): Promise<Start | Unavailable> {
  const { trail, outbox } = options;
  const known = await trail.trail();
  if (known.status === 'unavailable') return known;
  const own = readOwn(outbox, known.trail);
  if (own === null) return outboxUnusable;
  const last = await lastFact(trail, 'notify-position');
  if (last.status === 'unavailable') return last;
  const { fact } = last;
  if (own.since === null && fact === null) return await begin(options, own);
  const isElsewhere = fact !== null && (fact.notifier !== own.notifier || own.since === null);
  const told = isElsewhere
    ? await toldElsewhere(options, own, fact)
    : { status: 'known' as const, told: new Set<string>() };
  if (told.status === 'unavailable') return told;
  if (isElsewhere && !letGo(outbox, told.told, options.now).ok) return outboxUnusable;
  const heads = await trail.heads();
  if (heads.status === 'unavailable') return heads;
  const start = {
    since: own.since ?? Date.parse(fact?.since ?? ''),
    cursors: notBeyond(heads.heads, furthest(own.cursors, fact)),
    told: told.told,
  };
  return keep(outbox, own, start);
}

/** Whoever remembers nothing asks as far back as anything is told: of many witnesses of a fact some come late. */
async function toldElsewhere({ trail, now }: StartOptions, { since, journal }: Own, fact: Position) {
  if (since !== null) return await toldSince(trail, Math.min(journal ?? fact.journal, fact.journal));
  const oldest = await journalIndexAt(trail, now - tellableMsMax);
  if (oldest.status === 'unavailable') return oldest;
  return await toldSince(trail, Math.min(oldest.index, fact.journal));
}

const outboxUnusable: Unavailable = { status: 'unavailable', reason: 'read-only' };

function readOwn(outbox: Outbox, trail: string): Own | null {
  // Who it is stands in the file from its first commit on.
  if (!outbox.commit(null, []).ok) return null;
  const noted = outbox.notes(noteKeys.cursor);
  const notifier = outbox.recall('instanceId');
  if (!noted.ok || notifier === null) return null;
  const number = (key: string): number | null => {
    const text = outbox.recall(key);
    return text === null ? null : Number(text);
  };
  const cursors = [...noted.value].map(
    ([key, size]) => [key.slice(noteKeys.cursor.length), Number(size)] as const,
  );
  const since = number(noteKeys.since);
  // Places in another trail mean nothing in this one: it is read from its beginning, and what was said is not said again.
  const isAnother = ![null, trail].includes(outbox.recall(noteKeys.trail));
  if (isAnother) return { trail, since, cursors: new Map(), journal: null, notifier };
  return { trail, since, cursors: new Map(cursors), journal: number(noteKeys.journal), notifier };
}

/** The first notices of this trail: nothing that stands there already is told. */
async function begin({ trail, outbox, instance, now }: StartOptions, own: Own): Promise<Start | Unavailable> {
  const known = await trail.heads();
  if (known.status === 'unavailable') return known;
  const cursors = new Map(known.heads.filter(isHub).map(({ name, size }) => [name, size]));
  // In the journal first: whoever takes over a moment later is not the first one.
  const written = await trail.journal([
    positionOf({ instance, notifier: own.notifier, since: now, journal: 0, cursors }),
  ]);
  if (written.status === 'unavailable') return written;
  return keep(outbox, own, { since: now, cursors, told: new Set() });
}

const isHub = ({ name }: StreamHead): boolean => streamKind(name) === 'hub';

/** A position as the journal has it. */
export const positionOf = ({
  cursors,
  since,
  ...rest
}: Omit<Position, 'kind' | 'since' | 'positions'> & {
  readonly since: number;
  readonly cursors: ReadonlyMap<string, number>;
}): Position => ({
  kind: 'notify-position',
  ...rest,
  since: new Date(since).toISOString(),
  positions: [...cursors].map(([stream, size]) => ({ stream, size })),
});

/** Of each stream the further one: what lies before it has been told, here or elsewhere. */
function furthest(own: ReadonlyMap<string, number>, fact: Position | null): ReadonlyMap<string, number> {
  const cursors = new Map(own);
  for (const { stream, size } of fact?.positions ?? []) {
    cursors.set(stream, Math.max(cursors.get(stream) ?? 0, size));
  }
  return cursors;
}

/** A copy of the trail that was put back may end before the place that was reached: it goes on at its end. */
const notBeyond = (
  heads: readonly StreamHead[],
  cursors: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> => {
  const sizes = new Map(heads.map(({ name, size }) => [name, size]));
  return new Map([...cursors].map(([stream, size]) => [stream, Math.min(size, sizes.get(stream) ?? 0)]));
};

function keep(outbox: Outbox, { trail }: Own, start: Omit<Start, 'status'>): Start | Unavailable {
  const noted = outbox.notes(noteKeys.cursor);
  if (!noted.ok) return outboxUnusable;
  const stale = [...noted.value.keys()].map((key) => [key, null] as const);
  const notes = [...start.cursors].map(([stream, size]) => [noteKeys.cursor + stream, String(size)] as const);
  const rest = { [noteKeys.since]: String(start.since), [noteKeys.trail]: trail };
  const kept = outbox.commit(null, [], {
    ...Object.fromEntries(stale),
    ...Object.fromEntries(notes),
    ...rest,
  });
  return kept.ok ? { status: 'known', ...start } : outboxUnusable;
}
