// Accounts for the entries of a trail that have no body any more, by their hashes and by what still stands of them.
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { type DeedState, deedKey, familyOfDeed, whatOf } from '../core/deed-fold.ts';
import { type Changes, type Known, type Observation, repeated } from '../core/projection.ts';
import { recordKeyOf, witnessKey } from '../core/read-batch.ts';
import { keepAgent, keepDeed, keepEvent, keepWitness, recallBatch } from '../core/recall.ts';
import { familyOf } from '../core/record.ts';
import { type Keys, observationFrom, openProjector, type Projector, type StreamIds } from './projector.ts';

/** Where the projections are made anew. */
export interface Anew {
  /** Holds what the entries with a body give, and the table `bare` of those without one. */
  readonly database: DatabaseSync;
  readonly projector: Projector;
  readonly streams: StreamIds;
}

const nothing: Omit<Changes, 'counts'> = {
  ...{ parked: [], observations: [], conflicts: [], witnesses: [], deeds: [] },
  ...{ events: new Map(), vms: new Map(), agents: new Map() },
};

/**
 * Adds what entries without a body said. An entry's hash stays, so these are still exact: which records there are,
 * how often each came and where its lowest copy stands, which contradict each other; and of records that stand
 * nowhere else, that somebody said a phase of an event at a time. Their own words, which are fields of events and
 * agents, deeds, VM names, reasons of parking and whether an event named the VM, are taken from `stored`: nothing proves them.
 * @param stored the projections as they stand
 * @returns how many entries nothing accounts for: what they said was taken away, and cannot be made anew
 */
export function recallPruned(anew: Anew, stored: DatabaseSync): number {
  const { database } = anew;
  database.exec(tables);
  believe(anew, stored);
  const account = openAccounts(anew, stored);
  let heard: Observation[] = [];
  let lost = 0;
  const flush = (): void => {
    hear(anew, heard);
    heard = [];
  };
  for (const place of database.prepare('SELECT * FROM bare ORDER BY stream, idx').iterate()) {
    const outcome = account(place);
    if (outcome === 'lost') lost += 1;
    else if (outcome !== 'told') heard.push(outcome);
    if (heard.length >= chunkLength) flush();
  }
  flush();
  database.exec(countVariants);
  keepWords(anew, stored);
  return lost;
}

const chunkLength = 1_000;

const tables = `
CREATE INDEX observation_body ON observation (body_key);
-- Rows of records that rest on an entry without a body.
CREATE TABLE believed AS SELECT * FROM observation LIMIT 0;
CREATE UNIQUE INDEX believed_body ON believed (body_key);
-- What records that stand nowhere with a body spoke of, and of which families they were.
CREATE TABLE spoken (event_id TEXT, agent_id TEXT NOT NULL, family TEXT NOT NULL, UNIQUE (event_id, agent_id, family));
`;

// Contradictions are between records, so they follow from which records there are.
const countVariants = `
DELETE FROM conflict;
INSERT INTO conflict (record_key, source, id, variants)
SELECT record_key, min(source), min(id), count(*) FROM observation GROUP BY record_key HAVING count(*) > 1;
`;

type Row = Readonly<Record<string, SQLOutputValue>>;

