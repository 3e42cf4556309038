// How the proofs of the trail stand: its seals, its anchors and its copy, folded from what the consumer tells.
import type { Clock } from '../clock.ts';
import type { ArchiveState } from './archiving.ts';
import type { ConsumerProgress } from './consumer.ts';

/** The keeping at one moment. */
export interface KeepingStanding {
  /** Whether somebody signs the heads. */
  readonly signed: boolean;
  readonly seals: SealStanding;
  /** By name, in the order of the settings. */
  readonly anchors: Readonly<Record<string, AnchorStanding>>;
  /** Null without a copy. */
  readonly archive: ArchiveStanding | null;
}

export interface SealStanding {
  /** Epoch ms of the last seal; null while none is known. */
  readonly sealedAt: number | null;
  /** Since the last seal; without one, since the run began. */
  readonly ageMs: number;
  /** Entries of all streams, and those that no seal has named yet. */
  readonly entries: number;
  readonly unsealed: number;
  /** For how long something that makes a seal due has been waiting; 0 when nothing waits. */
  readonly waitingMs: number;
}

export interface AnchorStanding {
  /** Epoch ms at which it last took a head; null when that is not known. */
  readonly anchoredAt: number | null;
  /** Since then; without it, since the run began. */
  readonly ageMs: number;
  /** Why it takes none; null when it does. */
  readonly fault: string | null;
  /** Attempts of this run that failed. */
  readonly failures: number;
}

export interface ArchiveStanding {
  readonly state: ArchiveState['state'] | 'opening';
  /** Why it does not go on; null when it does. */
  readonly fault: string | null;
  /** Since it was last complete; without that, since the run began. */
  readonly ageMs: number;
}

export interface KeepingBook {
  take(progress: ConsumerProgress): void;
  now(): KeepingStanding;
}

interface Book {
  signed: boolean;
  sealedAt: number | null;
  entries: number;
  unsealed: number;
  /** By the monotonic clock; null while nothing waits. */
  waitsSinceMs: number | null;
  readonly anchors: Map<string, { anchoredAt: number | null; fault: string | null; failures: number }>;
  archive: { state: ArchiveStanding['state']; fault: string | null; completeMs: number } | null;
}

export function openKeepingStanding(clock: Clock): KeepingBook {
  const opened = { at: clock.now(), ms: clock.monotonic() };
  const book: Book = {
    ...{ signed: false, sealedAt: null, entries: 0, unsealed: 0, waitsSinceMs: null },
    ...{ anchors: new Map(), archive: null },
  };
  return {
    take: (progress) => take(book, progress, clock, opened.ms),
    now: () => standingOf(book, clock, opened.at),
  };
}

function take(book: Book, progress: ConsumerProgress, clock: Clock, openedMs: number): void {
  if (progress.kind === 'keeping') {
    book.signed = progress.signed;
    for (const name of progress.anchors)
      book.anchors.set(name, { anchoredAt: null, fault: null, failures: 0 });
    if (progress.archived) book.archive = { state: 'opening', fault: null, completeMs: openedMs };
  } else if (progress.kind === 'seals') {
    const { sealedAt, entries, unsealed, waitingMs } = progress;
    const waitsSinceMs = waitingMs === null ? null : clock.monotonic() - waitingMs;
    Object.assign(book, { sealedAt, entries, unsealed, waitsSinceMs });
  } else if (progress.kind === 'anchor') {
    const { anchor, anchoredAt, fault, failures } = progress;
    book.anchors.set(anchor, { anchoredAt, fault, failures });
  } else if (progress.kind === 'archive') takeArchive(book, progress.copy, clock, openedMs);
}

function takeArchive(book: Book, copy: ArchiveState, clock: Clock, openedMs: number): void {
  const completeMs = copy.state === 'complete' ? clock.monotonic() : (book.archive?.completeMs ?? openedMs);
  const fault = copy.state === 'failing' ? copy.reason : null;
  book.archive = { state: copy.state, fault, completeMs };
}

function standingOf(book: Book, clock: Clock, openedAt: number): KeepingStanding {
  const { signed, sealedAt, entries, unsealed, waitsSinceMs, anchors, archive } = book;
  const [now, nowMs] = [clock.now(), clock.monotonic()];
  const since = (at: number | null): number => Math.max(now - (at ?? openedAt), 0);
  const waitingMs = waitsSinceMs === null ? 0 : nowMs - waitsSinceMs;
  return {
    signed,
    seals: { sealedAt, ageMs: since(sealedAt), entries, unsealed, waitingMs },
    anchors: Object.fromEntries(
      [...anchors].map(([name, each]) => [name, { ...each, ageMs: since(each.anchoredAt) }]),
    ),
    archive: archive && {
      ...{ state: archive.state, fault: archive.fault, ageMs: nowMs - archive.completeMs },
    },
  };
}
