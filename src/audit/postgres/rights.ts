// Says for a person whether a trail in PostgreSQL can be used, and what its role could do to it.
import { type Ask, openDatabase, type PostgresSettings, type Row } from './database.ts';
import { lookAtTables } from './prepare.ts';
import { unusable } from './unusable.ts';

/** What `seb check` says of a trail. */
export interface TrailRights {
  readonly ok: boolean;
  readonly detail: string;
}

/**
 * Signs in as the consumer would, and changes nothing.
 * @throws TrailUnusable
 */
export async function readRights(settings: PostgresSettings): Promise<TrailRights> {
  try {
    await using database = await openDatabase(settings, { connectionsMax: 1 });
    const { ok, detail } = await database.transact(rightsOf, { mode: 'REPEATABLE READ READ ONLY' });
    return { ok, detail: `${settings.url.place} ${database.protection}; ${detail}` };
  } catch (error) {
    throw unusable(error);
  }
}

async function rightsOf(ask: Ask): Promise<TrailRights> {
  const found = await lookAtTables(ask);
  if (found !== 'ready') return await withoutTables(ask, found);
  const [row = {}] = await ask(rights);
  if (row['adds'] !== true || row['advances'] !== true || row['derives'] !== true) {
    return { ok: false, detail: 'this role may not write: make it a member of seb_writer' };
  }
  return { ok: true, detail: `${row['events']} events; ${protectionBy(row)}${durabilityOf(row)}` };
}

async function withoutTables(ask: Ask, found: 'missing' | 'older'): Promise<TrailRights> {
  const question =
    found === 'missing'
      ? `SELECT has_database_privilege(current_database(), 'CREATE') AS may`
      : `SELECT pg_has_role(relowner, 'MEMBER') AS may FROM pg_class WHERE oid = 'seb.version'::regclass`;
  const [row = {}] = await ask(question);
  const what = found === 'missing' ? 'no tables yet' : 'tables of an older version';
  return row['may'] === true
    ? { ok: true, detail: `${what}: the consumer makes them, and its role will own them` }
    : { ok: false, detail: `${what}, and this role may not make them: run infra/postgres/trail.sql` };
}

// Members of the owner may take its triggers away; what is granted to everybody counts as well.
const rights = `
  SELECT
    has_table_privilege('seb.entry', 'INSERT') AND has_table_privilege('seb.trail', 'INSERT')
      AND has_table_privilege('seb.checkpoint', 'INSERT') AS adds,
    has_column_privilege('seb.stream', 'size', 'UPDATE') AS advances,
    has_table_privilege('seb.event', 'INSERT, UPDATE') AS derives,
    (SELECT bool_or(pg_has_role(relowner, 'MEMBER')) FROM pg_class WHERE relnamespace = 'seb'::regnamespace
       AND relkind = 'r') AS owns,
    (SELECT bool_or(has_table_privilege(kept::regclass, may))
     FROM unnest(ARRAY['seb.entry', 'seb.checkpoint', 'seb.trail']) AS kept,
       unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) AS may)
      OR has_any_column_privilege('seb.checkpoint', 'UPDATE')
      OR has_column_privilege('seb.entry', 'body_sha256', 'UPDATE') AS changes,
    has_column_privilege('seb.entry', 'body', 'UPDATE') AS prunes,
    current_setting('fsync') AS fsync,
    (SELECT count(*) FROM seb.event) AS events`;

function protectionBy({ owns, changes, prunes }: Row): string {
  if (owns === true) return 'append-only by trigger only: this role owns the tables';
  if (changes === true) return 'append-only by trigger only: this role may also change or delete';
  return `append-only for this role${prunes === true ? ', which may drop bodies' : ''}`;
}

const durabilityOf = ({ fsync }: Row): string =>
  fsync === 'off' ? '; fsync is off: a crash of the server may lose what it confirmed' : '';
