-- Makes the tables and roles of an audit trail, or brings them to this version. Generated: change src/audit/postgres/ and run npm run docs.
-- Run it with psql in the trail's database, as a role that may make roles; the tables belong to that role.
\set ON_ERROR_STOP on
BEGIN;
SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock(1397047924, 1) \g /dev/null

SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'seb_writer') AS missing \gset
\if :missing
CREATE ROLE seb_writer NOLOGIN;
\endif
SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'seb_reader') AS missing \gset
\if :missing
CREATE ROLE seb_reader NOLOGIN;
\endif
SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'seb_pruner') AS missing \gset
\if :missing
CREATE ROLE seb_pruner NOLOGIN;
\endif

CREATE SCHEMA IF NOT EXISTS seb;
CREATE TABLE IF NOT EXISTS seb.version (number integer PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT now());

SELECT coalesce(max(number), 0) < 1 AS due FROM seb.version \gset
\if :due
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

CREATE TRIGGER entry_kept BEFORE DELETE OR TRUNCATE ON seb.entry
  FOR EACH STATEMENT EXECUTE FUNCTION seb.refuse();
-- A body may go when its time is over; its hash stays.
CREATE TRIGGER entry_fixed BEFORE UPDATE ON seb.entry
  FOR EACH ROW WHEN (NEW.body IS NOT NULL
    OR (NEW.stream, NEW.idx, NEW.seq, NEW.enqueued_ms, NEW.body_sha256)
      IS DISTINCT FROM (OLD.stream, OLD.idx, OLD.seq, OLD.enqueued_ms, OLD.body_sha256))
  EXECUTE FUNCTION seb.refuse();
CREATE TRIGGER entry_appended AFTER INSERT ON seb.entry
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION seb.at_the_end();

CREATE TRIGGER stream_kept BEFORE DELETE OR TRUNCATE ON seb.stream
  FOR EACH STATEMENT EXECUTE FUNCTION seb.refuse();
CREATE TRIGGER stream_forward BEFORE UPDATE ON seb.stream
  FOR EACH ROW WHEN (NEW.id <> OLD.id OR NEW.name <> OLD.name OR NEW.size < OLD.size OR NEW.last_seq < OLD.last_seq)
  EXECUTE FUNCTION seb.refuse();

CREATE TRIGGER checkpoint_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON seb.checkpoint
  FOR EACH STATEMENT EXECUTE FUNCTION seb.refuse();

CREATE TRIGGER trail_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON seb.trail
  FOR EACH STATEMENT EXECUTE FUNCTION seb.refuse();


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
INSERT INTO seb.version (number) VALUES (1);
\endif

SELECT coalesce(max(number), 0) < 2 AS due FROM seb.version \gset
\if :due
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
INSERT INTO seb.version (number) VALUES (2);
\endif

-- Reads everything: Grafana, seb events, seb audit verify.
GRANT USAGE ON SCHEMA seb TO seb_reader, seb_writer, seb_pruner;
GRANT SELECT ON ALL TABLES IN SCHEMA seb TO seb_reader, seb_writer, seb_pruner;
GRANT EXECUTE ON FUNCTION seb.key(text) TO seb_reader, seb_writer, seb_pruner;

-- The consumer: what is in the log can be added to and never changed; the projections can be made anew.
GRANT INSERT ON seb.stream, seb.entry, seb.checkpoint, seb.trail TO seb_writer;
GRANT UPDATE (size, last_seq, last_enqueued_ms, range, note) ON seb.stream TO seb_writer;
GRANT INSERT, UPDATE, DELETE ON seb.observation, seb.conflict, seb.parked, seb.event, seb.event_vm, seb.event_observer, seb.deed, seb.agent TO seb_writer;
GRANT UPDATE (rules) ON seb.projected TO seb_writer;

-- Beside seb_writer, for seb audit prune only: may drop bodies, and nothing else.
GRANT UPDATE (body) ON seb.entry TO seb_pruner;

COMMIT;
