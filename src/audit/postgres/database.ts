// Connections to PostgreSQL: few, each wait bounded, each opened with the secret as it is then.
import type { Pool, PoolClient, QueryConfig, QueryResultRow } from 'pg';
import type { TrailSettings } from '../../config/consumer-trail.ts';
import type { Unavailable } from '../store.ts';
import { AddressUnusable, type PostgresPlace, readAddress } from './address.ts';
import { openSockets, poolConfig } from './connections.ts';
import { failureOf, TokenUnavailable } from './failure.ts';
import type { FetchToken } from './token.ts';

/** Settings of a trail in PostgreSQL. */
export type PostgresSettings = Extract<TrailSettings, { readonly type: 'postgres' }>;

/** One column's value is a number, a text, bytes, a truth or null. */
export type Row = Readonly<Record<string, unknown>>;

/** Asks one thing; several at once are sent without waiting for each other, and answered in their order. */
export type Ask = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** How a transaction may look and how long a statement in it may take. */
export interface TransactionKind {
  readonly mode?: 'READ COMMITTED' | 'REPEATABLE READ READ ONLY';
  readonly statementMs?: number;
  /** How long the server waits for the next statement. */
  readonly idleMs?: number;
}

export interface Database extends AsyncDisposable {
  /** Works in one transaction; whatever it throws rolls it back. */
  transact<Result>(work: (ask: Ask) => Promise<Result>, kind?: TransactionKind): Promise<Result>;
  /** A connection with an open transaction, until it is disposed of. */
  begin(kind?: TransactionKind): Promise<AsyncDisposable & { readonly ask: Ask }>;
  /** How the way there is protected. */
  readonly protection: PostgresPlace['protection'];
}

/** How long what is waited for, ms. */
export interface Waits {
  /** For a connection, a free one too. */
  readonly connectMs: number;
  readonly statementMs: number;
  /** For a row or lock that another transaction holds. */
  readonly lockMs: number;
  /** Beyond `statementMs`, for the answer of a server that was asked to give up by then and says nothing at all. */
  readonly answerMs: number;
}

const usualWaits: Waits = { connectMs: 10_000, statementMs: 15_000, lockMs: 10_000, answerMs: 5_000 };
// A program that died without a word must not keep everybody else waiting.
const idleTransactionMsMax = 30_000;

export interface DatabaseOptions {
  /** How many at a time. */
  readonly connectionsMax?: number;
  readonly waits?: Partial<Waits>;
}

/**
 * Opens a pool; nothing is connected yet.
 * @throws AddressUnusable, SecretUnreadable
 */
export async function openDatabase(
  settings: PostgresSettings,
  options: DatabaseOptions = {},
): Promise<Database> {
  const placeNow = (): PostgresPlace =>
    protectedPlace(settings, readAddress(settings.url.reveal(), settings.caFile));
  const place = placeNow();
  const { default: postgres } = await import('pg');
  const fetchToken = settings.identity ? (await import('./token.ts')).openTokens(settings.clientId) : null;
  const waits = { ...usualWaits, ...options.waits };
  const sockets = openSockets();
  const config = poolConfig(options.connectionsMax ?? 4, waits.connectMs);
  const pool = new postgres.Pool({ ...config, stream: sockets.open });
  // A connection that dies while nobody uses it is simply not there any more.
  pool.on('error', () => undefined);
  const shared: Shared = {
    pool,
    placeNow,
    fetchToken,
    waits,
  };
  return {
    protection: place.protection,
    transact: (work, kind = {}) => transact(shared, kind, work),
    begin: (kind = {}) => begin(shared, kind),
    [Symbol.asyncDispose]: async () => {
      await pool.end();
      await sockets.close();
    },
  };
}

function protectedPlace({ identity }: PostgresSettings, place: PostgresPlace): PostgresPlace {
  if (identity && place.protection === 'without TLS') {
    throw new AddressUnusable('trail.identity needs TLS: a token is never sent in plain');
  }
  return place;
}

interface Shared {
  readonly pool: Pool;
  readonly placeNow: () => PostgresPlace;
  readonly fetchToken: FetchToken | null;
  readonly waits: Waits;
}

async function connect({ pool, placeNow, fetchToken, waits }: Shared): Promise<PoolClient> {
  // The pool makes its next connection with what stands here now.
  if (pool.idleCount === 0) {
    const { host, port, user, database, password, ssl } = placeNow();
    // A function, so that the driver looks for a password nowhere else.
    const give = fetchToken === null ? async () => password ?? '' : () => passwordBy(fetchToken, waits);
    Object.assign(pool.options, { host, port, user, database, ssl, password: give });
  }
  return await pool.connect();
}

async function passwordBy(fetchToken: FetchToken, { connectMs }: Waits): Promise<string> {
  try {
    return await fetchToken(AbortSignal.timeout(connectMs));
  } catch {
    throw new TokenUnavailable('no token');
  }
}

/** In one request: what bounds the transaction, and that a commit which is answered is on disk. */
const beginning = (
  { mode = 'READ COMMITTED', idleMs = idleTransactionMsMax }: TransactionKind,
  { statementMs, lockMs }: Pick<Waits, 'statementMs' | 'lockMs'>,
): string => `
  BEGIN ISOLATION LEVEL ${mode};
  SET LOCAL statement_timeout = ${statementMs};
  SET LOCAL lock_timeout = ${lockMs};
  SET LOCAL idle_in_transaction_session_timeout = ${idleMs};
  SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`;

async function begin(shared: Shared, kind: TransactionKind) {
  const client = await connect(shared);
  const waits = {
    ...shared.waits,
    ...(kind.statementMs === undefined ? {} : { statementMs: kind.statementMs }),
  };
  const query_timeout = waits.statementMs + waits.answerMs;
  // An error of the connection also ends every question under way.
  const ignore = (): undefined => undefined;
  client.on('error', ignore);
  // Behind the statement that failed others fail because of it, and one of these may be heard of first.
  let failed: { readonly error: unknown } | null = null;
  const ask: Ask = async (text, values) => {
    const question: QueryConfig & { query_timeout: number } = { text, query_timeout };
    try {
      const { rows } = await client.query<QueryResultRow>(
        values === undefined ? question : { ...question, values: [...values] },
      );
      return rows;
    } catch (error) {
      failed ??= { error };
      throw failed.error;
    }
  };
  const leave = (isBroken: boolean): void => {
    client.off('error', ignore);
    client.release(isBroken);
  };
  try {
    await client.query({ text: beginning(kind, waits), query_timeout } as QueryConfig);
  } catch (error) {
    leave(true);
    throw error;
  }
  return { ask, leave, [Symbol.asyncDispose]: async () => leave(true) };
}

async function transact<Result>(
  shared: Shared,
  kind: TransactionKind,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const { ask, leave } = await begin(shared, kind);
  try {
    const result = await work(ask);
    await ask('COMMIT');
    leave(false);
    return result;
  } catch (error) {
    leave(!(await isRolledBack(ask, error)));
    throw error;
  }
}

/** Whether the connection is good for another transaction. One that did not answer is not asked again. */
async function isRolledBack(ask: Ask, error: unknown): Promise<boolean> {
  if (failureOf(error) === 'unreachable') return false;
  try {
    await ask('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

/** Turns what must be expected of a server into results. */
export async function guarded<Result>(work: () => Promise<Result>): Promise<Result | Unavailable> {
  try {
    return await work();
  } catch (error) {
    const reason = failureOf(error);
    if (reason === null) throw error;
    return { status: 'unavailable', reason };
  }
}
