// The trail in PostgreSQL, which several consumers share: log, projections and position move together or not at all.
import type { JournalFact } from '../../core/journal.ts';
import { positionOf } from '../growth.ts';
import { entryFrom } from '../log-rows.ts';
import type { AppendResult, LeadResult, SignHead, TrailOptions, TrailStore, Unavailable } from '../store.ts';
import {
  type Ask,
  type Database,
  guarded,
  openDatabase,
  type PostgresSettings,
  type Waits,
} from './database.ts';
import { failureOf } from './failure.ts';
import { takeLease } from './lease.ts';
import { currentTrail, entryColumns, headOf, headsOf, signUnsigned, tailOf } from './log.ts';
import { prepareTables } from './prepare.ts';
import { pruneSlices } from './prune.ts';
import { bringProjections, checkProjections, rebuildProjections } from './rebuild.ts';
import { unusable } from './unusable.ts';
import {
  append,
  appendSeal,
  Left,
  lockedTrail,
  lockWriting,
  renew,
  type Writing,
  writeFacts,
} from './writing.ts';

export interface PostgresTrailOptions extends TrailOptions {
  readonly waits?: Partial<Waits>;
}

// These pass by themselves: a consumer that starts while its database does need not be started again.
const passing = ['unreachable', 'locked', 'disk-full', 'read-only'];

/**
 * Opens the trail, and makes its tables where there are none. A server that cannot be reached now is no fault:
 * every call asks it anew, and says `unreachable` until it answers.
 * @throws TrailUnusable
 */
export async function openPostgresTrail(
  settings: PostgresSettings,
  options: PostgresTrailOptions = {},
): Promise<TrailStore> {
  const database = await opening(() => openDatabase(settings, options));
  const { sign = null, now = Date.now } = options;
  let prepared = false;
  const prepare = async (): Promise<void> => {
    if (prepared) return;
    await prepareTables(database);
    await bringProjections(database, lockWriting);
    if (sign !== null) await database.transact((ask) => signFirst(ask, sign));
    prepared = true;
  };
  try {
    await prepare();
  } catch (error) {
    if (!passing.includes(failureOf(error) ?? 'bug')) {
      await database[Symbol.asyncDispose]();
      throw unusable(error);
    }
  }
  const ready = <Result>(work: () => Promise<Result>): Promise<Result | Unavailable> =>
    guarded(async () => {
      await prepare();
      return await work();
    });
  const { waits } = options;
  return storeOf(database, { sign, now }, ready, (name) =>
    takeLease(settings, name, waits === undefined ? {} : { waits }),
  );
}

async function signFirst(ask: Ask, sign: SignHead): Promise<void> {
  await lockWriting(ask);
  await signUnsigned(ask, sign);
}

async function opening<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    throw unusable(error);
  }
}

type Ready = <Result>(work: () => Promise<Result>) => Promise<Result | Unavailable>;

function storeOf(
  database: Database,
  writing: Writing,
  ready: Ready,
  lead: (name: string) => Promise<LeadResult>,
): TrailStore {
  const within = <Result>(work: (ask: Ask) => Promise<Result>): Promise<Result | Unavailable> =>
    ready(() => database.transact(work));
  const facts = (ask: Ask, given: readonly JournalFact[]): Promise<void> => writeFacts(writing, ask, given);
  return {
    trail: () =>
      within(async (ask) => ({
        status: 'known',
        trail: (await currentTrail(ask)) ?? (await lockedTrail(ask)),
      })),
    position: (stream) =>
      within(async (ask) => ({ status: 'known', position: positionOf(await headOf(ask, stream)) })),
    heads: () =>
      within(async (ask) => ({ status: 'known', heads: (await headsOf(ask)).map(({ head }) => head) })),
    append: (stream, at, events, given = []) =>
      leaving(within, (ask) => append(writing, ask, { stream, at, events, facts: given })),
    journal: (given) =>
      within(async (ask) => {
        await lockWriting(ask);
        await facts(ask, given);
        return { status: 'written' };
      }),
    seal: (at, sealed) => leaving(within, (ask) => appendSeal(writing, ask, at, sealed)),
    tail: (stream) => within(async (ask) => ({ status: 'known', tail: await tailOf(ask, stream) })),
    read: (stream, from, limit) =>
      within(async (ask) => ({ status: 'known', entries: await read(ask, stream, from, limit) })),
    renew: (fact) => within((ask) => renew(writing, ask, fact)),
    prune: (before) => pruneSlices(within, before, { lock: lockWriting, facts }),
    rebuild: () => ready(() => rebuildProjections(database, lockWriting)),
    check: () => ready(() => checkProjections(database)),
    lead: (name) => ready(() => lead(name)),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function leaving(
  within: (work: (ask: Ask) => Promise<AppendResult>) => Promise<AppendResult | Unavailable>,
  work: (ask: Ask) => Promise<AppendResult>,
): Promise<AppendResult> {
  try {
    return await within(work);
  } catch (error) {
    if (error instanceof Left) return error.result;
    throw error;
  }
}

async function read(ask: Ask, name: string, from: number, limit: number) {
  const rows = await ask(
    `SELECT ${entryColumns} FROM seb.entry WHERE stream = (SELECT id FROM seb.stream WHERE name = $1)
       AND idx >= $2 ORDER BY idx LIMIT $3`,
    [name, from, limit],
  );
  return rows.map(entryFrom);
}
