// Files of another version of the program: an older one is brought up to date and loses nothing, a newer one is left alone.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { chatPolicy } from '../../src/core/delivery.ts';
import { outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { readDelivery } from '../../src/delivery/outbox/rows.ts';
import { announce, dataRules, nextOf, openOutbox } from '../support/outboxes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { version1Outbox } from '../support/version-1-outbox.ts';

const now = Date.UTC(2026, 10, 20);
const hour = 3_600_000;
const tried = { sink: 'a', attempts: 3, dueAt: now - 1, reason: 'http-503', settledAt: null } as const;

/** Three records: the first one delivered, the others waiting, one of them tried. */
function oldFile(directory: string, records = 3): string {
  const path = join(directory, outboxFile);
  using old = version1Outbox(path);
  old.meta('instanceId', 'version-1');
  old.meta('sequence', String(records));
  for (let sequence = 1; sequence <= records; sequence += 1) {
    old.record(sequence, now - 2 * hour);
    const state = sequence === 1 ? 'delivered' : 'pending';
    old.delivery({ ...tried, sequence, state, settledAt: sequence === 1 ? now - hour : null });
  }
  old.database.exec(`INSERT INTO said VALUES ('event-1_started', 1, ${now})`);
  old.database.exec(`INSERT INTO sink VALUES ('a', 'paused', ${now + hour}, 'throttled')`);
  return path;
}

const rowsOf = (path: string) => {
  using database = new DatabaseSync(path);
  return {
    version: database.prepare('PRAGMA user_version').get()?.['user_version'],
    deliveries: database.prepare('SELECT * FROM delivery ORDER BY sequence').all().map(readDelivery),
    said: database.prepare('SELECT * FROM said').all().length,
  };
};

test('a file of version 1 keeps every delivery as it was, aged from the commit of its record', () => {
  using directory = temporaryDirectory();
  const path = oldFile(directory.path);
  using open = openOutbox(directory.path, ['a']);
  expect(announce(open.outbox)[0]?.sequence).toBe('00000000000000000004');
  const { version, deliveries, said } = rowsOf(path);
  expect(version).toBe(2);
  expect(said).toBe(2);
  const queued = { ...tried, queuedAt: now - 2 * hour };
  expect(deliveries.slice(0, 3)).toEqual([
    { ...queued, sequence: 1, state: 'delivered', settledAt: now - hour },
    { ...queued, sequence: 2, state: 'pending' },
    { ...queued, sequence: 3, state: 'pending' },
  ]);
});

test('a pause that a file of version 1 holds is one that the receiver asked for: urgent records wait for it', () => {
  using directory = temporaryDirectory();
  oldFile(directory.path);
  using open = openOutbox(directory.path, ['a']);
  announce(open.outbox, 1, true);
  expect(open.outbox.next('a', dataRules)).toEqual({ status: 'wait', until: now + hour });
});

test('what is too old in a file of version 1 dies in one of version 2', () => {
  using directory = temporaryDirectory();
  oldFile(directory.path);
  using open = openOutbox(directory.path, ['a']);
  const next = open.outbox.next('a', { policy: chatPolicy });
  expect(next.status === 'foregone' && next.foregone.map(({ verdict }) => verdict)).toEqual([
    { state: 'dead', reason: 'expired' },
    { state: 'dead', reason: 'expired' },
  ]);
});

test('a bit that flipped in a row of version 1 sends that record again rather than never', () => {
  using directory = temporaryDirectory();
  const path = oldFile(directory.path);
  {
    using database = new DatabaseSync(path);
    database.exec('UPDATE delivery SET settled_at = settled_at + 1 WHERE sequence = 1; DELETE FROM sink');
  }
  using open = openOutbox(directory.path, ['a']);
  expect(nextOf(open.outbox, 'a')?.delivery).toMatchObject({ sequence: 1, attempts: 0 });
});

test('a damaged file of version 1 is salvaged by its own checksums: what was delivered does not come back', () => {
  using directory = temporaryDirectory();
  const path = oldFile(directory.path, 200);
  const bytes = readFileSync(path);
  const pages = Array.from({ length: bytes.length / 4096 }, (_, index) => index);
  // 13 marks a leaf of a table with rows by number, which records alone are.
  const leaves = pages.filter((page) => bytes[page * 4096] === 13);
  bytes.fill(0xff, (leaves[2] ?? 0) * 4096, (leaves[2] ?? 0) * 4096 + 64);
  writeFileSync(path, bytes);
  using open = openOutbox(directory.path, ['a']);
  expect(nextOf(open.outbox, 'a')?.delivery).toMatchObject({ sequence: 2, attempts: 3 });
  expect(open.outbox.health().setAside).not.toBeNull();
  expect(readdirSync(directory.path).some((name) => name.includes('.damaged-'))).toBe(true);
});

test('a file of a newer version is neither used nor changed, and the agent says that it cannot use it', () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, outboxFile);
  {
    using database = new DatabaseSync(path);
    database.exec('CREATE TABLE news (a TEXT); PRAGMA user_version = 3');
  }
  const before = readFileSync(path);
  using open = openOutbox(directory.path, ['a']);
  expect(() => announce(open.outbox)).toThrow('the commit failed');
  expect(open.outbox.health().fault).toBe('unavailable');
  expect(open.log.lines.at(-1)?.message).toContain('was written by a newer version of the agent');
  open.outbox[Symbol.dispose]();
  using database = new DatabaseSync(path);
  expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'news' }]);
  expect(before.length).toBeGreaterThan(0);
});
