// The trail in one SQLite file: the log, its projections and the position, moved together or not at all.
import type { DatabaseSync } from 'node:sqlite';
import { type JournalFact, journalEvent } from '../core/journal.ts';
import type { HubEvent } from '../core/leaf.ts';
import { sealEvent } from '../core/seal.ts';
import { localStreams } from '../core/stream.ts';
import { rootOf } from '../core/tree.ts';
import { transaction } from '../sqlite.ts';
import { beginningOf, growthOf, nothingAppended, oddities, positionOf, standsAt } from './growth.ts';
import { openProjector, type Projector } from './projector.ts';
import { checkProjections, rebuildProjections } from './rebuild.ts';
import { failureOf } from './sqlite-failure.ts';
import { openForWriting } from './sqlite-file.ts';
import { openLog, type SqliteLog } from './sqlite-log.ts';
import { pruneSlices } from './sqlite-prune.ts';
import type {
  AppendResult,
  Lease,
  SignHead,
  StreamHead,
  StreamPosition,
  TrailOptions,
  TrailStore,
  Unavailable,
} from './store.ts';
import { unvouched } from './vouching.ts';

export interface SqliteTrailOptions extends TrailOptions {
  /** SQLite's own limit on the size of the file, in pages of 4 KiB; none unless given. */
  readonly pagesMax?: number;
}

/**
 * Opens the trail at `path`, and makes it when there is none.
 * @throws TrailUnusable
 */
export function openSqliteTrail(path: string, options: SqliteTrailOptions = {}): TrailStore {
  const database = openForWriting(path);
  const { pagesMax, sign = null, now = Date.now } = options;
  if (pagesMax !== undefined) database.exec(`PRAGMA max_page_count = ${Math.trunc(pagesMax)}`);
  const log = openLog(database);
  const writing: Writing = { log, projector: openProjector(database, log), sign, now };
  const within = <Result>(work: () => Result): Promise<Result | Unavailable> =>
    guarded(() => transaction(database, work));
  if (sign !== null) signUnsigned(database, log, sign);
  return {
    trail: async () => {
      // Only a trail that is new needs the lock.
      const known = await guarded(() => log.known());
      if (known !== null && typeof known === 'object') return known;
      return known === null
        ? await within(() => ({ status: 'known', trail: log.trail() }))
        : { status: 'known', trail: known };
    },
    position: (stream) => guarded(() => ({ status: 'known', position: positionOf(log.head(stream)) })),
    heads: () => guarded(() => ({ status: 'known', heads: log.heads() })),
    append: (stream, at, events, facts = []) => within(() => append(writing, stream, at, { events, facts })),
    journal: (facts) =>
      within(() => {
        writeFacts(writing, facts);
        return { status: 'written' };
      }),
    seal: (at, sealed) => within(() => appendSeal(writing, at, sealed)),
    tail: (stream) => guarded(() => ({ status: 'known', tail: log.tail(stream) })),
    read: (stream, from, limit) =>
      guarded(() => ({ status: 'known', entries: log.read(stream, from, limit) })),
    renew: (fact) => within(() => renew(writing, fact)),
    prune: async (before, signal) => {
      const pruning = {
        database,
        log,
        journal: (facts: readonly JournalFact[]) => writeFacts(writing, facts),
      };
      return await pruneSlices(within, pruning, { before, signal });
    },
    rebuild: () => guarded(() => rebuildProjections(database, log)),
    check: () => guarded(() => checkProjections(database, log)),
    lead: async () => ({ status: 'leading', lease: lastingLease() }),
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

const lastingLease = (): Lease => ({
  lost: new AbortController().signal,
  [Symbol.asyncDispose]: async () => undefined,
});

/** Signs heads that nobody signed: of a trail that was kept without a key, or by a version that knew none. */
function signUnsigned(database: DatabaseSync, log: SqliteLog, sign: SignHead): void {
  const unsigned = () => log.heads().filter(({ note, size }) => note === null && size > 0);
  // Where a key signed before, somebody else took the note away, or added without one.
  if (unsigned().length === 0 || log.namesKeys()) return;
  try {
    transaction(database, () => {
      for (const { name, tree } of unsigned()) log.sign(name, sign(name, tree));
    });
  } catch (error) {
    // Somebody else is writing, or nobody can: the next append signs its head anyway.
    if (failureOf(error) === null) throw error;
  }
}

/** Turns the failures one must expect of a disk into results. */
async function guarded<Result>(work: () => Result): Promise<Result | Unavailable> {
  try {
    return work();
  } catch (error) {
    const reason = failureOf(error);
    if (reason === null) throw error;
    return { status: 'unavailable', reason };
  }
}

interface Writing {
  readonly log: SqliteLog;
  readonly projector: Projector;
  readonly sign: SignHead | null;
  readonly now: () => number;
}

interface Addition {
  readonly events: readonly HubEvent[];
  readonly facts: readonly JournalFact[];
}

function append(
  writing: Writing,
  name: string,
  at: StreamPosition,
  { events, facts }: Addition,
): AppendResult {
  const { log, projector, sign } = writing;
  const head = log.head(name);
  if (!standsAt(head, at)) return { status: 'moved', position: positionOf(head) };
  if (events.length === 0) {
    writeFacts(writing, facts);
    return { status: 'appended', position: at, counts: nothingAppended };
  }
  const growth = growthOf(name, head, events, sign);
  log.write(name, growth);
  const { counts, changes } = projector.project(growth.entries.map((entry) => ({ ...entry, stream: name })));
  const others = head.size === 0 ? log.heads().map((other) => other.name) : [];
  const began = head.size === 0 ? beginningOf(name, events, others) : [];
  const doubts = doubtsOf(writing, head);
  writeFacts(writing, [...doubts, ...began, ...facts, ...oddities(name, changes)]);
  return { status: 'appended', position: growth.position, counts };
}

/** What is gone on with although no key that signs now signed it. */
function doubtsOf({ log, sign }: Writing, head: StreamHead): JournalFact[] {
  const doubt = unvouched(head, sign);
  return doubt === null || (head.note === null && !log.namesKeys()) ? [] : [doubt];
}

function writeFacts(writing: Writing, facts: readonly JournalFact[]): void {
  if (facts.length === 0) return;
  const { log, sign, now } = writing;
  const { journal } = localStreams(log.trail());
  const head = log.head(journal);
  const events = [...doubtsOf(writing, head), ...facts].map((fact, offset) =>
    journalEvent(fact, head.size + offset, now()),
  );
  log.write(journal, growthOf(journal, head, events, sign));
}

function appendSeal(writing: Writing, at: StreamPosition, sealed: readonly StreamHead[]): AppendResult {
  const { log, sign, now } = writing;
  const { seal } = localStreams(log.trail());
  const head = log.head(seal);
  if (!standsAt(head, at)) return { status: 'moved', position: positionOf(head) };
  const heads = sealed.map(({ name, size, tree }) => ({ stream: name, size, root: rootOf(tree) }));
  const growth = growthOf(seal, head, [sealEvent({ at: now(), heads }, head.size)], sign);
  for (const each of sealed) log.pin(each);
  log.write(seal, growth);
  writeFacts(writing, doubtsOf(writing, head));
  return { status: 'appended', position: growth.position, counts: { ...nothingAppended, entries: 1 } };
}

function renew(writing: Writing, fact: JournalFact) {
  const before = writing.log.trail();
  if (fact.kind === 'restored' && fact.earlier !== before) return { status: 'known', trail: before } as const;
  const trail = writing.log.renew();
  writeFacts(writing, [fact]);
  return { status: 'known', trail } as const;
}
