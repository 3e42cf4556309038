// The tables of a trail in PostgreSQL, and the rules that the database itself keeps.

// Everything is in the schema `seb`, and nothing in `public`: names such as `event` are anybody's.

/** Counts up with `migrations`. */
export const schemaVersion = 2;

/** The log. Triggers, not manners, keep it growing only: they bind every role but one that takes them away. */
const log = `
CREATE TABLE seb.stream (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  size bigint NOT NULL,
  last_seq bigint NOT NULL,
  last_enqueued_ms bigint,
  -- The tree over all entries, as the roots of its perfect subtrees, and its signed checkpoint.
  range bytea NOT NULL DEFAULT '',
  note text
);

CREATE TABLE seb.entry (
  stream integer NOT NULL,
  idx bigint NOT NULL,
  seq bigint NOT NULL,
  enqueued_ms bigint NOT NULL,
  body_sha256 bytea NOT NULL,
  body bytea,
  PRIMARY KEY (stream, idx),
  UNIQUE (stream, seq)
);

-- The signed checkpoints that seals named.
CREATE TABLE seb.checkpoint (
  stream integer NOT NULL,
  size bigint NOT NULL,
  note text NOT NULL,
  PRIMARY KEY (stream, size)
);

-- The id in the names of the local streams; the highest number is the one that counts.
CREATE TABLE seb.trail (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE
);
`;

const refuse = (table: string, events: string, rest = ''): string =>
  `CREATE TRIGGER ${table}_kept BEFORE ${events} ON seb.${table}
  FOR EACH STATEMENT EXECUTE FUNCTION seb.refuse();
${rest}`;

const rules = `
CREATE FUNCTION seb.refuse() RETURNS trigger LANGUAGE plpgsql AS $rule$
BEGIN
  RAISE EXCEPTION 'the trail only grows' USING ERRCODE = 'integrity_constraint_violation';
END $rule$;

-- Whether what one statement added stands behind everything that was there.
CREATE FUNCTION seb.at_the_end() RETURNS trigger LANGUAGE plpgsql AS $rule$
BEGIN
  PERFORM FROM (
    SELECT stream, min(idx) AS idx, min(seq) AS seq, count(*) AS many FROM added GROUP BY stream
  ) AS batch
  WHERE many <> (SELECT count(*) FROM seb.entry AS e WHERE e.stream = batch.stream AND e.idx >= batch.idx)
     OR many <> (SELECT count(*) FROM seb.entry AS e WHERE e.stream = batch.stream AND e.seq >= batch.seq);
  IF FOUND THEN
    RAISE EXCEPTION 'the trail only grows at its end' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $rule$;

${refuse(
  'entry',
  'DELETE OR TRUNCATE',
  `-- A body may go when its time is over; its hash stays.
CREATE TRIGGER entry_fixed BEFORE UPDATE ON seb.entry
  FOR EACH ROW WHEN (NEW.body IS NOT NULL
    OR (NEW.stream, NEW.idx, NEW.seq, NEW.enqueued_ms, NEW.body_sha256)
      IS DISTINCT FROM (OLD.stream, OLD.idx, OLD.seq, OLD.enqueued_ms, OLD.body_sha256))
  EXECUTE FUNCTION seb.refuse();
CREATE TRIGGER entry_appended AFTER INSERT ON seb.entry
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION seb.at_the_end();
`,
)}
${refuse(
  'stream',
  'DELETE OR TRUNCATE',
  `CREATE TRIGGER stream_forward BEFORE UPDATE ON seb.stream
  FOR EACH ROW WHEN (NEW.id <> OLD.id OR NEW.name <> OLD.name OR NEW.size < OLD.size OR NEW.last_seq < OLD.last_seq)
  EXECUTE FUNCTION seb.refuse();
`,
)}
${refuse('checkpoint', 'UPDATE OR DELETE OR TRUNCATE')}
${refuse('trail', 'UPDATE OR DELETE OR TRUNCATE')}
`;

/**
 * What is derived from the log and can be made anew from it, in the columns that SQLite has too.
 * Names come from outside and may be longer than an index takes (2,704 bytes), so keys of them are indexed:
 * the first 16 bytes of a SHA-256. `text.ts` says what texts look like.
 */
