// Writes the log of a trail in SQLite: streams and their trees, entries, pinned checkpoints, the trail's own id.

import { randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { streamKind } from '../core/stream.ts';
import { decodeTree, emptyTree, encodeRange } from '../core/tree.ts';
import type { Growth } from './growth.ts';
import { entryFrom } from './log-rows.ts';
import type { StreamIds } from './projector.ts';
import { emptyStream, type StoredEntry, type StreamHead } from './store.ts';
import { keysNamedBytes } from './vouching.ts';

/** The log, within a transaction that the caller owns. */
export interface SqliteLog extends StreamIds {
  /** The id in the names of the local streams now; null while there is none. */
  known(): string | null;
  /** The same; a trail without one gets it. */
  trail(): string;
  /** A new id, which counts from now on. */
  renew(): string;
  /** The stream's head; one that nobody wrote to is empty. */
  head(name: string): StreamHead;
  heads(): StreamHead[];
  tail(name: string): StoredEntry | null;
  /** By rising index from `from` on. */
  read(name: string, from: number, limit: number): StoredEntry[];
  write(name: string, growth: Growth): void;
  /** Whether a journal, of whichever id, ever named a key that signs. */
  namesKeys(): boolean;
  /** Gives a head that stands its note. */
  sign(name: string, note: string): void;
  /** Keeps the note of a head for good. */
  pin(head: StreamHead): void;
}

type Row = Readonly<Record<string, unknown>>;

/** Prepares the log of a database whose tables stand already. */
export function openLog(database: DatabaseSync): SqliteLog {
  const statements = prepare(database);
  const idOf = (name: string): number => Number(statements.idOf.get(name)?.['id']);
  return {
    idOf,
    nameOf: (id) => String(statements.nameOf.get(id)?.['name']),
    known: () => textOf(statements.trail.get()?.['id']),
    trail: () => textOf(statements.trail.get()?.['id']) ?? addTrail(statements),
    renew: () => addTrail(statements),
    head: (name) => headFrom(name, statements.stream.get(name)),
    heads: () => statements.streams.all().map((row) => headFrom(String(row['name']), row)),
    tail: (name) => tailOf(statements, idOf(name)),
    read: (name, from, limit) => statements.read.all(idOf(name), from, limit).map(entryFrom),
    write: (name, growth) => write(statements, name, growth),
    namesKeys: () => statements.namesKeys.get(keysNamedBytes) !== undefined,
    sign: (name, note) => statements.sign.run(note, name),
    pin: ({ name, size, note }) => {
      if (note !== null) statements.pin.run(idOf(name), size, note);
    },
  };
}

type Statements = ReturnType<typeof prepare>;

function prepare(database: DatabaseSync) {
  const sql = (text: string): StatementSync => database.prepare(text);
  return {
    trail: sql('SELECT id FROM trail ORDER BY number DESC LIMIT 1'),
    addTrail: sql('INSERT INTO trail (id) VALUES (?)'),
    open: sql(`
      INSERT INTO stream (name, size, last_seq)
      SELECT ?1, 0, -1 WHERE NOT EXISTS (SELECT 1 FROM stream WHERE name = ?1)`),
    idOf: sql('SELECT id FROM stream WHERE name = ?'),
    nameOf: sql('SELECT name FROM stream WHERE id = ?'),
    stream: sql('SELECT * FROM stream WHERE name = ?'),
    streams: sql('SELECT * FROM stream ORDER BY name'),
    advance: sql(`
      UPDATE stream SET size = ?, last_seq = ?, last_enqueued_ms = ?, range = ?, note = ? WHERE name = ?`),
    write: sql(`
      INSERT INTO entry (stream, idx, seq, enqueued_ms, body_sha256, body) VALUES (?, ?, ?, ?, ?, ?)`),
    tail: sql('SELECT * FROM entry WHERE stream = ? ORDER BY idx DESC LIMIT 1'),
    read: sql('SELECT * FROM entry WHERE stream = ? AND idx >= ? ORDER BY idx LIMIT ?'),
    // The first note of a size stays, also when other keys sign by now.
    pin: sql(`
      INSERT INTO checkpoint (stream, size, note)
      SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM checkpoint WHERE stream = ?1 AND size = ?2)`),
    namesKeys: sql(`
      SELECT 1 FROM entry WHERE stream IN (SELECT id FROM stream WHERE name GLOB 'trail/*/journal')
        AND instr(body, ?) > 0 LIMIT 1`),
    sign: sql('UPDATE stream SET note = ? WHERE name = ?'),
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function addTrail(statements: Statements): string {
  const id = randomUUID();
  statements.addTrail.run(id);
  return id;
}

function headFrom(name: string, row: Row | undefined): StreamHead {
  const kind = streamKind(name);
  if (row === undefined)
    return { name, kind, ...emptyStream, lastEnqueuedMs: null, tree: emptyTree, note: null };
  const size = Number(row['size']);
  return {
    ...{ name, kind, size, lastSequenceNumber: Number(row['last_seq']) },
    lastEnqueuedMs: row['last_enqueued_ms'] === null ? null : Number(row['last_enqueued_ms']),
    tree: decodeTree(size, row['range'] as Uint8Array),
    note: row['note'] === null ? null : String(row['note']),
  };
}

function tailOf(statements: Statements, streamId: number): StoredEntry | null {
  const row: Row | undefined = statements.tail.get(streamId);
  return row === undefined ? null : entryFrom(row);
}

function write(statements: Statements, name: string, growth: Growth): void {
  const { entries, position, lastEnqueuedMs, tree, note } = growth;
  statements.open.run(name);
  const streamId = Number(statements.idOf.get(name)?.['id']);
  const { size, lastSequenceNumber } = position;
  statements.advance.run(size, lastSequenceNumber, lastEnqueuedMs, encodeRange(tree), note, name);
  for (const { index, sequenceNumber, enqueuedMs, bodySha256, body } of entries) {
    statements.write.run(streamId, index, sequenceNumber, enqueuedMs, bodySha256, body);
  }
}
