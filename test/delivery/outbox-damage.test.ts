// What becomes of an outbox whose bytes are wrong: set aside whole, saved as far as it can be read, and gone on from.
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { announce, announcement, attempt, dataRules, openOutbox } from '../support/outboxes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const delivered = { status: 'delivered' } as const;

/** An outbox that was closed with so many records waiting for sink `a`. */
function closedOutbox(directory: string, count: number): string {
  using open = openOutbox(directory, ['a']);
  announce(open.outbox, count);
  return join(directory, outboxFile);
}

const asideFiles = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.includes('.damaged-') && !/-(wal|shm)$/.test(name));

/** Overwrites bytes of a file in place. */
function overwrite(path: string, bytes: Buffer, position: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}

test.each([
  ['a file that is no database', () => Buffer.from('not a database at all'.repeat(50))],
  ['a header of zeros', (bytes: Buffer) => Buffer.concat([Buffer.alloc(100), bytes.subarray(100)])],
])('%s is set aside with its bytes kept and said, and the agent goes on', (_name, spoil) => {
  using directory = temporaryDirectory();
  const path = closedOutbox(directory.path, 3);
  const spoilt = spoil(readFileSync(path));
  writeFileSync(path, spoilt);
  using open = openOutbox(directory.path, ['a']);
  expect(announce(open.outbox)).toHaveLength(1);
  const [aside = ''] = asideFiles(directory.path);
  expect(readFileSync(join(directory.path, aside)).equals(spoilt)).toBe(true);
  expect(open.outbox.health().setAside).toBe(join(directory.path, aside));
  const said = open.log.lines.filter(({ message }) => message.startsWith('the outbox was damaged'));
  expect(said.map(({ level }) => level)).toEqual(['error']);
});

test('from a file with one bad page, the records that can be read are delivered all the same, and deeds are remembered', () => {
  using directory = temporaryDirectory();
  const path = closedOutbox(directory.path, 60);
  {
    using first = openOutbox(directory.path, ['a']);
    first.outbox.commit(null, [], { 'deed/hook/a': 'begun', 'deed/approval/a': 'sent' });
  }
  const instanceId = instanceOf(directory.path);
  const page = 4096;
  const pages = readFileSync(path).length / page;
  const victim = pageHolding(path, Math.floor(pages / 2));
  const before = readFileSync(path);
  overwrite(path, Buffer.alloc(page), victim * page);
  using open = openOutbox(directory.path, ['a']);
  const watch = open.outbox.watch();
  expect(watch.ok && Object.keys(watch.value?.sightings ?? {})).toHaveLength(1);
  announce(open.outbox);
  // What was done about an event is not done again.
  const deeds = open.outbox.notes('deed/');
  expect(deeds.ok && [...deeds.value]).toEqual([
    ['deed/approval/a', 'sent'],
    ['deed/hook/a', 'begun'],
  ]);
  const [aside = ''] = asideFiles(directory.path);
  const kept = readFileSync(join(directory.path, aside));
  expect(kept.length).toBe(before.length);
  const taken: number[] = [];
  for (let next = 0; next < 100; next += 1) {
    const sequence = attempt(open.outbox, 'a', delivered, open.clock.now());
    if (sequence !== null) taken.push(sequence);
  }
  expect(taken.length).toBeGreaterThan(20);
  // The count goes on where it was, so that what is missing shows as a hole.
  expect(taken.at(-1)).toBe(61);
  expect(instanceOf(directory.path)).toBe(instanceId);
});

function instanceOf(directory: string): unknown {
  using database = new DatabaseSync(join(directory, outboxFile));
  return database.prepare(`SELECT value FROM meta WHERE key = 'instanceId'`).get()?.['value'];
}

/** A page that belongs to a table's leaf: its first byte is 13. */
function pageHolding(path: string, from: number): number {
  const bytes = readFileSync(path);
  for (let page = from; page < bytes.length / 4096; page += 1) if (bytes[page * 4096] === 13) return page;
  throw new Error('no leaf page found');
}

test('a bit that flipped inside a record kills that delivery alone, and what is sent is never wrong', () => {
  using directory = temporaryDirectory();
  closedOutbox(directory.path, 3);
  // Behind the back of the checksum, as a disk would do it.
  const flipped = `CAST(replace(CAST(body AS TEXT), 'Freeze', 'Frgeze') AS BLOB)`;
  change(directory.path, `UPDATE record SET body = ${flipped} WHERE sequence = 2`);
  using open = openOutbox(directory.path, ['a']);
  expect(attempt(open.outbox, 'a', delivered, open.clock.now())).toBe(1);
  const next = open.outbox.next('a', dataRules);
  expect(next).toMatchObject({ status: 'foregone', foregone: [{ verdict: { reason: 'damaged' } }] });
  if (next.status === 'foregone') {
    open.outbox.settle(next.foregone.map((one) => ({ ...one, attempted: false })));
  }
  expect(attempt(open.outbox, 'a', delivered, open.clock.now())).toBe(3);
});

test('a flipped bit in a settled delivery sends it again rather than never', () => {
  using directory = temporaryDirectory();
  closedOutbox(directory.path, 1);
  change(directory.path, `UPDATE delivery SET state = 'delivered'`);
  using open = openOutbox(directory.path, ['a']);
  // The queue is read by state: only a row that still says pending is looked at.
  change(directory.path, `UPDATE delivery SET state = 'pending', attempts = 7, due_at = 9999999999999`);
  expect(attempt(open.outbox, 'a', delivered, open.clock.now())).toBe(1);
});

function change(directory: string, sql: string): void {
  using database = new DatabaseSync(join(directory, outboxFile));
  database.exec(sql);
}

test('when the memory of the document is lost, what was said before is not said again', () => {
  using directory = temporaryDirectory();
  const { watch, draft } = announcement({ eventId: 'AAAA' });
  {
    using first = openOutbox(directory.path, ['a']);
    first.outbox.commit(watch, [draft]);
  }
  change(directory.path, `UPDATE meta SET value = replace(value, 'Freeze', 'Frooze') WHERE key = 'watch'`);
  using open = openOutbox(directory.path, ['a']);
  expect(open.outbox.watch()).toEqual({ ok: true, value: null });
  const again = open.outbox.commit(watch, [draft, announcement({ eventId: 'BBBB' }).draft]);
  expect(again.ok && again.value.map(({ id }) => id.slice(0, 4))).toEqual(['bbbb']);
  expect(open.log.lines.map(({ level }) => level)).toEqual(['error']);
});

test('an outbox that cannot be opened at all is said once, and used as soon as it can be', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(join(directory.path, 'missing'), ['a']);
  const { watch, draft } = announcement();
  expect(open.outbox.commit(watch, [draft])).toEqual({ ok: false, fault: 'unavailable' });
  expect(open.outbox.commit(watch, [draft])).toEqual({ ok: false, fault: 'unavailable' });
  expect(open.log.lines.map(({ level }) => level)).toEqual(['error']);
});
