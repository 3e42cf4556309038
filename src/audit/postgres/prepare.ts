// Finds the tables of a trail, and makes them where there are none and the role may.
import { TrailUnusable } from '../store.ts';
import type { Ask, Database } from './database.ts';
import { stateOf } from './failure.ts';
import { schemaLock } from './roles.ts';
import { foundation, migrations, projectionRules, schemaVersion } from './schema.ts';

/** How the tables stand. */
export type Tables = 'ready' | 'missing' | 'older';

/**
 * Looks at the tables without changing anything.
 * @throws TrailUnusable when they are of a later version, or the database cannot hold every text
 */
export async function lookAtTables(ask: Ask): Promise<Tables> {
  const [state] = await ask(
    `SELECT current_setting('server_encoding') AS encoding, to_regclass('seb.version') IS NOT NULL AS found`,
  );
  if (state?.['encoding'] !== 'UTF8') {
    throw new TrailUnusable('the trail in PostgreSQL needs a database with the encoding UTF8');
  }
  if (state['found'] !== true) return 'missing';
  const [version] = await ask('SELECT coalesce(max(number), 0) AS number FROM seb.version');
  const number = Number(version?.['number']);
  if (number > schemaVersion) throw newer();
  return number === 0 ? 'missing' : number < schemaVersion ? 'older' : 'ready';
}

/** Whether the projections were made by the rules of this version. @throws TrailUnusable when by those of a later one */
export async function areProjected(ask: Ask): Promise<boolean> {
  const [row] = await ask('SELECT rules FROM seb.projected');
  const rules = Number(row?.['rules'] ?? 0);
  if (rules > projectionRules) throw newer();
  return rules === projectionRules;
}

const newer = (): TrailUnusable =>
  new TrailUnusable('the trail in PostgreSQL was made by a newer version of seb: use that one');

/**
 * Makes the tables or brings them to this version, when needed.
 * @throws TrailUnusable when this role may not
 */
export async function prepareTables(database: Database): Promise<void> {
  const found = await database.transact(lookAtTables);
  if (found === 'ready') return;
  try {
    await database.transact(migrate, { statementMs: migrationMsMax });
  } catch (error) {
    // 42501 insufficient_privilege: https://www.postgresql.org/docs/current/errcodes-appendix.html
    if (stateOf(error) !== '42501') throw error;
    const what = found === 'missing' ? 'has no tables yet' : 'has tables of an older version';
    throw new TrailUnusable(
      `the trail in PostgreSQL ${what}, and this role may not make them: run infra/postgres/trail.sql as their owner`,
    );
  }
}

// A later version may have to write a big table anew.
const migrationMsMax = 600_000;

async function migrate(ask: Ask): Promise<void> {
  // Whoever waited here finds the tables made.
  await ask(`SELECT pg_advisory_xact_lock(${schemaLock})`);
  const found = await lookAtTables(ask);
  if (found === 'ready') return;
  await ask(foundation);
  const [version] = await ask('SELECT coalesce(max(number), 0) AS number FROM seb.version');
  for (let number = Number(version?.['number']); number < migrations.length; number += 1) {
    await ask(migrations[number] ?? '');
    await ask('INSERT INTO seb.version (number) VALUES ($1)', [number + 1]);
  }
}
