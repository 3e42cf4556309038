// Changes a trail in SQLite as somebody would who owns the machine it lies on.
import { DatabaseSync } from 'node:sqlite';
import type { SignHead } from '../../src/audit/store.ts';
import { type JournalFact, journalEvent } from '../../src/core/journal.ts';
import { hashBody, leafHash } from '../../src/core/leaf.ts';
import { localStreams } from '../../src/core/stream.ts';
import { emptyTree, encodeRange, growTree, rootOf, type Tree } from '../../src/core/tree.ts';

/** A trail's file with every rule that it keeps taken away. */
export interface OpenedTrail extends Disposable {
  readonly database: DatabaseSync;
  readonly trail: string;
  run(sql: string, ...values: readonly (string | number | null | Uint8Array)[]): void;
  /** The number of a stream. */
  id(name: string): number;
  readonly journal: number;
  readonly seal: number;
  /** Another body in an entry, with the hash that fits it. */
  rewrite(stream: number, index: number, body: Uint8Array): void;
  /** The body of an entry. */
  body(stream: number, index: number): Buffer;
  /** Makes all trees and head notes anew from the entries; notes go where nobody signs. */
  remake(sign: SignHead | null): void;
  /** Has the seals say what the entries give now. */
  forgeSeals(): void;
  /** The index of the first journal fact of a kind. */
  fact(kind: JournalFact['kind']): number;
}

export function openForTampering(path: string): OpenedTrail {
  const database = new DatabaseSync(path);
  for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()) {
    database.exec(`DROP TRIGGER ${String(name)}`);
  }
  const trail = String(database.prepare('SELECT id FROM trail ORDER BY number DESC').get()?.['id']);
  const run: OpenedTrail['run'] = (sql, ...values) => void database.prepare(sql).run(...values);
  const id = (name: string): number =>
    Number(database.prepare('SELECT id FROM stream WHERE name = ?').get(name)?.['id']);
  const names = localStreams(trail);
  const journal = id(names.journal);
  const body = (stream: number, index: number): Buffer => {
    const row = database.prepare('SELECT body FROM entry WHERE stream = ? AND idx = ?').get(stream, index);
    return Buffer.from(row?.['body'] as Uint8Array);
  };
  return {
    ...{ database, trail, run, id, body, journal, seal: id(names.seal) },
    rewrite: (stream, index, bytes) =>
      run(
        'UPDATE entry SET body = ?, body_sha256 = ? WHERE stream = ? AND idx = ?',
        bytes,
        hashBody(bytes),
        stream,
        index,
      ),
    remake: (sign) => remake(database, sign),
    forgeSeals: () => forgeSeals(database, id(names.seal)),
    fact: (kind) =>
      Number(
        database
          .prepare('SELECT idx FROM entry WHERE stream = ? AND instr(body, ?) > 0 ORDER BY idx')
          .get(journal, Buffer.from(`"kind":"${kind}"`))?.['idx'],
      ),
    [Symbol.dispose]: () => database.close(),
  };
}

function remake(database: DatabaseSync, sign: SignHead | null): void {
  for (const { id, name } of database.prepare('SELECT id, name FROM stream').all()) {
    const tree = treeOf(database, Number(id));
    const note = sign === null ? null : sign(String(name), tree);
    database
      .prepare(
        `UPDATE stream SET size = ?1, range = ?2, note = ?3,
           last_seq = coalesce((SELECT max(seq) FROM entry WHERE stream = ?4), -1) WHERE id = ?4`,
      )
      .run(tree.size, encodeRange(tree), note, Number(id));
    for (const { size } of database.prepare('SELECT size FROM checkpoint WHERE stream = ?').all(Number(id))) {
      const pinned = sign?.(String(name), treeOf(database, Number(id), Number(size))) ?? null;
      if (pinned === null) {
        database.prepare('DELETE FROM checkpoint WHERE stream = ? AND size = ?').run(Number(id), size ?? 0);
      } else {
        const sql = 'UPDATE checkpoint SET note = ? WHERE stream = ? AND size = ?';
        database.prepare(sql).run(pinned, Number(id), size ?? 0);
      }
    }
  }
}

function forgeSeals(database: DatabaseSync, seal: number): void {
  const idOf = database.prepare('SELECT id FROM stream WHERE name = ?');
  const put = database.prepare('UPDATE entry SET body = ?, body_sha256 = ? WHERE stream = ? AND idx = ?');
  for (const { idx, body } of database.prepare('SELECT idx, body FROM entry WHERE stream = ?').all(seal)) {
    const said = JSON.parse(Buffer.from(body as Uint8Array).toString('utf8'));
    for (const head of said.heads) {
      const tree = treeOf(database, Number(idOf.get(head.stream)?.['id']), head.size);
      head.size = tree.size;
      head.root = Buffer.from(rootOf(tree)).toString('base64');
    }
    const bytes = Buffer.from(JSON.stringify(said), 'utf8');
    put.run(bytes, hashBody(bytes), seal, Number(idx));
  }
}

/** The tree over the first entries of a stream as they stand now. */
export function treeOf(database: DatabaseSync, stream: number, size = Number.MAX_SAFE_INTEGER): Tree {
  const rows = database
    .prepare('SELECT * FROM entry WHERE stream = ? AND idx < ? ORDER BY idx')
    .all(stream, size);
  return growTree(
    emptyTree,
    rows.map((row) =>
      leafHash({
        sequenceNumber: Number(row['seq']),
        enqueuedMs: Number(row['enqueued_ms']),
        bodySha256: row['body_sha256'] as Uint8Array,
      }),
    ),
  );
}

/** The bytes of a journal's fact. */
export const factBytes = (fact: JournalFact): Uint8Array => journalEvent(fact, 0, 0).body;
