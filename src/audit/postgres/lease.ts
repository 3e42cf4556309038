// A lease in PostgreSQL: a lock on a connection of its own, which the server takes back from whoever does not speak.
import { setTimeout as delay } from 'node:timers/promises';
import type { LeadResult } from '../store.ts';
import { type Ask, openDatabase, type PostgresSettings, type Waits } from './database.ts';
import { leaseLock } from './roles.ts';

export interface LeaseOptions {
  readonly waits?: Partial<Waits>;
}

const renewMs = 2_000;
// A leader that hangs, or whose machine is gone without a word, has lost its lease after this.
const idleMs = 30_000;
const statementMs = 5_000;

/**
 * Takes the lease, or says that somebody else has it.
 *
 * The lock is held by a transaction that writes nothing and sees nothing, so that it hinders nobody: such a lock lives
 * behind a pooler too, and the server ends a transaction that is silent, however its client came to its end.
 */
export async function takeLease(
  settings: PostgresSettings,
  name: string,
  { waits }: LeaseOptions,
): Promise<LeadResult> {
  await using resources = new AsyncDisposableStack();
  const options = waits === undefined ? {} : { waits };
  const database = resources.use(await openDatabase(settings, { connectionsMax: 1, ...options }));
  const { ask } = resources.use(await database.begin({ idleMs, statementMs }));
  const [row] = await ask(`SELECT pg_try_advisory_xact_lock(${leaseLock}, hashtext($1)) AS held`, [name]);
  if (row?.['held'] !== true) return { status: 'following' };
  const [lost, over] = [new AbortController(), new AbortController()];
  const renewing = renew(ask, lost, over.signal);
  const held = resources.move();
  return {
    status: 'leading',
    lease: {
      lost: lost.signal,
      [Symbol.asyncDispose]: async () => {
        over.abort();
        await renewing;
        await held.disposeAsync();
      },
    },
  };
}

async function renew(ask: Ask, lost: AbortController, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await delay(renewMs, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return;
    try {
      await ask('SELECT 1');
    } catch {
      lost.abort();
      return;
    }
  }
}
