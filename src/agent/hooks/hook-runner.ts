// Runs the hooks of events: before they start, and after they are over.
import {
  eventOf,
  freshEntry,
  type HookEntry,
  reconciled,
  withDue,
  withEvent,
} from '../../core/hook-ledger.ts';
import {
  type Hook,
  type HookMoment,
  hooksFor,
  hooksOf,
  isComing,
  isDone,
  nextStep,
  preparation,
} from '../../core/hook-plan.ts';
import type { Sighting, Watch } from '../../core/watch.ts';
import type { Reaction } from '../reaction.ts';
import type { PreparationOf, ReactionRuntime } from '../reactions.ts';
import { type HookBook, openHookBook } from './hook-book.ts';
import { foreseeHooks } from './hook-foresight.ts';
import { type HookHands, openHookHands } from './hook-hands.ts';
import { hooksInFolder } from './hook-programs.ts';
import { takeStep } from './hook-steps.ts';

export interface HookRunner extends Reaction {
  readonly preparationOf: PreparationOf;
}

/** What running hooks works with. */
export interface HookTools extends ReactionRuntime {
  readonly book: HookBook;
  readonly hands: HookHands;
  /** All hooks that an event of this type may have, in order; the folder is looked at now. */
  readonly hooksOfType: (type: string) => readonly Hook[];
  /** The hooks of the file. */
  readonly configured: readonly Hook[];
}

export function openHookRunner(runtime: ReactionRuntime): HookRunner {
  const own = new AbortController();
  const signal = AbortSignal.any([runtime.signal, own.signal]);
  const { hooks, hooksDir } = runtime.settings;
  const configured = hooksOf(hooks);
  let watch: Watch | null = null;
  const goOn = (): void => {
    if (watch !== null) runDue(watch, tools);
  };
  const hands = openHookHands({ clock: runtime.clock, signal, freed: goOn });
  const book = openHookBook(runtime, () => hands.isIdle);
  let isMissed = false;
  const hooksOfType = (type: string): readonly Hook[] => {
    const found = hooksDir === undefined ? [] : hooksInFolder(hooksDir, type);
    const isMissing = found.some(({ refusal }) => refusal === 'missing');
    if (isMissing && !isMissed)
      runtime.log.warn({ hooksDir }, 'the folder of hooks is not there: hooks wait for it');
    isMissed = isMissing;
    return [...configured, ...found];
  };
  const tools: HookTools = { ...runtime, signal, book, hands, hooksOfType, configured };
  return {
    preparationOf: (key, seen) => preparationIn(key, seen, tools),
    foresee: (seen) => foreseeHooks(seen, tools),
    act: (seen, now) => {
      watch = seen;
      if (!book.open()) return;
      tidy(seen, now, book);
      goOn();
    },
    idle: () => hands.idle(),
    [Symbol.asyncDispose]: async () => {
      own.abort();
      await hands.empty();
    },
  };
}

// Only for whoever looks at the notes: an event that comes back after its end begins anew at any time.
const keepMs = 3_600_000;

/** Brings the ledger in line with what the watch remembers, and forgets what is long done. */
function tidy(watch: Watch, now: number, book: HookBook): void {
  for (const [key, entry] of book.entries()) {
    const mended = reconciled(entry, sightingIn(watch, key), now);
    if (mended !== entry) book.write(key, mended, []);
    else if (entry.doneAt !== null && now - entry.doneAt > keepMs) book.write(key, null, []);
  }
}

/** Takes the next step of every event that has one, those that start first before the others. */
function runDue(watch: Watch, tools: HookTools): void {
  const { hands, book } = tools;
  const keys = new Set([...Object.keys(watch.sightings), ...book.entries().map(([key]) => key)]);
  const moments = [...keys].flatMap((key) => {
    const moment = hands.has(key) ? null : momentOf(key, watch, tools);
    return moment === null ? [] : [{ key, moment }];
  });
  for (const { key, moment } of moments.toSorted((a, b) => dueAt(a.moment) - dueAt(b.moment))) {
    advance(key, moment, tools);
  }
}

// A Preempt gives half a minute of notice, everything else minutes.
const pressingMs = 120_000;

const dueAt = ({ entry }: HookMoment): number =>
  entry.ending === null && entry.event.notBefore !== null ? Date.parse(entry.event.notBefore) : Infinity;

function advance(key: string, from: HookMoment, tools: HookTools): void {
  const { book, hands, clock } = tools;
  const isPressing = dueAt(from) - clock.now() < pressingMs;
  for (
    let moment = from;
    hands.isOpen(isPressing);
    moment = { ...moment, entry: book.get(key) ?? moment.entry }
  ) {
    const step = nextStep(moment);
    if (step === null) {
      if (isDone(moment)) book.write(key, { ...moment.entry, doneAt: clock.now() }, []);
      return;
    }
    if (!takeStep(key, step, moment, tools)) return;
  }
}

/** How an event stands for its hooks; null when nothing can be due for it. */
function momentOf(key: string, watch: Watch, tools: HookTools): HookMoment | null {
  const { book } = tools;
  const sighting = sightingIn(watch, key);
  const known = book.get(key);
  if (known?.doneAt) return null;
  if (known === undefined && !isComing(sighting)) return null;
  const moment = momentWith(known, sighting, tools);
  if (moment === null || !isComing(sighting)) return moment;
  const prepares = hooksFor('prepare', moment);
  if (known === undefined && prepares.length === 0) return null;
  // Of a folder that is not there nobody knows what it holds.
  const entry = withDue(
    moment.entry,
    prepares.filter(({ refusal }) => refusal !== 'missing'),
  );
  book.put(key, entry);
  return { ...moment, entry };
}

function momentWith(
  known: HookEntry | undefined,
  sighting: Sighting | undefined,
  { hooksOfType, observer, clock }: HookTools,
): HookMoment | null {
  const event = sighting === undefined ? known?.event : eventOf(sighting);
  if (event === undefined) return null;
  const entry = known === undefined ? freshEntry(event) : withEvent(known, event);
  const hooks = hooksOfType(event.eventType);
  return { entry, sighting, hooks, observer: observer.current(), now: clock.now() };
}

function preparationIn(key: string, watch: Watch, tools: HookTools): ReturnType<PreparationOf> {
  const sighting = sightingIn(watch, key);
  if (sighting === undefined) return 'none';
  if (!tools.book.open()) return 'pending';
  const moment = momentWith(tools.book.get(key), sighting, tools);
  return moment === null ? 'none' : preparation(moment);
}

const sightingIn = ({ sightings }: Watch, key: string): Sighting | undefined =>
  Object.hasOwn(sightings, key) ? sightings[key] : undefined;
