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
  const { waves, news } = before ?? noWaves;
  const folded = foldWave(waves, fact, now);
  if (!folded.changed) return before ?? noWaves;
  if (isTold) return { waves: folded.waves, news };
  const waiting = news[folded.waveId];
  const dueAt = urgent ? now : Math.min(waiting?.dueAt ?? now + groupWaitMs, now + groupWaitMs);
  const facts = [...(waiting?.facts ?? []), fact.record.id];
  const told: News = { dueAt, urgent: urgent || waiting?.urgent === true, facts };
  return { waves: folded.waves, news: { ...news, [folded.waveId]: told } };
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

/** The records of all news that is due. @param now epoch ms */
export function tellDue(all: AllWaves, now: number, speakerOf: (stamp: Stamp) => Speaker): Telling {
  const drafts: Draft[] = [];
  const notes: Record<string, string | null> = {};
  const waves = new Map(all);
  for (const [sink, chat] of all) {
    const due = Object.entries(chat.news).filter(([, { dueAt }]) => dueAt <= now);
    if (due.length === 0) continue;
    const rest = Object.fromEntries(Object.entries(chat.news).filter(([, { dueAt }]) => dueAt > now));
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
