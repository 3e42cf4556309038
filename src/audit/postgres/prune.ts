// Drops the bodies of a PostgreSQL trail whose time is over, a little at a time, unless a legal hold stands.
import type { JournalFact } from '../../core/journal.ts';
import { standingHolds } from '../../core/legal-hold.ts';
import { rootOf } from '../../core/tree.ts';
import type { PruneResult, Unavailable } from '../store.ts';
import type { Ask } from './database.ts';
import { headsOf, type LockedStream } from './log.ts';
import { inPieces } from './rows.ts';

/** Bodies that go in one transaction: whoever writes beside it waits no longer than that takes. */
const sliceLength = 1_000;
// Each refusal is a wait for the lock already.
const refusalsMax = 100;

type Slice = { readonly status: 'held'; readonly holds: readonly string[] } | Pruned | null;
type Pruned = Extract<JournalFact, { kind: 'pruned' }>;

/** What pruning needs of the store around it. */
export interface PruneSteps {
  readonly lock: (ask: Ask) => Promise<void>;
  /** Writes facts into the same transaction. */
  readonly facts: (ask: Ask, facts: readonly JournalFact[]) => Promise<void>;
}

/**
 * Prunes slice after slice, each with its fact in one transaction, so that a crash between two leaves nothing unsaid.
 * A role that is not in seb_pruner is refused by the database. The rows that are left behind are for autovacuum.
 * @param attempt runs one slice in a transaction
 */
export async function pruneSlices(
  attempt: (work: (ask: Ask) => Promise<Slice>) => Promise<Slice | Unavailable>,
  before: number,
  steps: PruneSteps,
): Promise<PruneResult> {
  const bodies = new Map<string, number>();
  // So that what was pruned is not looked through again for each slice.
  const reached = new Map<number, number>();
  for (let refused = 0; ; ) {
    const slice = await attempt((ask) => pruneSlice(ask, { before, reached }, steps));
    if (slice === null) break;
    if ('status' in slice) {
      if (slice.status === 'held' || slice.reason !== 'locked' || refused === refusalsMax) return slice;
      refused += 1;
    } else {
      refused = 0;
      bodies.set(slice.stream, (bodies.get(slice.stream) ?? 0) + slice.to - slice.from + 1);
    }
  }
  return { status: 'pruned', streams: [...bodies].map(([stream, count]) => ({ stream, bodies: count })) };
}

interface Progress {
  readonly before: number;
  /** By stream, where the next slice begins. */
  readonly reached: Map<number, number>;
}

async function pruneSlice(ask: Ask, progress: Progress, { lock, facts }: PruneSteps): Promise<Slice> {
  // A hold that is laid from now on waits until this slice is done.
  await lock(ask);
  const holds = await holdsOf(ask);
  if (holds.length > 0) return { status: 'held', holds };
  for (const locked of await headsOf(ask)) {
    const fact = locked.head.kind === 'hub' ? await pruneStream(ask, locked, progress) : null;
    if (fact === null) continue;
    await facts(ask, [fact]);
    progress.reached.set(locked.id, fact.from);
    return fact;
  }
  return null;
}

async function pruneStream(
  ask: Ask,
  { id, head }: LockedStream,
  { before, reached }: Progress,
): Promise<Pruned | null> {
  const number = async (question: string, ...given: readonly number[]): Promise<number | null> => {
    const [row] = await ask(question, given);
    return typeof row?.['value'] === 'number' ? row['value'] : null;
  };
  const from = await number(firstWithBody, id, reached.get(id) ?? 0);
  if (from === null) return null;
  // The enqueued times of a partition may be a little out of order: what goes is what lies before the first young entry.
  const young = await number(firstYoung, ...[id, from, from + sliceLength - 1, before]);
  const end = Math.min(young ?? head.size, from + sliceLength, head.size);
  if (end <= from) return null;
  await ask('UPDATE seb.entry SET body = NULL WHERE stream = $1 AND idx >= $2 AND idx < $3', [id, from, end]);
  const root = Buffer.from(rootOf(head.tree)).toString('base64');
  return { kind: 'pruned', stream: head.name, from, to: end - 1, size: head.size, root };
}

const firstWithBody = `
  SELECT idx AS value FROM seb.entry WHERE stream = $1 AND idx >= $2 AND body IS NOT NULL ORDER BY idx LIMIT 1`;
const firstYoung = `
  SELECT idx AS value FROM seb.entry WHERE stream = $1 AND idx BETWEEN $2 AND $3 AND enqueued_ms >= $4
  ORDER BY idx LIMIT 1`;

/** The legal holds that stand: over all journals, because a hold does not end when the trail begins a new one. */
async function holdsOf(ask: Ask): Promise<string[]> {
  const question = `
    SELECT enqueued_ms, body FROM seb.trail JOIN seb.stream ON stream.name = 'trail/' || trail.id || '/journal'
    JOIN seb.entry ON entry.stream = stream.id
    WHERE position('"kind":"held"'::bytea IN body) > 0 OR position('"kind":"released"'::bytea IN body) > 0
    ORDER BY trail.number, idx`;
  let holds: string[] = [];
  for await (const rows of inPieces(ask, question)) {
    const facts = rows.map((row) => ({
      enqueuedMs: Number(row['enqueued_ms']),
      body: row['body'] as Uint8Array,
    }));
    holds = standingHolds(facts, holds);
  }
  return holds;
}
