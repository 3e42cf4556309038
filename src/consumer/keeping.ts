// Runs beside the reading what keeps the trail provable: its journal, its seals, its anchors; and closes them in order.
import type { TrailStore } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { JournalFact } from '../core/journal.ts';
import { parseVerifierKey, type VerifierKey } from '../core/signed-note.ts';
import type { Log } from '../log.ts';
import { version } from '../version.ts';
import { type Anchoring, type AnchorNews, openAnchoring } from './anchoring.ts';
import type { NamedAnchor } from './anchors/registry.ts';
import type { ArchiveOptions, ArchiveState } from './archiving.ts';
import { watchClock } from './clock-watch.ts';
import { type Copying, openCopying } from './copying.ts';
import { lastFact } from './journal-tail.ts';
import { type JournalWriter, openJournalWriter } from './journal-writer.ts';
import { within } from './limit.ts';
import type { Progress } from './progress.ts';
import { openSealer, type Sealer, type SealNews } from './sealer.ts';
import { changedSettings, type StartConditions } from './start-facts.ts';

/** What the keeping tells the program around it. */
export type KeepingNews =
  | {
      readonly kind: 'keeping';
      readonly signed: boolean;
      /** The names of the anchors. */
      readonly anchors: readonly string[];
      /** Whether a copy is kept. */
      readonly archived: boolean;
    }
  | { readonly kind: 'archive'; readonly copy: ArchiveState }
  | SealNews
  | AnchorNews;

export interface KeepingOptions extends StartConditions {
  readonly trail: TrailStore;
  readonly anchors: readonly NamedAnchor[];
  /** What is copied and where to; null when no copy is kept. */
  readonly archive: Pick<ArchiveOptions, 'settings' | 'openSource'> | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly progress: Progress;
  readonly tell: (news: KeepingNews) => void;
  /** Ends the run; what ends with it has to be over 10 s later. */
  readonly signal: AbortSignal;
}

export interface Keeping {
  /** Puts a fact into the journal, behind those that wait. */
  readonly addFact: (fact: JournalFact) => void;
  /** Before anything is read or written: whether the trail is the one that the anchors know. */
  begin(): Promise<void>;
  /** Runs everything beside `work`, and ends with it: the stop is journaled, sealed and anchored. */
  beside(work: () => Promise<void>): Promise<void>;
}

interface Parts extends KeepingOptions {
  readonly journal: JournalWriter;
  readonly sealer: Sealer;
  /** Null when no copy is kept. */
  readonly copying: Copying | null;
}

const copyMsMax = 30_000;
const retryMs = 5_000;
// What ends the process gives 10 s, and the reading may need most of them; a little is always tried.
const stopMsMax = 9_000;
const lastSealMsMax = 5_000;
const lastAnchorMsMax = 2_000;
const leastMs = 500;
const never = new AbortController().signal;

export function openKeeping(options: KeepingOptions): Keeping {
  const journal = openJournalWriter(options);
  let anchorings: readonly Anchoring[] = [];
  let sealedAt: number | null = null;
  const tell = (news: SealNews): void => {
    options.tell(news);
    if (news.kind !== 'seals' || news.sealedAt === sealedAt) return;
    sealedAt = news.sealedAt;
    for (const anchoring of anchorings) anchoring.wake();
  };
  const sealer = openSealer({ ...options, tell });
  const parts: Parts = { ...options, journal, sealer, copying: copyingOf(options) };
  return {
    addFact: (fact) => journal.add(fact),
    begin: async () => {
      anchorings = await begin(parts);
    },
    beside: async (work) => {
      const [over, ended] = [new AbortController(), new AbortController()];
      const loops = runLoops(parts, anchorings, over.signal);
      // It goes on to the end: the last seal is copied before it is anchored.
      const copied = parts.copying?.run(ended.signal) ?? Promise.resolve();
      using stop = openStopwatch(options);
      try {
        await work();
      } finally {
        over.abort();
        await within(options.clock, leastMs, never, () => loops);
        await end(parts, anchorings, stop.leftMs);
        ended.abort();
        await within(options.clock, leastMs, never, () => copied);
      }
    },
  };
}

/** Compares with what the anchors hold: what is signed from now on must not contradict it. */
async function begin(parts: Parts): Promise<readonly Anchoring[]> {
  const { trail, keys, anchors, journal, log, instance, tell } = parts;
  const names = anchors.map(({ name }) => name);
  tell({ kind: 'keeping', signed: keys.length > 0, anchors: names, archived: parts.archive !== null });
  if (keys.length === 0) log.warn({}, unsigned);
  const known = anchors.length === 0 ? [] : await keysOf(trail, keys);
  const prepare = (signal: AbortSignal): Promise<void> => bringCopy(parts, signal);
  const anchorings = anchors.map((anchor) => openAnchoring({ ...parts, ...anchor, keys: known, prepare }));
  if (anchorings.length > 0) await compareAll(parts, anchorings);
  journal.add({ kind: 'consumer-started', instance, version });
  return anchorings;
}