/** Takes the rows whose evidence has no body, if their keys are made of the entry's hash and of what they say. */
function believe({ database, streams }: Anew, stored: DatabaseSync): void {
  const bare = database.prepare('SELECT body_key FROM bare WHERE stream = ? AND idx = ?');
  const add = database.prepare(
    `INSERT OR IGNORE INTO believed (record_key, body_key, stream, idx, repeats, id, source, type, at_ms, agent_id, agent_seq, event_id)
     VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const row of stored.prepare('SELECT * FROM observation').iterate()) {
    const { record_key: recordKey, body_key: bodyKey, stream = null, idx = null } = row;
    const key = bare.get(stream, idx)?.['body_key'];
    if (!(key instanceof Uint8Array) || Buffer.compare(key, bodyKey as Uint8Array) !== 0) continue;
    const said = observationFrom(row, streams);
    if (recordKeyOf(said) !== said.recordKey) continue;
    const { id, source, type, at, agentId, agentSequence, eventId } = said;
    const place = [recordKey as Uint8Array, key, stream, idx];
    add.run(...place, id, source, type, at, agentId, agentSequence, eventId);
  }
}

type Outcome = 'told' | 'lost' | Observation;

/** Accounts for one entry without a body: as a copy of a record that is here, as one that is believed, or as parked. */
function openAccounts({ database, projector, streams }: Anew, stored: DatabaseSync): (row: Row) => Outcome {
  const standing = database.prepare('SELECT * FROM observation WHERE body_key = ?');
  const believed = database.prepare('SELECT * FROM believed WHERE body_key = ?');
  const parked = stored.prepare('SELECT reason FROM parked WHERE stream = ? AND idx = ?');
  const copyParked = database.prepare('INSERT INTO parked (stream, idx, reason) VALUES (?, ?, ?)');
  return ({ stream = null, idx = null, body_key: key = null }) => {
    const place = { stream: streams.nameOf(Number(stream)), index: Number(idx) };
    const copy = standing.get(key);
    if (copy !== undefined) {
      projector.write({ ...nothing, observations: [repeated(observationFrom(copy, streams), place)] });
      return 'told';
    }
    const row = believed.get(key);
    if (row !== undefined) {
      const observation = { ...observationFrom(row, streams), ...place };
      projector.write({ ...nothing, observations: [observation] });
      return observation;
    }
    const reason = parked.get(stream, idx)?.['reason'];
    if (reason === undefined) return 'lost';
    copyParked.run(stream, idx, reason);
    return 'told';
  };
}

/** Folds rows of records without a body into what the others gave. */
function hear({ database, projector }: Anew, heard: readonly Observation[]): void {
  const spoken = database.prepare(
    'INSERT OR IGNORE INTO spoken (event_id, agent_id, family) VALUES (?, ?, ?)',
  );
  for (const { eventId, agentId, type } of heard) spoken.run(eventId, agentId, familyOf(type));
  const witnesses = heard.flatMap(({ eventId, agentId }) => (eventId === null ? [] : [{ eventId, agentId }]));
  const known = projector.known({
    recordKeys: [],
    eventIds: [...new Set(witnesses.map(({ eventId }) => eventId))],
    agentIds: [...new Set(heard.map(({ agentId }) => agentId))],
    ...{ witnesses, deeds: [] },
  });
  projector.write({ ...nothing, ...recallBatch(heard, known) });
}

/** Lets stand what stored rows say beyond what is proven, where a record without a body may have said it. */
function keepWords({ database, projector, streams }: Anew, stored: DatabaseSync): void {
  const before = openProjector(stored, streams);
  const names = stored.prepare('SELECT vm_name FROM event_vm WHERE event_id = ?');
  const keepOf = keeper(before, projector);
  for (const eventId of distinct(database, 'event_id', `family = 'event'`)) {
    const state = keepOf({ eventIds: [eventId] }, (known) => known.events.get(eventId), keepEvent);
    const vms = new Set(names.all(eventId).map(({ vm_name: name }) => String(name)));
    const events = state === null ? nothing.events : new Map([[eventId, state]]);
    projector.write({ ...nothing, events, vms: new Map([[eventId, vms]]) });
  }
  for (const agentId of distinct(database, 'agent_id', 'true')) {
    const state = keepOf({ agentIds: [agentId] }, (known) => known.agents.get(agentId), keepAgent);
    if (state !== null) projector.write({ ...nothing, agents: new Map([[agentId, state]]) });
  }
  for (const row of database.prepare(`SELECT * FROM spoken WHERE family = 'event'`).iterate()) {
    const key = { eventId: String(row['event_id']), agentId: String(row['agent_id']) };
    const state = keepOf({ witnesses: [key] }, (known) => known.witnesses.get(witnessKey(key)), keepWitness);
    if (state !== null) projector.write({ ...nothing, witnesses: [{ ...key, state }] });
  }
  keepDeeds(database, projector, stored);
}

/** Which deed a record told, only its body said: what stands of its family, its agent and its event is believed. */
function keepDeeds(database: DatabaseSync, projector: Projector, stored: DatabaseSync): void {
  const standing = stored.prepare('SELECT what, state FROM deed WHERE event_id = ? AND agent_id = ?');
  const spoken = database.prepare(
    `SELECT * FROM spoken WHERE family IN ('approval', 'hook', 'impact') AND event_id IS NOT NULL`,
  );
  for (const { event_id: eventId = null, agent_id: agentId = null, family } of spoken.iterate()) {
    for (const row of standing.all(eventId, agentId)) {
      const key = { eventId: String(eventId), agentId: String(agentId), what: String(row['what']) };
      const before = familyOfDeed(key.what) === family ? deedIn(row) : null;
      if (before === null) continue;
      const state = keepDeed(before, projector.known({ ...noKeys, deeds: [key] }).deeds.get(deedKey(key)));
      projector.write({ ...nothing, deeds: [{ ...key, state }] });
    }
  }
}

function deedIn(row: Row): DeedState | null {
  try {
    const state = JSON.parse(String(row['state'])) as DeedState;
    return whatOf(state.deed) === row['what'] ? state : null;
  } catch {
    // It was not written by this program: what is proven takes its place.
    return null;
  }
}

function* distinct(database: DatabaseSync, column: 'event_id' | 'agent_id', which: string): Iterable<string> {
  const rows = database.prepare(`SELECT DISTINCT ${column} AS key FROM spoken WHERE ${which}`);
  for (const { key } of rows.iterate()) yield String(key);
}

const noKeys: Keys = { recordKeys: [], eventIds: [], agentIds: [], witnesses: [], deeds: [] };

function keeper(before: Projector, anew: Projector) {
  return <State>(
    given: Partial<Keys>,
    pick: (known: Known) => State | undefined,
    keep: (stored: State, given: State) => State,
  ): State | null => {
    const keys = { ...noKeys, ...given };
    const proven = pick(anew.known(keys));
    try {
      const stored = pick(before.known(keys));
      return stored === undefined || proven === undefined ? null : keep(stored, proven);
    } catch {
      // A row that cannot be read was not written by this program: what is proven takes its place.
      return null;
    }
  };
}
