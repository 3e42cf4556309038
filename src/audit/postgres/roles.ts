// The script for a database administrator: tables that belong to nobody who writes, and a role for each who uses them.
import { foundation, migrations, projectionTables } from './schema.ts';

const tables = (names: readonly string[]): string => names.map((name) => `seb.${name}`).join(', ');

const makeRole = (name: string): string =>
  `SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${name}') AS missing \\gset
\\if :missing
CREATE ROLE ${name} NOLOGIN;
\\endif`;

const migrate = (text: string, index: number): string =>
  `SELECT coalesce(max(number), 0) < ${index + 1} AS due FROM seb.version \\gset
\\if :due
${text.trim()}
INSERT INTO seb.version (number) VALUES (${index + 1});
\\endif`;

const grants = `
-- Reads everything: Grafana, seb events, seb audit verify.
GRANT USAGE ON SCHEMA seb TO seb_reader, seb_writer, seb_pruner;
GRANT SELECT ON ALL TABLES IN SCHEMA seb TO seb_reader, seb_writer, seb_pruner;
GRANT EXECUTE ON FUNCTION seb.key(text) TO seb_reader, seb_writer, seb_pruner;

-- The consumer: what is in the log can be added to and never changed; the projections can be made anew.
GRANT INSERT ON seb.stream, seb.entry, seb.checkpoint, seb.trail TO seb_writer;
GRANT UPDATE (size, last_seq, last_enqueued_ms, range, note) ON seb.stream TO seb_writer;
GRANT INSERT, UPDATE, DELETE ON ${tables(projectionTables)} TO seb_writer;
GRANT UPDATE (rules) ON seb.projected TO seb_writer;

-- Beside seb_writer, for seb audit prune only: may drop bodies, and nothing else.
GRANT UPDATE (body) ON seb.entry TO seb_pruner;
`;

/** The whole script, for psql; it can be run again, and brings older tables to this version. */
export const trailScript =
  (): string => `-- Makes the tables and roles of an audit trail, or brings them to this version. Generated: change src/audit/postgres/ and run npm run docs.
-- Run it with psql in the trail's database, as a role that may make roles; the tables belong to that role.
\\set ON_ERROR_STOP on
BEGIN;
SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock(${schemaLock}) \\g /dev/null

${['seb_writer', 'seb_reader', 'seb_pruner'].map(makeRole).join('\n')}

${foundation}

${migrations.map(migrate).join('\n\n')}
${grants}
COMMIT;
`;

/** Held while tables are made, so that several first starts make them once. */
export const schemaLock = '1397047924, 1';
/** Held while projections and journal are written. */
export const writingLock = '1397047924, 2';
/** With the hash of its name: held by whoever leads in something. */
export const leaseLock = '1397047925';
