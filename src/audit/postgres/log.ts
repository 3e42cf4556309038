// The log of a trail in PostgreSQL: streams and their trees, entries, pinned checkpoints, the trail's own id.

import { randomUUID } from 'node:crypto';
import { streamKind } from '../../core/stream.ts';
import { decodeTree, emptyTree, encodeRange } from '../../core/tree.ts';
import type { Growth } from '../growth.ts';
import { entryFrom } from '../log-rows.ts';
import type { StreamIds } from '../projector.ts';
import { emptyStream, type SignHead, type StoredEntry, type StreamHead } from '../store.ts';
import { keysNamedBytes } from '../vouching.ts';
import type { Ask, Row } from './database.ts';

/** A stream's head, and the short number that rows name it by. */
export interface LockedStream {
  readonly id: number;
  readonly head: StreamHead;
}

const headColumns = 'id, name, size, last_seq, last_enqueued_ms, range, note';

/**
 * The head of a stream, which nobody else can move until the transaction ends.
 *
 * Under READ COMMITTED a row that somebody else held is read anew once it is free
 * (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED), so what stands here is what
 * was committed last, and compare-and-set holds: no other isolation level is needed, and nothing has to be repeated.
 */
export async function lockStream(ask: Ask, name: string): Promise<LockedStream> {
  const question = `SELECT ${headColumns} FROM seb.stream WHERE name = $1 FOR UPDATE`;
  const [found] = await ask(question, [name]);
  if (found !== undefined) return lockedFrom(found);
  // Of two who begin a stream at once the second one waits here for the first.
  await ask('INSERT INTO seb.stream (name, size, last_seq) VALUES ($1, 0, -1) ON CONFLICT DO NOTHING', [
    name,
  ]);
  const [made] = await ask(question, [name]);
  if (made === undefined) throw new Error('a stream that was just begun is not there');
  return lockedFrom(made);
}

const lockedFrom = (row: Row): LockedStream => ({ id: Number(row['id']), head: headFrom(row) });

/** The head of a stream as it stands; one that nobody wrote to is empty. */
export async function headOf(ask: Ask, name: string): Promise<StreamHead> {
  const [row] = await ask(`SELECT ${headColumns} FROM seb.stream WHERE name = $1`, [name]);
  if (row !== undefined) return headFrom(row);
  return { name, kind: streamKind(name), ...emptyStream, lastEnqueuedMs: null, tree: emptyTree, note: null };
}

export async function headsOf(ask: Ask): Promise<LockedStream[]> {
  return (await ask(`SELECT ${headColumns} FROM seb.stream ORDER BY name`)).map(lockedFrom);
}

/** The names of all streams by number. */
export async function streamNames(ask: Ask): Promise<ReadonlyMap<number, string>> {
  const rows = await ask('SELECT id, name FROM seb.stream');
  return new Map(rows.map((row) => [Number(row['id']), String(row['name'])]));
}

/** Streams by name and by number, as rows name them. */
export function numbersOf(names: ReadonlyMap<number, string>): StreamIds {
  const ids = new Map([...names].map(([id, name]) => [name, id]));
  const known = <Known>(value: Known | undefined): Known => {
    if (value === undefined) throw new Error('a stream that is spoken of is not there');
    return value;
  };
  return { idOf: (name) => known(ids.get(name)), nameOf: (id) => known(names.get(id)) };
}

function headFrom(row: Row): StreamHead {
  const [name, size] = [String(row['name']), Number(row['size'])];
  return {
    ...{ name, kind: streamKind(name), size, lastSequenceNumber: Number(row['last_seq']) },
    lastEnqueuedMs: row['last_enqueued_ms'] === null ? null : Number(row['last_enqueued_ms']),
    tree: decodeTree(size, row['range'] as Uint8Array),
    note: row['note'] === null ? null : String(row['note']),
  };
}

export const entryColumns = 'idx, seq, enqueued_ms, body_sha256, body';

export async function tailOf(ask: Ask, name: string): Promise<StoredEntry | null> {
  const [row] = await ask(
    `SELECT ${entryColumns} FROM seb.entry WHERE stream = (SELECT id FROM seb.stream WHERE name = $1)
     ORDER BY idx DESC LIMIT 1`,
    [name],
  );
  return row === undefined ? null : entryFrom(row);
}

/** Writes the entries behind the stream's head, and moves it. */
export async function writeGrowth(ask: Ask, streamId: number, growth: Growth): Promise<void> {
  const { entries, position, lastEnqueuedMs, tree, note } = growth;
  const written = writeEntries(ask, streamId, entries);
  const advanced = ask(
    `UPDATE seb.stream SET size = $2, last_seq = $3, range = $4, note = $5,
       last_enqueued_ms = coalesce($6::bigint, last_enqueued_ms) WHERE id = $1`,
    [streamId, position.size, position.lastSequenceNumber, encodeRange(tree), note, lastEnqueuedMs],
  );
  await Promise.all([written, advanced]);
}