function copyingOf({ archive, clock, log, tell }: KeepingOptions): Copying | null {
  const onState = (copy: ArchiveState): void => tell({ kind: 'archive', copy });
  return archive && openCopying({ ...archive, clock, log, onState });
}

/** A copy that takes longer, as at first, does not hold up an anchor. */
async function bringCopy({ copying, clock }: Parts, signal: AbortSignal): Promise<void> {
  if (copying !== null) await within(clock, copyMsMax, signal, (stop) => copying.upToNow(stop));
}

/** Reading waits for this: an anchor has 10 s to answer, and the seals of a year are read in as many. */
async function compareAll({ log, signal }: Parts, anchorings: readonly Anchoring[]): Promise<void> {
  const compared = await Promise.all(anchorings.map((anchoring) => anchoring.compare(signal)));
  if (compared.includes(false) && !signal.aborted) log.warn({}, notCompared);
}

const unsigned =
  'nothing is signed, so the trail cannot prove that it is whole: "seb audit keygen" makes a key, and the setting signing.keyFile names it';
const notCompared =
  'not every anchor could be asked what it holds of this trail; each is asked again before it gets its next head';

/** The keys that sign now, and those that the journal says signed before: an anchor may hold a head from then. */
async function keysOf(trail: TrailStore, keys: readonly string[]): Promise<readonly VerifierKey[]> {
  const before = await lastFact(trail, 'keys-changed').catch(() => null);
  const earlier = before?.status === 'known' ? (before.fact?.keys ?? []) : [];
  return [...new Set([...keys, ...earlier])].flatMap((text) => {
    const parsed = parseVerifierKey(text);
    return parsed.status === 'parsed' ? [parsed.key] : [];
  });
}

async function runLoops(parts: Parts, anchorings: readonly Anchoring[], signal: AbortSignal): Promise<void> {
  const { journal, sealer, instance } = parts;
  const onJump = (byMs: number): void => journal.add({ kind: 'clock-jumped', instance, byMs });
  await Promise.all([
    journal.run(signal),
    sealer.run(signal),
    watchClock({ ...parts, onJump }, signal),
    addChangedSettings(parts, signal),
    ...anchorings.map((anchoring) => anchoring.run(signal)),
  ]);
}

/** As soon as the journal can be read: what it said last is what is compared with. */
async function addChangedSettings(parts: Parts, signal: AbortSignal): Promise<void> {
  const { trail, journal, clock } = parts;
  while (!signal.aborted) {
    const facts = await changedSettings(trail, parts).catch(() => null);
    if (facts !== null && !('status' in facts)) return journal.add(...facts);
    await clock.sleep(retryMs, signal);
  }
}

/** The stop itself is journaled, and then sealed, and that seal is anchored. */
async function end(
  { journal, sealer, instance, clock, log }: Parts,
  anchorings: readonly Anchoring[],
  leftMs: () => number,
): Promise<void> {
  journal.add({ kind: 'consumer-stopped', instance });
  let isSealed = false;
  await within(clock, Math.max(Math.min(lastSealMsMax, leftMs()), leastMs), never, async (stop) => {
    if ((await journal.flush(stop)) === 0) isSealed = await sealer.finish(stop);
  });
  if (!isSealed) {
    log.warn(
      {},
      'the end of this run is not sealed: the trail took nothing in time; the next run seals what stands there',
    );
    return;
  }
  await within(clock, Math.max(Math.min(lastAnchorMsMax, leftMs()), leastMs), never, async (stop) => {
    await Promise.all(anchorings.map((anchoring) => anchoring.finish(stop)));
    await journal.flush(stop);
  });
}

/** Measures from the moment that the run is told to end. */
function openStopwatch({ clock, signal }: KeepingOptions): Disposable & { readonly leftMs: () => number } {
  let sinceMs: number | null = null;
  const start = (): void => {
    sinceMs = clock.monotonic();
  };
  if (signal.aborted) start();
  signal.addEventListener('abort', start, { once: true });
  return {
    leftMs: () => stopMsMax - (sinceMs === null ? 0 : clock.monotonic() - sinceMs),
    [Symbol.dispose]: () => signal.removeEventListener('abort', start),
  };
}
