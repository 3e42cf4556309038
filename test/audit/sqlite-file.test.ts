// Opening a trail: what is no trail is refused with one sentence, and left alone.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { schemaVersion } from '../../src/audit/schema.ts';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openForWriting } from '../../src/audit/sqlite-file.ts';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import { emptyStream, TrailUnusable } from '../../src/audit/store.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');

function refusal(open: () => unknown): string {
  try {
    open();
  } catch (error) {
    if (error instanceof TrailUnusable) return error.message;
    throw error;
  }
  throw new Error('it was opened');
}

async function someTrail(path: string): Promise<void> {
  await using trail = openSqliteTrail(path);
  await trail.append('ns/hub/0/epoch', emptyStream, asHubEvents(liveMigration()));
}

test('a trail is made with its directory when the consumer first opens it', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'deep', 'down', 'trail.db');
  await someTrail(path);
  await using reader = openSqliteReader(path);
  expect(await reader.counts()).toMatchObject({ entries: 3 });
});

test('a trail is written so that a power cut takes nothing that was acknowledged', () => {
  using directory = temporaryDirectory();
  using database = openForWriting(join(directory.path, 'trail.db'));
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
});

test('a question to a missing trail is refused without making a file', () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  expect(refusal(() => openSqliteReader(path))).toBe(
    `there is no trail at ${path}; "seb consumer" makes it when it first runs`,
  );
  expect(existsSync(path)).toBe(false);
});

test('a file that a consumer has just begun to make is no trail yet, and becomes one', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  new DatabaseSync(path).close();
  expect(refusal(() => openSqliteReader(path))).toContain(`there is no trail at ${path}`);
  await someTrail(path);
  await using reader = openSqliteReader(path);
  expect(await reader.counts()).toMatchObject({ entries: 3 });
});

test('a trail in a directory that may not be written to can be read', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await someTrail(path);
  const script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"';
  const events = [process.execPath, cli, 'events', '--trail', path, '-o', 'jsonl'];
  const { stdout, stderr } = spawnSync(
    'unshare',
    ['-rm', 'sh', '-c', script, 'sh', directory.path, ...events],
    {
      encoding: 'utf8',
    },
  );
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({ observers: 1, status: 'completed' });
});

test('a harmed header is refused with a sentence, and the bytes stay', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await someTrail(path);
  const bytes = readFileSync(path);
  bytes.fill(0x5a, 0, 64);
  writeFileSync(path, bytes);
  for (const open of [openSqliteTrail, openSqliteReader]) {
    expect(refusal(() => open(path))).toContain(`the trail at ${path} cannot be used: it is damaged`);
  }
  expect(readFileSync(path).equals(bytes)).toBe(true);
});

test('a harmed schema page is refused with a sentence', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await someTrail(path);
  const bytes = readFileSync(path);
  bytes.fill(0, 100, 4_096);
  writeFileSync(path, bytes);
  expect(refusal(() => openSqliteTrail(path))).toContain('it is damaged');
  expect(refusal(() => openSqliteReader(path))).toContain('it is damaged');
});

test('a last entry that is gone or was changed is refused with a sentence', async () => {
  using directory = temporaryDirectory();
  const harms = ["UPDATE entry SET body = x'00' WHERE idx = 2", 'DELETE FROM entry WHERE idx = 2'];
  for (const [at, harm] of harms.entries()) {
    const path = join(directory.path, `${at}.db`);
    await someTrail(path);
    {
      using database = new DatabaseSync(path);
      database.exec(`DROP TRIGGER entry_fixed; DROP TRIGGER entry_kept; ${harm}`);
    }
    expect(refusal(() => openSqliteTrail(path))).toContain('it is damaged');
    expect(refusal(() => openSqliteReader(path))).toContain('it is damaged');
  }
});

test('another program’s SQLite file is refused and left as it is', () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'other.db');
  using database = new DatabaseSync(path);
  database.exec('CREATE TABLE fruit (name TEXT)');
  expect(refusal(() => openSqliteTrail(path))).toBe(`${path} is a SQLite file, but no trail`);
  expect(refusal(() => openSqliteReader(path))).toBe(`${path} is a SQLite file, but no trail`);
  expect(database.prepare('SELECT name FROM sqlite_schema').all()).toHaveLength(1);
});

test('a trail of a later version is refused with both versions', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await someTrail(path);
  {
    using database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99');
  }
  for (const open of [openSqliteTrail, openSqliteReader, openSqliteSource]) {
    expect(refusal(() => open(path))).toBe(
      `the trail at ${path} was written by a later version of this program (its tables are of version 99, this program knows ${schemaVersion})`,
    );
  }
});

test('a question that meets a harmed page gets a sentence for an answer', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await someTrail(path);
  const page = rootPageOf(path, 'event');
  const bytes = readFileSync(path);
  bytes.fill(0x5a, (page - 1) * 4_096, page * 4_096);
  writeFileSync(path, bytes);
  await using reader = openSqliteReader(path);
  await expect(reader.events({ limit: 1 })).rejects.toThrow(
    `the trail at ${path} cannot be used: it is damaged`,
  );
});

function rootPageOf(path: string, table: string): number {
  using database = new DatabaseSync(path, { readOnly: true });
  return Number(
    database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)?.['rootpage'],
  );
}

test('a place where no file can be is refused with the reason', () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, 'file');
  writeFileSync(file, '');
  expect(refusal(() => openSqliteTrail(join(file, 'trail.db')))).toMatch(/cannot be opened \(E[A-Z]+\)/);
  expect(refusal(() => openSqliteTrail(directory.path))).toContain('it cannot be read');
});

test('a reader sees what the writer committed while both hold the file', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  await using reader = openSqliteReader(path);
  expect(await reader.counts()).toMatchObject({ entries: 0 });
  await trail.append('ns/hub/0/epoch', emptyStream, asHubEvents(liveMigration()));
  expect(await reader.counts()).toMatchObject({ entries: 3, events: 1 });
});
