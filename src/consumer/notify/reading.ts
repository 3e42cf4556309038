// Follows the streams of the trail, whoever writes them, and hands what is new to the teller.
import { setImmediate } from 'node:timers/promises';
import type { TrailStore } from '../../audit/store.ts';
import type { Clock } from '../../clock.ts';
import { streamKind } from '../../core/stream.ts';
import type { Bell } from './bell.ts';
import type { Positions } from './positions.ts';
import type { NoticesFault, TermBook } from './standing.ts';
import type { Teller } from './teller.ts';

export interface FollowOptions {
  readonly trail: TrailStore;
  /** The name of its journal. */
  readonly journal: string;
  readonly teller: Teller;
  readonly positions: Positions;
  /** Entries of each stream that were looked at. */
  readonly cursors: Map<string, number>;
  readonly book: TermBook;
  /** Is rung when something was stored here. */
  readonly bell: Bell;
  /** Wakes the loops of the sinks. */
  readonly ring: () => void;
  readonly clock: Clock;
}

const readAtOnce = 500;
// Another instance may have written: nobody says so.
const lookMs = 2_000;
// Batches may come by the dozen: one look is enough for those of a moment.
const pauseMs = 100;

/** Until the signal aborts. */
export async function followTrail(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { teller, book, bell, ring, clock } = options;
  while (!signal.aborted) {
    const fault = await look(options, signal);
    const isTold = teller.tellDue();
    book.fault = fault ?? (isTold ? null : 'outbox-unusable');
    ring();
    const waitMs = Math.min(Math.max(teller.dueAt() - clock.now(), 0), lookMs);
    await clock.sleep(pauseMs, signal);
    if (waitMs > pauseMs) await bell.wait(waitMs - pauseMs, signal);
  }
}

/** @returns why it could not be looked at, or told; null when all is told that stands there */
async function look(options: FollowOptions, signal: AbortSignal): Promise<NoticesFault> {
  const { trail, teller, positions, cursors, book } = options;
  const known = await trail.heads();
  if (known.status === 'unavailable') return known.reason;
  const hubs = known.heads.filter(({ name }) => streamKind(name) === 'hub');
  const behind = (): number => hubs.reduce((sum, { name, size }) => sum + size - (cursors.get(name) ?? 0), 0);
  book.behind = behind();
  for (const { name, size } of hubs) {
    const fault = await catchUp(options, { name, size }, signal);
    book.behind = behind();
    if (fault !== null || signal.aborted) return fault;
  }
  const journal = known.heads.find(({ name }) => name === options.journal);
  if (teller.dueAt() === Number.POSITIVE_INFINITY) {
    positions.mark({ cursors: new Map(cursors), journal: journal?.size ?? 0 });
  }
  return null;
}

/** Hands over what one stream has beyond its cursor. */
async function catchUp(
  { trail, teller, cursors }: FollowOptions,
  { name, size }: { readonly name: string; readonly size: number },
  signal: AbortSignal,
): Promise<NoticesFault> {
  for (let at = cursors.get(name) ?? 0; at < size && !signal.aborted; ) {
    const read = await trail.read(name, at, readAtOnce);
    if (read.status === 'unavailable') return read.reason;
    if (read.entries.length === 0) return null;
    const upTo = (read.entries.at(-1)?.index ?? at) + 1;
    if (!(await teller.take(name, read.entries, upTo))) return 'outbox-unusable';
    cursors.set(name, upTo);
    at = upTo;
    // A long way to go must not keep what is due from being told.
    if (!teller.tellDue()) return 'outbox-unusable';
    // Nor the others from having their turn.
    await setImmediate();
  }
  return null;
}
