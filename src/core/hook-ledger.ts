// What is remembered of an event's hooks beyond the end of the process: each is begun at most once.
import type { HookOutcome, HookPhase } from './deed.ts';
import { endingOf, type ScheduledEvent } from './document.ts';
import type { Observation, Sighting } from './watch.ts';

/** What an outbox keeps them under: this, and the key of the event. */
export const hookNotePrefix = 'deed/hook/';

/** How one hook stands. `due`: it is to be run for this event, and was not begun. */
export interface HookState {
  readonly phase: HookPhase;
  /** The path of its program. */
  readonly hook: string;
  readonly outcome: HookOutcome | 'due';
  /** Epoch ms; null before. */
  readonly startedAt: number | null;
  readonly timeoutMs: number | null;
}

/** One life of an event: one that comes back after its end begins another. */
export interface HookEntry {
  readonly life: number;
  /** As last seen, with the last `notBefore` known. */
  readonly event: ScheduledEvent;
  /** `unseen`: it is over, and nobody here saw how it ended. */
  readonly ending: 'completed' | 'canceled' | 'unseen' | null;
  /** When that was noticed, epoch ms. */
  readonly endedAt?: number;
  /** By the id of the hook. */
  readonly hooks: Readonly<Record<string, HookState>>;
  /** When the last recover had ended, epoch ms; null before. */
  readonly doneAt: number | null;
}

/** Reads an entry back. @returns null for what is none: another version may have written it */
export function readEntry(text: string): HookEntry | null {
  const entry = JSON.parse(text) as Partial<HookEntry> | null;
  const isWhole =
    typeof entry?.life === 'number' &&
    typeof entry.event?.eventId === 'string' &&
    typeof entry.hooks === 'object' &&
    entry.hooks !== null;
  return isWhole ? (entry as HookEntry) : null;
}

/** An event of which nothing was begun. @param before what is known of its life before this one */
export const freshEntry = (event: ScheduledEvent, before?: HookEntry): HookEntry => ({
  ...{ life: (before?.life ?? 0) + 1, event, ending: null, hooks: {}, doneAt: null },
});

/** The event as a record says it: Azure blanks `notBefore` once it has started. */
export const eventOf = ({ event, notBefore }: Pick<Sighting, 'event' | 'notBefore'>): ScheduledEvent => ({
  ...event,
  notBefore: event.notBefore ?? notBefore,
});

/** The event as it is now, where that is news. */
export function withEvent(entry: HookEntry, event: ScheduledEvent): HookEntry {
  return JSON.stringify(entry.event) === JSON.stringify(event) ? entry : { ...entry, event };
}

/**
 * What an observation means for the hooks of its event, to be written down together with it.
 * @param wanted whether there may be a recover for an event of which nothing is known yet
 * @returns undefined when it means nothing
 */
export function foreseen(
  entry: HookEntry | undefined,
  { kind, event, sighting, at }: Observation,
  wanted: boolean,
): HookEntry | undefined {
  const seen = eventOf({ event, notBefore: sighting.notBefore });
  if (kind !== 'completed' && kind !== 'canceled') {
    return entry === undefined || entry.ending === null ? undefined : freshEntry(seen, entry);
  }
  if (entry?.ending) return undefined;
  if (entry === undefined && !wanted) return undefined;
  return { ...withEvent(entry ?? freshEntry(seen), seen), ending: kind, endedAt: at };
}

/**
 * Mends what was not foreseen, because the hooks were not there then or the memory of the watch was lost.
 * @param sighting what the watch remembers; undefined when the event is gone
 * @param now epoch ms
 * @returns the entry itself when nothing is to be mended
 */
export function reconciled(entry: HookEntry, sighting: Sighting | undefined, now: number): HookEntry {
  if (sighting === undefined) {
    return entry.ending === null ? { ...entry, ending: 'unseen', endedAt: now } : entry;
  }
  const isBack = entry.ending !== null && endingOf(sighting.event) === null && sighting.absence === undefined;
  return isBack ? freshEntry(eventOf(sighting), entry) : entry;
}

/** How the event ended, as far as somebody saw it. */
export const seenEnding = ({ ending }: HookEntry): 'completed' | 'canceled' | null =>
  ending === 'unseen' ? null : ending;

export const stateOf = ({ hooks }: HookEntry, id: string): HookState | undefined =>
  Object.hasOwn(hooks, id) ? hooks[id] : undefined;

export const withState = (entry: HookEntry, id: string, state: HookState): HookEntry => ({
  ...entry,
  hooks: { ...entry.hooks, [id]: state },
});

/** Says of these that they are to be run, where nothing is known of them. */
export function withDue(
  entry: HookEntry,
  hooks: readonly { readonly id: string; readonly phase: HookPhase; readonly command: readonly string[] }[],
): HookEntry {
  const fresh = hooks.filter(({ id }) => stateOf(entry, id) === undefined);
  if (fresh.length === 0) return entry;
  const due = fresh.map(({ id, phase, command: [hook = ''] }) => {
    const state: HookState = { phase, hook, outcome: 'due', startedAt: null, timeoutMs: null };
    return [id, state] as const;
  });
  return { ...entry, hooks: { ...entry.hooks, ...Object.fromEntries(due) } };
}

/** Those that were begun, and whose end nobody wrote down, by id. */
export const openHooks = ({ hooks }: HookEntry): readonly (readonly [string, HookState])[] =>
  Object.entries(hooks).filter(([, { outcome }]) => outcome === 'started');
