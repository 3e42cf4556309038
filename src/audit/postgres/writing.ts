// What one transaction of a PostgreSQL trail writes: entries, everything derived from them, facts and seals.
import { type JournalFact, journalEvent } from '../../core/journal.ts';
import type { HubEvent } from '../../core/leaf.ts';
import { sealEvent } from '../../core/seal.ts';
import { localStreams } from '../../core/stream.ts';
import { rootOf } from '../../core/tree.ts';
import { beginningOf, growthOf, nothingAppended, oddities, positionOf, standsAt } from '../growth.ts';
import type { AppendResult, SignHead, StreamHead, StreamPosition } from '../store.ts';
import { unvouched } from '../vouching.ts';
import type { Ask } from './database.ts';
import { lockStream, namesKeys, newTrailId, pinNotes, trailId, writeGrowth } from './log.ts';
import { project } from './projector.ts';
import { writingLock } from './roles.ts';

/** Who signs, and the time. */
export interface Writing {
  readonly sign: SignHead | null;
  readonly now: () => number;
}

/** Carries a result out of a transaction that must not be committed. */
export class Left extends Error {
  readonly result: AppendResult;

  constructor(result: AppendResult) {
    super('left');
    this.result = result;
  }
}

/**
 * Waits for everybody else who writes projections or journal, until the transaction ends.
 *
 * Rows of agents, events and journal are shared by all partitions. Locked one by one they would have to be locked in
 * one order, those that are not there yet cannot be locked at all, and what was read of them would have to be read
 * again. One lock for all, taken after the stream's row and never before it, makes a deadlock impossible and a batch
 * read what the last one wrote. Entries are written before it is taken: most of the bytes go in side by side.
 */
export async function lockWriting(ask: Ask): Promise<void> {
  await ask(`SELECT pg_advisory_xact_lock(${writingLock})`);
}

/** What comes to a stream. */
export interface Addition {
  readonly stream: string;
  readonly at: StreamPosition;
  readonly events: readonly HubEvent[];
  readonly facts: readonly JournalFact[];
}

export async function append(writing: Writing, ask: Ask, addition: Addition): Promise<AppendResult> {
  const { stream, at, events, facts } = addition;
  const { id, head } = await lockStream(ask, stream);
  if (!standsAt(head, at)) throw new Left({ status: 'moved', position: positionOf(head) });
  if (events.length === 0) {
    await lockWriting(ask);
    await writeFacts(writing, ask, facts);
    return { status: 'appended', position: at, counts: nothingAppended };
  }
  const doubts = await doubtsOf(writing, ask, head);
  const growth = growthOf(stream, head, events, writing.sign);
  const placed = growth.entries.map((entry) => ({ ...entry, stream }));
  // Sent in this order, without waiting in between.
  const [, , { changes, names }] = await Promise.all([
    writeGrowth(ask, id, growth),
    lockWriting(ask),
    project(ask, placed),
  ]);
  const began = head.size === 0 ? beginningOf(stream, events, [...names.values()]) : [];
  await writeFacts(writing, ask, [...doubts, ...began, ...facts, ...oddities(stream, changes)]);
  return { status: 'appended', position: growth.position, counts: changes.counts };
}

/** What is gone on with although no key that signs now signed it. */
async function doubtsOf({ sign }: Writing, ask: Ask, head: StreamHead): Promise<JournalFact[]> {
  const doubt = unvouched(head, sign);
  return doubt === null || (head.note === null && !(await namesKeys(ask))) ? [] : [doubt];
}

/** The caller holds the writing lock. */
export async function writeFacts(writing: Writing, ask: Ask, facts: readonly JournalFact[]): Promise<void> {
  if (facts.length === 0) return;
  const { sign, now } = writing;
  const { journal } = localStreams(await trailId(ask));
  const { id, head } = await lockStream(ask, journal);
  const doubts = await doubtsOf(writing, ask, head);
  const events = [...doubts, ...facts].map((fact, offset) => journalEvent(fact, head.size + offset, now()));
  await writeGrowth(ask, id, growthOf(journal, head, events, sign));
}

export async function appendSeal(
  writing: Writing,
  ask: Ask,
  at: StreamPosition,
  sealed: readonly StreamHead[],
): Promise<AppendResult> {
  const { sign, now } = writing;
  // Also against a renewal meanwhile: the seals of a trail that ended stay as they are.
  const { seal } = localStreams(await lockedTrail(ask));
  const { id, head } = await lockStream(ask, seal);
  if (!standsAt(head, at)) throw new Left({ status: 'moved', position: positionOf(head) });
  const heads = sealed.map(({ name, size, tree }) => ({ stream: name, size, root: rootOf(tree) }));
  const growth = growthOf(seal, head, [sealEvent({ at: now(), heads }, head.size)], sign);
  const doubts = await doubtsOf(writing, ask, head);
  await Promise.all([pinNotes(ask, sealed), writeGrowth(ask, id, growth)]);
  await writeFacts(writing, ask, doubts);
  return { status: 'appended', position: growth.position, counts: { ...nothingAppended, entries: 1 } };
}

export async function lockedTrail(ask: Ask): Promise<string> {
  await lockWriting(ask);
  return await trailId(ask);
}

export async function renew(writing: Writing, ask: Ask, fact: JournalFact) {
  const before = await lockedTrail(ask);
  if (fact.kind === 'restored' && fact.earlier !== before) return { status: 'known', trail: before } as const;
  const trail = await newTrailId(ask);
  await writeFacts(writing, ask, [fact]);
  return { status: 'known', trail } as const;
}
