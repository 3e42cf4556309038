// Seals the heads of all streams: every 30 s when something came, hourly when nothing did, one seal for all instances.
import type { StreamHead, TrailStore, Unavailable, UnavailableReason } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import { type JournalKind, journalEntryOf } from '../core/journal.ts';
import { localStreams } from '../core/stream.ts';
import type { Log } from '../log.ts';
import type { Progress } from './progress.ts';
import { openAge } from './rhythm.ts';
import { followSeals, type Sealed } from './sealed-sizes.ts';

/** How the seals stand, after a look at them. */
export type SealNews =
  | {
      readonly kind: 'seals';
      /** Epoch ms of the last seal, whoever made it; null while there is none. */
      readonly sealedAt: number | null;
      /** Entries of all streams but the seals themselves. */
      readonly entries: number;
      /** Those that no seal has named yet. */
      readonly unsealed: number;
      /** For how long something that makes a seal due has been waiting; null when nothing waits. */
      readonly waitingMs: number | null;
    }
  | { readonly kind: 'seals-unreadable'; readonly reason: UnavailableReason };

export interface SealerOptions {
  readonly trail: TrailStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly progress: Progress;
  readonly tell: (news: SealNews) => void;
}

export interface Sealer {
  /** Until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Seals what is not sealed, now; for the end of a run. @returns whether all is sealed */
  finish(signal: AbortSignal): Promise<boolean>;
}

const sealIntervalMs = 30_000;
const idleIntervalMs = 3_600_000;
// Reads and one transaction; a shared store answers or gives up within seconds.
const sealMsMax = 30_000;
const retryMs = 5_000;
const hurryMs = 100;

/**
 * That an anchor took a seal is written into the journal, and the journal is sealed: if that alone were news, each seal
 * would be anchored, each anchoring journaled, and each fact sealed, for ever. Such facts wait for the next seal.
 */
const quietKinds: ReadonlySet<JournalKind> = new Set(['anchored', 'anchor-failed']);
// So much that is quiet does not come between two seals.
const quietMax = 1_000;

interface Look {
  readonly status: 'looked';
  readonly sealed: Sealed;
  readonly heads: readonly StreamHead[];
  /** Heads that the seals do not name as they stand. */
  readonly changed: readonly StreamHead[];
  /** Whether a seal is due for them before the hour. */
  readonly isNews: boolean;
}

export function openSealer(options: SealerOptions): Sealer {
  const { clock, progress } = options;
  const look = openLook(options.trail);
  const ageOf = openAge(clock);
  const report = openReport(options);
  // Why the store did not take the last seal; null when it did.
  let refused: UnavailableReason | null = null;

  /** Seals if it is time. @returns how long to wait */
  const turn = async (): Promise<number> => {
    const seen = await look();
    report(seen, refused);
    if (seen.status === 'unavailable') return retryMs;
    const { sealed, isNews } = seen;
    const ageMs = ageOf(markOf(sealed));
    const limitMs = isNews ? sealIntervalMs : idleIntervalMs;
    if (sealed.last !== null && ageMs < limitMs) return Math.min(limitMs - ageMs, sealIntervalMs);
    refused = await attempt(options.trail, seen);
    report(await look(), refused);
    return refused === null ? sealIntervalMs : retryMs;
  };

  return {
    run: async (signal) => {
      while (!signal.aborted) {
        progress.promise('seal', sealMsMax);
        const waitMs = await turn();
        progress.promise('seal', waitMs + sealMsMax);
        await clock.sleep(waitMs, signal);
      }
      progress.done('seal');
    },
    finish: async (signal) => {
      while (!signal.aborted) {
        const seen = await look();
        if (seen.status === 'looked' && !seen.isNews) return true;
        const isTaken = seen.status === 'looked' && (await attempt(options.trail, seen)) === null;
        if (!isTaken) await clock.sleep(hurryMs, signal);
      }
      return false;
    },
  };
}

const markOf = ({ last }: Sealed) => ({ size: (last?.index ?? -1) + 1, at: last?.enqueuedMs ?? 0 });

