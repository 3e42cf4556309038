// Brings a trail of an earlier schema version up to date: 1 had no trees and no journal, 2 knew no deeds.
import type { DatabaseSync } from 'node:sqlite';
import { type JournalFact, journalEvent } from '../core/journal.ts';
import { leafHash } from '../core/leaf.ts';
import { keyOf } from '../core/read-batch.ts';
import { localStreams, partitionOfStream } from '../core/stream.ts';
import { emptyTree, encodeRange, growTree } from '../core/tree.ts';
import { growthOf } from './growth.ts';
import { entryFrom } from './log-rows.ts';
import { remakeProjections } from './rebuild.ts';
import { addedByVersion2, addedByVersion3 } from './schema.ts';
import { openLog } from './sqlite-log.ts';
import type { StoredEntry } from './store.ts';

/**
 * Within a transaction that the caller owns: it is done whole, or not at all. What an earlier version derived is less
 * than what the same entries give now, so all of it is derived anew; no entry changes.
 */
export function migrateFrom2(database: DatabaseSync): void {
  database.exec(addedByVersion3);
  remakeProjections(database, openLog(database));
}

/**
 * Within a transaction that the caller owns: it is done whole, or not at all.
 * The trees are made of the hashes that stand, whether the bodies still match them or not: a check names those.
 * What version 1 only logged is written into the journal now: where streams begin, and the holes in them.
 * @returns false when a stream has not the entries that it says it has
 */
export function migrateFrom1(database: DatabaseSync, now: number): boolean {
  database.exec(addedByVersion2);
  const log = openLog(database);
  const copies = openCopies(database);
  const put = database.prepare('UPDATE stream SET range = ? WHERE id = ?');
  const facts: JournalFact[] = [];
  const names = database.prepare('SELECT name, size FROM stream ORDER BY name').all();
  for (const { name: given, size } of names) {
    const name = String(given);
    let [tree, last] = [emptyTree, -1];
    for (const entry of entriesOf(database, log.idOf(name))) {
      if (entry.index !== tree.size) return false;
      if (entry.index === 0)
        facts.push(
          ...beginning(
            name,
            entry,
            names.map((each) => String(each['name'])),
          ),
        );
      else if (entry.sequenceNumber !== last + 1) facts.push(gap(name, last, entry));
      copies.see(log.idOf(name), entry);
      last = entry.sequenceNumber;
      tree = growTree(tree, [leafHash(entry)]);
    }
    if (tree.size !== size) return false;
    put.run(encodeRange(tree), log.idOf(name));
  }
  copies.end();
  const { journal } = localStreams(log.trail());
  const events = facts.map((fact, index) => journalEvent(fact, index, now));
  if (events.length > 0) log.write(journal, growthOf(journal, log.head(journal), events, null));
  return true;
}

function* entriesOf(database: DatabaseSync, streamId: number): Iterable<StoredEntry> {
  const rows = database.prepare(
    'SELECT idx, seq, enqueued_ms, body_sha256, NULL AS body FROM entry WHERE stream = ? ORDER BY idx',
  );
  for (const row of rows.iterate(streamId)) yield entryFrom(row);
}

/** @param names of all streams, sorted: an epoch stands in a name so that the earlier one sorts first */
function beginning(name: string, { sequenceNumber }: StoredEntry, names: readonly string[]): JournalFact[] {
  const began = { kind: 'stream-began', stream: name, firstSequenceNumber: sequenceNumber } as const;
  const partition = partitionOfStream(name);
  const earlier = names.filter((other) => other < name && partitionOfStream(other) === partition);
  return earlier.length === 0 ? [began] : [began, { kind: 'epoch-changed', stream: name, earlier }];
}

const gap = (stream: string, last: number, { sequenceNumber }: StoredEntry): JournalFact => ({
  ...{ kind: 'gap', stream, from: last + 1, to: sequenceNumber - 1 },
});

/** Version 1 called that copy of a record the lowest whose stream it had met first; now streams count by their names. */
function openCopies(database: DatabaseSync) {
  const wanted = new Map<string, Uint8Array>();
  for (const { body_key: key } of database
    .prepare('SELECT body_key FROM observation WHERE repeats > 0')
    .iterate()) {
    if (key instanceof Uint8Array) wanted.set(Buffer.from(key).toString('hex'), key);
  }
  database.exec('CREATE INDEX observation_moving ON observation (body_key) WHERE repeats > 0');
  const put = database.prepare(
    'UPDATE observation SET stream = ?, idx = ? WHERE repeats > 0 AND body_key = ?',
  );
  return {
    /** Sees entries by their streams' names and their indexes. */
    see: (streamId: number, { index, bodySha256 }: StoredEntry): void => {
      if (wanted.size === 0) return;
      const key = keyOf(bodySha256);
      const bytes = wanted.get(key);
      if (bytes === undefined) return;
      wanted.delete(key);
      put.run(streamId, index, bytes);
    },
    end: () => database.exec('DROP INDEX observation_moving'),
  };
}
