// A trail in a PostgreSQL database of its own, as the tests of every store want it.

import { openPostgresReader } from '../../../src/audit/postgres/reader.ts';
import { logTables, projectionTables } from '../../../src/audit/postgres/schema.ts';
import { openPostgresSource } from '../../../src/audit/postgres/source.ts';
import { openPostgresTrail } from '../../../src/audit/postgres/trail.ts';
import { type TrailSettings, trail } from '../../../src/config/consumer-trail.ts';
import type { TrailWorld } from '../../support/trail/world.ts';
import { addLogin, execute, openDatabase, runTrailScript, type TestDatabase } from './postgres.ts';

export type PostgresSettings = Extract<TrailSettings, { type: 'postgres' }>;

/** Settings as the configuration would give them. */
export function settingsFor(url: unknown, others: Readonly<Record<string, unknown>> = {}): PostgresSettings {
  const settings = trail.parse({ type: 'postgres', url, ...others });
  if (settings.type !== 'postgres') throw new Error('not PostgreSQL');
  return settings;
}

export interface PostgresWorld extends TrailWorld {
  readonly database: TestDatabase;
  readonly settings: PostgresSettings;
  /** Of a role that only reads. */
  readonly readSettings: PostgresSettings;
}

/** A trail whose tables belong to an administrator; it is written by a role that may only add, and read by another. */
export async function openPostgresWorld(
  ...groups: readonly ('seb_writer' | 'seb_pruner')[]
): Promise<PostgresWorld> {
  const made = idle.pop() ?? (await makeDatabase());
  const { database, logins } = made;
  const settings = settingsFor(groups.includes('seb_pruner') ? logins.pruner : logins.writer);
  const read = settingsFor(logins.reader);
  return {
    ...{ database, settings, readSettings: read },
    open: (options) => openPostgresTrail(settings, options),
    source: () => openPostgresSource(read),
    reader: () => openPostgresReader(read),
    tamper: (...statements) => asReplica(database, ['SET search_path = seb', ...statements]),
    [Symbol.asyncDispose]: async () => {
      await asReplica(database, [`TRUNCATE ${everything} RESTART IDENTITY`]);
      idle.push(made);
    },
  };
}

const everything = [...logTables, ...projectionTables].map((name) => `seb.${name}`).join(', ');

/** No trigger runs in a session of a replica, and only a superuser may say that it is one. */
const asReplica = ({ adminUrl }: TestDatabase, statements: readonly string[]): Promise<void> =>
  execute(adminUrl, ['SET session_replication_role = replica', ...statements]);

interface Made {
  readonly database: TestDatabase;
  readonly logins: { readonly writer: string; readonly pruner: string; readonly reader: string };
}

// To empty one is many times quicker than to make one. They are gone with the cluster.
const idle: Made[] = [];

async function makeDatabase(): Promise<Made> {
  const database = await openDatabase();
  runTrailScript(database.adminUrl);
  const login = async (...groups: readonly string[]) => (await addLogin(database, ...groups)).url;
  const logins = {
    writer: await login('seb_writer'),
    pruner: await login('seb_writer', 'seb_pruner'),
    reader: await login('seb_reader'),
  };
  return { database, logins };
}
