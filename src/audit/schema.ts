// The tables of a trail in SQLite, and the rules that the file itself keeps.

/** Marks a SQLite file as a trail: "SEBt". */
export const applicationId = 0x53454274;
/** Counts up when the tables change. */
export const schemaVersion = 3;

const bodiesMayGo = `-- A body may go when its time is over; its hash stays.
CREATE TRIGGER entry_fixed BEFORE UPDATE ON entry
WHEN NEW.body IS NOT NULL OR NEW.stream <> OLD.stream OR NEW.idx <> OLD.idx OR NEW.seq <> OLD.seq
  OR NEW.enqueued_ms <> OLD.enqueued_ms OR NEW.body_sha256 <> OLD.body_sha256
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;
`;

const ownTables = `-- The signed checkpoints that seals named.
CREATE TABLE checkpoint (
  stream INTEGER NOT NULL,
  size INTEGER NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (stream, size)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER checkpoint_kept BEFORE DELETE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;
CREATE TRIGGER checkpoint_fixed BEFORE UPDATE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;
CREATE TRIGGER checkpoint_new BEFORE INSERT ON checkpoint
WHEN EXISTS (SELECT 1 FROM checkpoint WHERE stream = NEW.stream AND size = NEW.size)
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;

-- The id in the names of the local streams; the highest number is the one that counts.
CREATE TABLE trail (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;
CREATE TRIGGER trail_kept BEFORE DELETE ON trail
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;
CREATE TRIGGER trail_fixed BEFORE UPDATE ON trail
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;
CREATE TRIGGER trail_new BEFORE INSERT ON trail
-- SQLite calls a number that is not given yet -1.
WHEN EXISTS (SELECT 1 FROM trail WHERE id = NEW.id OR number >= NEW.number AND NEW.number > 0)
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;

CREATE TRIGGER stream_new BEFORE INSERT ON stream
WHEN EXISTS (SELECT 1 FROM stream WHERE name = NEW.name OR id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;
`;

/** The log. Triggers, not manners, keep it growing only: they bind every program that opens the file. */
const log = `
CREATE TABLE stream (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  last_enqueued_ms INTEGER,
  -- The tree over all entries, as the roots of its perfect subtrees, and its signed checkpoint.
  range BLOB NOT NULL DEFAULT x'',
  note TEXT
) STRICT;

-- A table with rowids: without them bodies of a record's length would spill into pages of their own.
CREATE TABLE entry (
  stream INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  enqueued_ms INTEGER NOT NULL,
  body_sha256 BLOB NOT NULL,
  body BLOB,
  PRIMARY KEY (stream, idx)
) STRICT;
CREATE UNIQUE INDEX entry_seq ON entry (stream, seq);

CREATE TRIGGER entry_kept BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;
${bodiesMayGo}-- INSERT OR REPLACE deletes without asking the trigger above.
CREATE TRIGGER entry_appended BEFORE INSERT ON entry
BEGIN
  SELECT RAISE(ABORT, 'the trail only grows at its end')
  FROM (SELECT idx, seq FROM entry WHERE stream = NEW.stream ORDER BY idx DESC LIMIT 1) AS tail
  WHERE tail.idx >= NEW.idx OR tail.seq >= NEW.seq;
END;
CREATE TRIGGER stream_kept BEFORE DELETE ON stream
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;
CREATE TRIGGER stream_forward BEFORE UPDATE ON stream
WHEN NEW.id <> OLD.id OR NEW.name <> OLD.name OR NEW.size < OLD.size OR NEW.last_seq < OLD.last_seq
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;

${ownTables}`;

/** Finds what happened to a VM that is known by an id: the few rows of agents whose own VM was named. */
const affectedAgents = `
CREATE INDEX event_observer_agent ON event_observer (agent_id) WHERE affected = 1;`;