/** @returns looks at the streams and at what the seals say of them */
function openLook(trail: TrailStore): () => Promise<Look | Unavailable> {
  let current = '';
  let follow: () => Promise<Sealed | Unavailable> = async () => ({
    status: 'unavailable',
    reason: 'unexpected',
  });
  const inner = async (): Promise<Look | Unavailable> => {
    const known = await trail.trail();
    if (known.status === 'unavailable') return known;
    const { seal, journal } = localStreams(known.trail);
    if (current !== seal) [current, follow] = [seal, followSeals(trail, seal)];
    const sealed = await follow();
    if (sealed.status === 'unavailable') return sealed;
    // Behind the position: a head that moves meanwhile is in this seal or in the next one, never in none.
    const read = await trail.heads();
    if (read.status === 'unavailable') return read;
    const heads = read.heads.filter(({ name, size }) => name !== seal && size > 0);
    const changed = heads.filter(({ name, size }) => size !== sealed.sizeOf(name));
    const news = await isNews(trail, journal, changed, sealed);
    return typeof news === 'boolean' ? { status: 'looked', sealed, heads, changed, isNews: news } : news;
  };
  // A store that throws has a bug, and sealing goes on when it no longer does.
  return () => inner().catch(() => ({ status: 'unavailable', reason: 'unexpected' }));
}

async function isNews(
  trail: TrailStore,
  journal: string,
  changed: readonly StreamHead[],
  sealed: Sealed,
): Promise<boolean | Unavailable> {
  if (changed.some(({ name }) => name !== journal)) return true;
  if (changed.length === 0) return false;
  const read = await trail.read(journal, sealed.sizeOf(journal), quietMax);
  if (read.status === 'unavailable') return read;
  return read.entries.length === quietMax || read.entries.some((entry) => !isQuiet(entry));
}

function isQuiet({ body, enqueuedMs }: { readonly body: Uint8Array | null; readonly enqueuedMs: number }) {
  const fact = body === null ? null : journalEntryOf({ body, enqueuedMs });
  return fact !== null && quietKinds.has(fact.kind);
}

/** One seal. Another instance that was quicker has sealed for all: that is no failure. @returns why the store does not take it */
async function attempt(
  trail: TrailStore,
  { sealed: { last }, changed }: Look,
): Promise<UnavailableReason | null> {
  const at =
    last === null
      ? { size: 0, lastSequenceNumber: -1 }
      : { size: last.index + 1, lastSequenceNumber: last.sequenceNumber };
  const unforeseen = { status: 'unavailable', reason: 'unexpected' } as const;
  const result = await trail.seal(at, changed).catch(() => unforeseen);
  return result.status === 'unavailable' ? result.reason : null;
}

/** @returns tells of each look, and logs when sealing stops and goes on */
function openReport({ log, clock, tell }: SealerOptions) {
  let fault: UnavailableReason | null = null;
  let waiting: { readonly size: number; readonly sinceMs: number } | null = null;
  const waitingMs = ({ sealed, isNews }: Look): number | null => {
    const { size } = markOf(sealed);
    if (!isNews) waiting = null;
    else if (waiting?.size !== size) waiting = { size, sinceMs: clock.monotonic() };
    return waiting === null ? null : clock.monotonic() - waiting.sinceMs;
  };
  return (seen: Look | Unavailable, refused: UnavailableReason | null): void => {
    const reason = seen.status === 'unavailable' ? seen.reason : refused;
    if (reason !== null && fault === null)
      log.warn({ reason }, 'nothing is sealed: the trail cannot be used');
    if (reason === null && fault !== null) log.info({ after: fault }, 'the trail is sealed again');
    fault = reason;
    if (seen.status === 'unavailable') tell({ kind: 'seals-unreadable', reason: seen.reason });
    else tell({ kind: 'seals', ...countsOf(seen), waitingMs: waitingMs(seen) });
  };
}

function countsOf({ sealed, heads }: Look) {
  const sum = (countOf: (head: StreamHead) => number): number =>
    heads.reduce((total, head) => total + countOf(head), 0);
  return {
    sealedAt: sealed.last?.enqueuedMs ?? null,
    entries: sum(({ size }) => size),
    unsealed: sum(({ name, size }) => Math.max(size - sealed.sizeOf(name), 0)),
  };
}
