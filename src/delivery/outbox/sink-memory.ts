// What sinks have to know beyond the end of the process, such as the message that they will update later.
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { SinkMemory } from '../../sinks/sink.ts';
import { statement } from '../../sqlite.ts';
import type { Stored } from './guarded-storage.ts';

/** A value that a sink has kept. */
interface Memo {
  readonly sink: string;
  readonly key: string;
  readonly value: string;
  /** Epoch ms. */
  readonly setAt: number;
}

const keptMs = 30 * 24 * 3_600_000;
// For each sink, so that none can fill the file.
const memosMax = 1_000;

/** The memory of all sinks. What the disk does not take is kept in the process, and written when it can be. */
export interface SinkMemories {
  of(sink: string): SinkMemory;
  /** Tries again to write what the disk did not take. */
  flush(): void;
}

/** Runs work on the outbox file. */
interface Storage {
  read<Value>(work: (database: DatabaseSync) => Value): Stored<Value>;
  write<Value>(work: (database: DatabaseSync) => Value): Stored<Value>;
}

/** @param now epoch ms */
export function openSinkMemories(storage: Storage, now: () => number): SinkMemories {
  const unwritten = new Map<string, Memo>();
  const nameOf = (sink: string, key: string): string => JSON.stringify([sink, key]);
  const flush = (): void => {
    if (unwritten.size === 0) return;
    const written = storage.write((database) => {
      for (const memo of unwritten.values()) putMemo(database, memo);
    });
    if (written.ok) unwritten.clear();
  };
  return {
    flush,
    of: (sink) => ({
      get(key) {
        const waiting = unwritten.get(nameOf(sink, key));
        if (waiting !== undefined) return waiting.value;
        const found = storage.read((database) => readMemo(database, sink, key));
        return found.ok ? found.value : null;
      },
      set(key, value) {
        unwritten.set(nameOf(sink, key), { sink, key, value, setAt: now() });
        flush();
      },
    }),
  };
}

function readMemo(database: DatabaseSync, sink: string, key: string): string | null {
  const row = statement(database, 'SELECT * FROM memory WHERE sink = ? AND key = ?').get(sink, key);
  return row === undefined ? null : (memoOf(row)?.value ?? null);
}

/** Null when its checksum does not fit. */
function memoOf(row: Readonly<Record<string, unknown>>): Memo | null {
  const memo = {
    sink: String(row['sink']),
    key: String(row['key']),
    value: String(row['value']),
    setAt: Number(row['set_at']),
  };
  return checksumOf(memo) === row['checksum'] ? memo : null;
}

function putMemo(database: DatabaseSync, memo: Memo): void {
  const { sink, key, value, setAt } = memo;
  statement(database, 'INSERT OR REPLACE INTO memory VALUES (?, ?, ?, ?, ?)').run(
    ...[sink, key, value, setAt, checksumOf(memo)],
  );
}

const checksumOf = ({ sink, key, value, setAt }: Memo): number =>
  crc32(JSON.stringify([sink, key, value, setAt]));

/** Takes over a row of another file, if it is whole. @returns whether it was */
export function takeOverMemo(database: DatabaseSync, row: Readonly<Record<string, unknown>>): boolean {
  const memo = memoOf(row);
  if (memo !== null) putMemo(database, memo);
  return memo !== null;
}

/**
 * Forgets what is older than 30 days, beyond a thousand values of one sink, or of a sink that is no longer
 * configured.
 * @param now epoch ms
 */
export function pruneMemories(database: DatabaseSync, sinks: readonly string[], now: number): void {
  const old = 'DELETE FROM memory WHERE set_at < ? OR sink NOT IN (SELECT value FROM json_each(?))';
  statement(database, old).run(now - keptMs, JSON.stringify(sinks));
  const excess = `DELETE FROM memory WHERE sink = ?1 AND key IN
    (SELECT key FROM memory WHERE sink = ?1 ORDER BY set_at DESC LIMIT -1 OFFSET ?2)`;
  for (const sink of sinks) statement(database, excess).run(sink, memosMax);
}