/** Finds who was heard of in a stretch of time: rows come nearly in its order, so it is written at its end. */
const heardWhen = `
CREATE INDEX observation_at ON observation (at_ms);`;

const deeds = `

-- What agents did about events and measured of them: each deed as its agent told it last.
CREATE TABLE deed (
  event_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  what TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (event_id, agent_id, what)
) STRICT, WITHOUT ROWID;
`;

const agents = `
CREATE TABLE agent (
  agent_id TEXT PRIMARY KEY,
  vm_id TEXT,
  vm_name TEXT,
  resource_id TEXT,
  last_ms INTEGER NOT NULL,
  state TEXT NOT NULL,
  first_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_vm ON agent (vm_id);
`;

/**
 * What is derived from the log and can be made anew from it.
 * `record_key` and `body_key` are the first 16 bytes of a SHA-256 over source and id, and over the body:
 * a unique index over the long random texts themselves is what slows SQLite down.
 */
export const projections = `
CREATE TABLE observation (
  record_key BLOB NOT NULL,
  body_key BLOB NOT NULL,
  stream INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  repeats INTEGER NOT NULL DEFAULT 0,
  id TEXT NOT NULL,
  source TEXT NOT NULL,
  type TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  agent_seq INTEGER,
  event_id TEXT,
  UNIQUE (record_key, body_key)
) STRICT;
CREATE INDEX observation_event ON observation (event_id, at_ms) WHERE event_id IS NOT NULL;${heardWhen}

CREATE TABLE conflict (
  record_key BLOB PRIMARY KEY,
  source TEXT NOT NULL,
  id TEXT NOT NULL,
  variants INTEGER NOT NULL
) STRICT;

CREATE TABLE parked (
  stream INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (stream, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  event_id TEXT PRIMARY KEY,
  type TEXT,
  status TEXT NOT NULL,
  outcome TEXT,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;
CREATE INDEX event_time ON event (first_ms);

-- The VMs that an event names: as they are compared, and as they are spelled.
CREATE TABLE event_vm (
  vm_key TEXT NOT NULL,
  event_id TEXT NOT NULL,
  vm_name TEXT NOT NULL,
  PRIMARY KEY (vm_key, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_vm_event ON event_vm (event_id);

-- The agents that saw it, one bit per phase they reported.
CREATE TABLE event_observer (
  event_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  phases INTEGER NOT NULL,
  affected INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  PRIMARY KEY (event_id, agent_id)
) STRICT, WITHOUT ROWID;${affectedAgents}
${deeds}${agents}`;

/** The projections in the order in which they are compared, each with a total order of its rows. */
export const projectionTables = {
  observation: 'record_key, body_key',
  conflict: 'record_key',
  parked: 'stream, idx',
  event: 'event_id',
  event_vm: 'vm_key, event_id',
  event_observer: 'event_id, agent_id',
  deed: 'event_id, agent_id, what',
  agent: 'agent_id',
} as const;

/** What version 2 added: trees, checkpoints, the trail's own id, and that a body may go. */
export const addedByVersion2 = `
ALTER TABLE stream ADD COLUMN range BLOB NOT NULL DEFAULT x'';
ALTER TABLE stream ADD COLUMN note TEXT;
DROP TRIGGER entry_fixed;
${bodiesMayGo}${ownTables}${affectedAgents}
PRAGMA user_version = 2;
`;

/** What version 3 added: deeds, and since when an agent is known. What the projections say must be made anew. */
export const addedByVersion3 = `${heardWhen}${deeds}
ALTER TABLE agent RENAME TO agent_before;
DROP INDEX agent_vm;
${agents}INSERT INTO agent SELECT *, last_ms FROM agent_before;
DROP TABLE agent_before;
PRAGMA user_version = 3;
`;

/** Everything a new trail begins with. */
export const newTrail = `${log}${projections}
PRAGMA application_id = ${applicationId};
PRAGMA user_version = ${schemaVersion};
`;
