// A trail as versions 1 and 2 of the schema had it: their own SQL, and what a consumer of that version wrote.
import { DatabaseSync } from 'node:sqlite';
import { openProjector } from '../../src/audit/projector.ts';
import type { HubEvent } from '../../src/core/leaf.ts';
import { leafOf } from '../../src/core/leaf.ts';

const schema = `
CREATE TABLE stream (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  last_enqueued_ms INTEGER
) STRICT;

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
CREATE TRIGGER entry_fixed BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'the trail only grows'); END;
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
CREATE INDEX observation_event ON observation (event_id, at_ms) WHERE event_id IS NOT NULL;

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

CREATE TABLE event_vm (
  vm_key TEXT NOT NULL,
  event_id TEXT NOT NULL,
  vm_name TEXT NOT NULL,
  PRIMARY KEY (vm_key, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_vm_event ON event_vm (event_id);

CREATE TABLE event_observer (
  event_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  phases INTEGER NOT NULL,
  affected INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  PRIMARY KEY (event_id, agent_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent (
  agent_id TEXT PRIMARY KEY,
  vm_id TEXT,
  vm_name TEXT,
  resource_id TEXT,
  last_ms INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;
CREATE INDEX agent_vm ON agent (vm_id);

PRAGMA application_id = 1397047924;
PRAGMA user_version = 1;
`;

/** One stream and its events, in the order in which version 1 met them. */
export type Version1Stream = readonly [name: string, events: readonly HubEvent[]];

/** Writes the file. Version 1 numbered streams as it met them, and of several copies kept the lowest by that number. */
export function writeVersion1Trail(path: string, streams: readonly Version1Stream[]): void {
  using database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; ${schema}`);
  // What the projector of today writes beyond that is taken away again.
  database.exec(`${deedTable} ALTER TABLE agent ADD COLUMN first_ms INTEGER`);
  const addStream = database.prepare('INSERT INTO stream VALUES (?, ?, ?, ?, ?)');
  const addEntry = database.prepare('INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)');
  // The names under which the projector compares places: by number, as version 1 did.
  const numbered = { idOf: Number, nameOf: String };
  const projector = openProjector(database, numbered);
  for (const [at, [name, events]] of streams.entries()) {
    const last = events.at(-1);
    addStream.run(at + 1, name, events.length, last?.sequenceNumber ?? -1, last?.enqueuedMs ?? null);
    const entries = events.map((event, index) => ({ ...leafOf(event), index, body: event.body }));
    for (const { index, sequenceNumber, enqueuedMs, bodySha256, body } of entries) {
      addEntry.run(at + 1, index, sequenceNumber, enqueuedMs, bodySha256, body);
    }
    projector.project(entries.map((entry) => ({ ...entry, stream: String(at + 1) })));
  }
  withoutDeeds(database);
}

const deedTable = `CREATE TABLE deed (
  event_id TEXT, agent_id TEXT, what TEXT, at_ms INTEGER, state TEXT, PRIMARY KEY (event_id, agent_id, what)
);`;

/** Makes of a trail one of version 2, in which records about deeds said nothing of events. */
export function makeVersion2(path: string): void {
  using database = new DatabaseSync(path);
  database.exec('DROP INDEX observation_at');
  withoutDeeds(database);
  database.exec('PRAGMA user_version = 2');
}

function withoutDeeds(database: DatabaseSync): void {
  const unsaid = ['heartbeatIntervalMs', 'pollIntervalMs', 'bootId', 'sourceState', 'lastDocumentAt', 'seen'];
  database.exec(`
    DROP TABLE deed;
    UPDATE event SET state = json_remove(state, '$.openings');
    UPDATE agent SET state = json_remove(state, ${unsaid.map((name) => `'$.fields.${name}'`).join(', ')});
    UPDATE observation SET event_id = NULL WHERE type NOT GLOB '*.event.*';
    DROP INDEX agent_vm;
    ALTER TABLE agent RENAME TO agent_after;
    CREATE TABLE agent (
  agent_id TEXT PRIMARY KEY,
  vm_id TEXT,
  vm_name TEXT,
  resource_id TEXT,
  last_ms INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;
    INSERT INTO agent SELECT agent_id, vm_id, vm_name, resource_id, last_ms, state FROM agent_after;
    DROP TABLE agent_after;
    CREATE INDEX agent_vm ON agent (vm_id);
  `);
}