// A request may not be longer than 1 GB, and what is in it is in the server's memory at once.
const requestBytesMax = 16 * 1024 * 1024;

async function writeEntries(ask: Ask, streamId: number, entries: Growth['entries']): Promise<void> {
  let [from, bytes] = [0, 0];
  const requests: Promise<unknown>[] = [];
  for (const [place, { body }] of entries.entries()) {
    if (place > from && bytes + body.length > requestBytesMax) {
      requests.push(insertEntries(ask, streamId, entries.slice(from, place)));
      [from, bytes] = [place, 0];
    }
    bytes += body.length;
  }
  requests.push(insertEntries(ask, streamId, entries.slice(from)));
  await Promise.all(requests);
}

/** All bytes travel in two values, as they are: an array of them would be spelled in hex. */
const insertion = `
  INSERT INTO seb.entry (stream, ${entryColumns})
  SELECT $1, given.idx, given.seq, given.ms, substring($5::bytea FROM given.place * 32 + 1 FOR 32),
    substring($6::bytea FROM given.start + 1 FOR given.length)
  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $7::integer[], $8::integer[], $9::integer[])
    AS given (idx, seq, ms, place, start, length)`;

async function insertEntries(ask: Ask, streamId: number, entries: Growth['entries']): Promise<void> {
  if (entries.length === 0) return;
  const lengths = entries.map(({ body }) => body.length);
  let end = 0;
  const starts = lengths.map((length) => {
    end += length;
    return end - length;
  });
  await ask(insertion, [
    ...[streamId, entries.map(({ index }) => index), entries.map(({ sequenceNumber }) => sequenceNumber)],
    entries.map(({ enqueuedMs }) => enqueuedMs),
    Buffer.concat(entries.map(({ bodySha256 }) => bodySha256)),
    Buffer.concat(entries.map(({ body }) => body)),
    ...[entries.map((_, place) => place), starts, lengths],
  ]);
}

/** The id in the names of the local streams now; a trail without one gets it. The caller holds the writing lock. */
export async function trailId(ask: Ask): Promise<string> {
  return (await currentTrail(ask)) ?? (await newTrailId(ask));
}

export async function currentTrail(ask: Ask): Promise<string | null> {
  const [row] = await ask('SELECT id FROM seb.trail ORDER BY number DESC LIMIT 1');
  return row === undefined ? null : String(row['id']);
}

export async function newTrailId(ask: Ask): Promise<string> {
  const id = randomUUID();
  await ask('INSERT INTO seb.trail (id) VALUES ($1)', [id]);
  return id;
}

/** Whether a journal, of whichever id, ever named a key that signs. */
export async function namesKeys(ask: Ask): Promise<boolean> {
  const rows = await ask(
    `SELECT FROM seb.entry WHERE stream IN (SELECT id FROM seb.stream WHERE name LIKE 'trail/%/journal')
       AND position($1::bytea IN body) > 0 LIMIT 1`,
    [keysNamedBytes],
  );
  return rows.length > 0;
}

/**
 * Signs heads that nobody signed: of a trail that was kept without a key. The caller holds the writing lock; who
 * holds a stream meanwhile signs it.
 */
export async function signUnsigned(ask: Ask, sign: SignHead): Promise<void> {
  const question = `SELECT ${headColumns} FROM seb.stream WHERE note IS NULL AND size > 0 FOR UPDATE SKIP LOCKED`;
  const unsigned = (await ask(question)).map(lockedFrom);
  // Where a key signed before, somebody else took the note away, or added without one.
  if (unsigned.length === 0 || (await namesKeys(ask))) return;
  for (const { id, head } of unsigned) {
    await ask('UPDATE seb.stream SET note = $2 WHERE id = $1', [id, sign(head.name, head.tree)]);
  }
}

/** Keeps the notes of heads for good. */
export async function pinNotes(ask: Ask, heads: readonly StreamHead[]): Promise<void> {
  const noted = heads.flatMap(({ name, size, note }) => (note === null ? [] : [{ name, size, note }]));
  if (noted.length === 0) return;
  await ask(
    `INSERT INTO seb.checkpoint (stream, size, note)
     SELECT stream.id, given.size, given.note
     FROM unnest($1::text[], $2::bigint[], $3::text[]) AS given (name, size, note) JOIN seb.stream USING (name)
     ON CONFLICT DO NOTHING`,
    [noted.map(({ name }) => name), noted.map(({ size }) => size), noted.map(({ note }) => note)],
  );
}
