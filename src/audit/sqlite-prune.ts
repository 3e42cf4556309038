// Drops the bodies of a SQLite trail whose time is over, a little at a time, unless a legal hold stands.
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { JournalFact } from '../core/journal.ts';
import { standingHolds } from '../core/legal-hold.ts';
import { rootOf } from '../core/tree.ts';
import { entryFrom } from './log-rows.ts';
import type { SqliteLog } from './sqlite-log.ts';
import type { PruneResult, StreamHead, Unavailable } from './store.ts';

// Bodies that go in one transaction: as many as fit into the time that a writer waits for the lock without noticing.
const sliceMs = 30;
const sliceLengths = { first: 250, min: 50, max: 2_000 };
// A writer that waits looks again every 25 ms; without a pause it would hardly ever find the file free.
const pauseMs = 50;
// Each refusal is a wait for the lock already.
const refusalsMax = 100;

/**
 * A row that only shrinks leaves its page where it is, nearly empty, and SQLite never fills it again. A row that gets
 * another rowid moves: what it leaves becomes free pages, which new entries fill (measured: 28,947 of 41,718). Rows
 * that were pruned lie one behind the other below zero, where no new entry comes. The file itself does not shrink: that
 * takes VACUUM while nobody writes, and keeping the file ready for less (`auto_vacuum`) took appends twice the time.
 */
const lowest = '(SELECT coalesce(max(rowid), -(1 << 52)) + 1 FROM entry WHERE rowid < 0)';

export type Pruned = Extract<JournalFact, { kind: 'pruned' }>;

/** What is needed for one slice, within a transaction that the caller owns. */
export interface Pruning {
  readonly database: DatabaseSync;
  readonly log: SqliteLog;
  /** Writes facts into the same transaction. */
  readonly journal: (facts: readonly JournalFact[]) => void;
}

type Slice = { readonly status: 'held'; readonly holds: readonly string[] } | Pruned | null;

/**
 * Prunes slice after slice, each with its fact in one transaction, so that a crash between two leaves nothing unsaid.
 * @param attempt runs one slice in a transaction
 */
export async function pruneSlices(
  attempt: (work: () => Slice) => Promise<Slice | Unavailable>,
  pruning: Pruning,
  { before, signal }: PruneOrder,
): Promise<PruneResult> {
  const bodies = new Map<string, number>();
  // What was deleted is overwritten, not only forgotten: it may have been deleted because nobody may read it any more.
  pruning.database.exec('PRAGMA secure_delete = ON');
  const progress: Progress = {
    before,
    reached: new Map(),
    length: sliceLengths.first,
    holds: openHolds(pruning.database),
  };
  for (let refused = 0; signal?.aborted !== true; ) {
    const startedAt = performance.now();
    const slice = await attempt(() => pruneSlice(pruning, progress));
    if (slice === null) break;
    if ('status' in slice) {
      if (slice.status === 'held' || slice.reason !== 'locked' || refused === refusalsMax) return slice;
      refused += 1;
    } else {
      refused = 0;
      const count = slice.to - slice.from + 1;
      bodies.set(slice.stream, (bodies.get(slice.stream) ?? 0) + count);
      if (count === progress.length) await delay(pauseMs);
      progress.length = nextLength(progress.length, performance.now() - startedAt - pauseMs);
    }
  }
  const streams = [...bodies].map(([stream, count]) => ({ stream, bodies: count }));
  return { status: 'pruned', streams };
}

/** What is to go. */
export interface PruneOrder {
  /** Epoch ms. */
  readonly before: number;
  readonly signal: AbortSignal | undefined;
}

const nextLength = (length: number, tookMs: number): number =>
  tookMs > sliceMs
    ? Math.max(sliceLengths.min, Math.floor(length / 2))
    : Math.min(sliceLengths.max, Math.ceil(length * 1.25));

interface Progress {
  readonly before: number;
  /** By stream, where the next slice begins: what was pruned is not looked through again for each slice. */
  readonly reached: Map<string, number>;
  readonly holds: () => readonly string[];
  /** How many bodies the next slice may take. */
  length: number;
}

function pruneSlice({ database, log, journal }: Pruning, progress: Progress): Slice {
  const holds = progress.holds();
  if (holds.length > 0) return { status: 'held', holds };
  for (const head of log.heads()) {
    const fact = head.kind === 'hub' ? pruneStream(database, log.idOf(head.name), head, progress) : null;
    if (fact === null) continue;
    journal([fact]);
    return fact;
  }
  return null;
}

function pruneStream(
  database: DatabaseSync,
  id: number,
  head: StreamHead,
  { before, reached, length }: Progress,
): Pruned | null {
  const number = (sql: string, ...given: number[]): number | null => {
    const value = database.prepare(sql).get(...given)?.['value'];
    return typeof value === 'number' ? value : null;
  };
  const from = number(
    'SELECT idx AS value FROM entry WHERE stream = ? AND idx >= ? AND body IS NOT NULL ORDER BY idx LIMIT 1',
    ...[id, reached.get(head.name) ?? 0],
  );
  reached.set(head.name, from ?? head.size);
  if (from === null) return null;
  // The enqueued times of a partition may be a little out of order: what goes is what lies before the first young entry.
  const young = number(
    `SELECT idx AS value FROM entry WHERE stream = ? AND idx BETWEEN ? AND ? AND enqueued_ms >= ?
     ORDER BY idx LIMIT 1`,
    ...[id, from, from + length - 1, before],
  );
  const end = Math.min(young ?? head.size, from + length, head.size);
  if (end <= from) return null;
  const base = number(`SELECT ${lowest} AS value`);
  database
    .prepare(
      'UPDATE entry SET body = NULL, rowid = ?1 + idx - ?3 WHERE stream = ?2 AND idx >= ?3 AND idx < ?4',
    )
    .run(base, id, from, end);
  const root = Buffer.from(rootOf(head.tree)).toString('base64');
  return { kind: 'pruned', stream: head.name, from, to: end - 1, size: head.size, root };
}

/**
 * The legal holds that stand, asked for again and again: over all journals, because a hold does not end when the trail
 * begins a new one. Only what was written since the last time is read.
 */
function openHolds(database: DatabaseSync): () => readonly string[] {
  const journals = `trail JOIN stream ON stream.name = 'trail/' || trail.id || '/journal'`;
  const end = database.prepare(`SELECT number, size FROM ${journals} ORDER BY number DESC LIMIT 1`);
  const facts = database.prepare(
    `SELECT entry.* FROM ${journals} JOIN entry ON entry.stream = stream.id
     WHERE (number, idx) >= (?, ?)
       AND (instr(body, CAST('"kind":"held"' AS BLOB)) > 0 OR instr(body, CAST('"kind":"released"' AS BLOB)) > 0)
     ORDER BY number, idx`,
  );
  let [number, next, holds] = [0, 0, [] as string[]];
  return () => {
    const entries = facts.all(number, next).map(entryFrom);
    const said = entries.flatMap(({ body, enqueuedMs }) => (body === null ? [] : [{ body, enqueuedMs }]));
    holds = standingHolds(said, holds);
    const last = end.get();
    [number, next] = [Number(last?.['number'] ?? 0), Number(last?.['size'] ?? 0)];
    return holds;
  };
}