const projections = `
-- Of the text's bytes in UTF-8, which is the encoding of every database that holds a trail.
CREATE FUNCTION seb.key(name text) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $rule$
BEGIN
  RETURN pg_catalog.substring(pg_catalog.sha256(pg_catalog.convert_to(name, 'UTF8')), 1, 16);
END $rule$;

CREATE TABLE seb.observation (
  record_key bytea NOT NULL,
  body_key bytea NOT NULL,
  stream integer NOT NULL,
  idx bigint NOT NULL,
  repeats bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  agent_seq bigint,
  event_id text COLLATE "C",
  PRIMARY KEY (record_key, body_key)
);
CREATE INDEX observation_event ON seb.observation (seb.key(event_id), at_ms) WHERE event_id IS NOT NULL;
CREATE INDEX observation_id ON seb.observation USING hash (id);

CREATE TABLE seb.conflict (
  record_key bytea PRIMARY KEY,
  source text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  variants bigint NOT NULL
);

CREATE TABLE seb.parked (
  stream integer NOT NULL,
  idx bigint NOT NULL,
  reason text COLLATE "C" NOT NULL,
  PRIMARY KEY (stream, idx)
);

CREATE TABLE seb.event (
  event_id text COLLATE "C" NOT NULL,
  type text COLLATE "C",
  status text COLLATE "C" NOT NULL,
  outcome text COLLATE "C",
  first_ms bigint NOT NULL,
  last_ms bigint NOT NULL,
  state text NOT NULL
);
CREATE UNIQUE INDEX event_key ON seb.event (seb.key(event_id));
CREATE INDEX event_first ON seb.event (first_ms);
CREATE INDEX event_last ON seb.event (last_ms);

-- The VMs that an event names: as they are compared, and as they are spelled.
CREATE TABLE seb.event_vm (
  vm_key text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  vm_name text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX event_vm_key ON seb.event_vm (seb.key(vm_key), seb.key(event_id));
CREATE INDEX event_vm_event ON seb.event_vm (seb.key(event_id));

-- The agents that saw it, one bit per phase they reported.
CREATE TABLE seb.event_observer (
  event_id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  phases integer NOT NULL,
  affected integer NOT NULL,
  first_ms bigint NOT NULL,
  last_ms bigint NOT NULL
);
CREATE UNIQUE INDEX event_observer_key ON seb.event_observer (seb.key(event_id), seb.key(agent_id));
CREATE INDEX event_observer_agent ON seb.event_observer (seb.key(agent_id));

CREATE TABLE seb.agent (
  agent_id text COLLATE "C" NOT NULL,
  vm_id text COLLATE "C",
  vm_name text COLLATE "C",
  resource_id text COLLATE "C",
  last_ms bigint NOT NULL,
  state text NOT NULL
);
CREATE UNIQUE INDEX agent_key ON seb.agent (seb.key(agent_id));
`;

/**
 * Deeds, and since when an agent is known. A consumer of an earlier version writes agents without that, and is refused
 * from here on: what it derived would be less than what the same entries give now, and would take away from it.
 */
const deeds = `
CREATE INDEX observation_at ON seb.observation (at_ms);

-- What agents did about events and measured of them: each deed as its agent told it last.
CREATE TABLE seb.deed (
  event_id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  what text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  state text NOT NULL
);
CREATE UNIQUE INDEX deed_key ON seb.deed (seb.key(event_id), seb.key(agent_id), seb.key(what));

ALTER TABLE seb.agent ADD COLUMN first_ms bigint;
UPDATE seb.agent SET first_ms = last_ms;
ALTER TABLE seb.agent ALTER COLUMN first_ms SET NOT NULL;

-- By which version's rules the projections were made, and that there is one answer.
CREATE TABLE seb.projected (rules integer NOT NULL, one boolean PRIMARY KEY DEFAULT true CHECK (one));
INSERT INTO seb.projected (rules) VALUES (1);
`;

/** By which rules this version derives projections: counts up when the same entries give something else. */
export const projectionRules = 2;

/** What a database needs before it can say which version it has. */
export const foundation = `CREATE SCHEMA IF NOT EXISTS seb;
CREATE TABLE IF NOT EXISTS seb.version (number integer PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT now());`;

/** What leads from each version to the next one: the first from nothing to 1. They are never changed, only added to. */
export const migrations: readonly string[] = [`${log}${rules}${projections}`, deeds];

/** Tables that only ever grow, and those that can be made anew. */
export const logTables = ['stream', 'entry', 'checkpoint', 'trail'] as const;
export const projectionTables = [
  'observation',
  'conflict',
  'parked',
  'event',
  'event_vm',
  'event_observer',
  'deed',
  'agent',
] as const;
