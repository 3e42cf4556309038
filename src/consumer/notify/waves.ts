// The waves of each chat: what was folded into them, which of them have news, and when these are told.
import type { FleetFact, Speaker } from '../../core/fleet-fact.ts';
import { waveRecord } from '../../core/fleet-record.ts';
import { foldWave, type Wave } from '../../core/wave.ts';
import type { Draft, Notes } from '../../delivery/outbox/draft.ts';
import { noteKeys, toldKey } from './notes.ts';

/** News of one wave that was not told yet. */
interface News {
  /** Epoch ms at which it is told, with all that comes until then. */
  readonly dueAt: number;
  readonly urgent: boolean;
  /** The ids of the facts that are news. */
  readonly facts: readonly string[];
}

/** What one chat knows. Plain JSON. */
export interface ChatWaves {
  readonly waves: readonly Wave[];
  /** By the id of the wave. */
  readonly news: Readonly<Record<string, News>>;
}

/** What every chat knows, by the name of its sink. */
export type AllWaves = ReadonlyMap<string, ChatWaves>;

const noWaves: ChatWaves = { waves: [], news: {} };

// With more news than this nobody waits for more: what waits has to stand in memory and in one note.
const newsMax = 200;

/** A fact on its way into a wave. */
export interface WaveFact {
  readonly fact: FleetFact;
  readonly urgent: boolean;
  /** Whether this chat heard it elsewhere: then the wave has it, and it is no news. */
  readonly isTold: boolean;
}

/** What was noted; what is no JSON counts as nothing. */
export function wavesFrom(notes: ReadonlyMap<string, string>): AllWaves {
  const entries = [...notes].map(([key, text]) => [key.slice(noteKeys.waves.length), read(text)] as const);
  return new Map(entries);
}

function read(text: string): ChatWaves {
  try {
    return JSON.parse(text) as ChatWaves;
  } catch {
    return noWaves;
  }
}

export const noteOf = (sink: string, waves: ChatWaves): Notes => ({
  [noteKeys.waves + sink]: JSON.stringify(waves),
});

/**
 * Folds a fact into the waves of one chat.
 * @param times epoch ms, and how long news waits for more, ms
 */
export function foldFact(
  before: ChatWaves | undefined,
  { fact, urgent, isTold }: WaveFact,
  { now, groupWaitMs }: { readonly now: number; readonly groupWaitMs: number },
): ChatWaves {
  const { waves: standing, news } = before ?? noWaves;
  const folded = foldWave(standing, fact, now);
  if (!folded.changed) return before ?? noWaves;
  const waves = withNews(standing, folded.waves, news);
  if (isTold) return { waves, news };
  const waiting = news[folded.waveId];
  const isFull = Object.keys(news).length >= newsMax;
  const dueAt = urgent || isFull ? now : Math.min(waiting?.dueAt ?? now + groupWaitMs, now + groupWaitMs);
  const facts = [...(waiting?.facts ?? []), fact.record.id];
  const told: News = { dueAt, urgent: urgent || waiting?.urgent === true, facts };
  return { waves, news: { ...news, [folded.waveId]: told } };
}

/** Waves that were let go to make room stay while they have news: it would be told to nobody. */
function withNews(before: readonly Wave[], after: readonly Wave[], news: ChatWaves['news']): readonly Wave[] {
  const standing = new Set(after.map(({ id }) => id));
  const lost = before.filter(({ id }) => !standing.has(id) && Object.hasOwn(news, id));
  return lost.length === 0 ? after : [...lost, ...after];
}

/** When the next news is to be told, epoch ms; infinite when there is none. */
export const nextDueAt = (all: AllWaves): number =>
  Math.min(...[...all.values()].flatMap(({ news }) => Object.values(news).map(({ dueAt }) => dueAt)));

/** What is to be written down so that news is told. */
export interface Telling {
  readonly drafts: readonly Draft[];
  readonly notes: Notes;
  /** What every chat knows once that is written. */
  readonly waves: AllWaves;
}

/** The records of all news that is due. @param times epoch ms, and the longest that news may wait, ms */
export function tellDue(
  all: AllWaves,
  { now, groupWaitMs }: { readonly now: number; readonly groupWaitMs: number },
  speakerOf: (stamp: Stamp) => Speaker,
): Telling {
  // A clock that was set back must not make news wait for as long.
  const isDue = ({ dueAt }: News): boolean => dueAt <= now || dueAt > now + groupWaitMs;
  const drafts: Draft[] = [];
  const notes: Record<string, string | null> = {};
  const waves = new Map(all);
  for (const [sink, chat] of all) {
    const due = Object.entries(chat.news).filter(([, news]) => isDue(news));
    if (due.length === 0) continue;
    const rest = Object.fromEntries(Object.entries(chat.news).filter(([, news]) => !isDue(news)));
    for (const [id, news] of due) {
      const wave = chat.waves.find((each) => each.id === id);
      if (wave === undefined) continue;
      const record = waveRecord(wave, now, speakerOf({ instanceId: '', sequence: 0 }));
      notes[toldKey(sink, record.id)] = JSON.stringify(news.facts);
      const make: Draft['make'] = (stamp) => waveRecord(wave, now, speakerOf(stamp));
      drafts.push({ factId: null, urgent: news.urgent, to: [sink], make });
    }
    const after = { waves: chat.waves, news: rest };
    waves.set(sink, after);
    Object.assign(notes, noteOf(sink, after));
  }
  return { drafts, notes, waves };
}

type Stamp = Parameters<Draft['make']>[0];
