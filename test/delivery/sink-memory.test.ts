// What sinks remember beyond the end of the process: durable, each for itself, and not for ever.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { announce, day, openOutbox } from '../support/outboxes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('what a sink remembers is there after a restart, for that sink alone', () => {
  using directory = temporaryDirectory();
  {
    using open = openOutbox(directory.path, ['a', 'b']);
    const memory = open.outbox.memoryOf('a');
    expect(memory.get('ts')).toBeNull();
    memory.set('ts', '1');
    memory.set('ts', '2');
    expect(memory.get('ts')).toBe('2');
  }
  using open = openOutbox(directory.path, ['a', 'b']);
  expect(open.outbox.memoryOf('a').get('ts')).toBe('2');
  expect(open.outbox.memoryOf('b').get('ts')).toBeNull();
});

test('it is forgotten 30 days after it was last set, and with its sink', () => {
  using directory = temporaryDirectory();
  {
    using open = openOutbox(directory.path, ['a', 'gone']);
    open.outbox.memoryOf('a').set('old', '1');
    open.clock.advance(29 * day);
    open.outbox.memoryOf('a').set('new', '2');
    open.outbox.memoryOf('gone').set('new', '3');
    open.outbox.prune();
    expect(open.outbox.memoryOf('a').get('old')).toBe('1');
    open.clock.advance(day + 1);
    open.outbox.prune();
    expect(open.outbox.memoryOf('a').get('old')).toBeNull();
    expect(open.outbox.memoryOf('a').get('new')).toBe('2');
  }
  {
    using open = openOutbox(directory.path, ['a']);
    open.outbox.prune();
  }
  using open = openOutbox(directory.path, ['a', 'gone']);
  expect(open.outbox.memoryOf('gone').get('new')).toBeNull();
  expect(open.outbox.memoryOf('a').get('new')).toBe('2');
});

test('one sink keeps a thousand values at most, the newest', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a', 'b']);
  const [a, b] = [open.outbox.memoryOf('a'), open.outbox.memoryOf('b')];
  b.set('only', 'b');
  for (let index = 0; index <= 1_000; index += 1) {
    a.set(`key ${index}`, 'x');
    open.clock.advance(1);
  }
  open.outbox.prune();
  expect([a.get('key 0'), a.get('key 1'), a.get('key 1000'), b.get('only')]).toEqual([null, 'x', 'x', 'b']);
});

test('a value whose bytes are wrong counts as forgotten', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  open.outbox.memoryOf('a').set('ts', '1234');
  using database = new DatabaseSync(join(directory.path, outboxFile));
  database.exec(`UPDATE memory SET value = '1235'`);
  expect(open.outbox.memoryOf('a').get('ts')).toBeNull();
});

test('while the disk takes nothing it is kept in the process, and written once the disk is back', () => {
  using directory = temporaryDirectory();
  const state = join(directory.path, 'state');
  mkdirSync(state);
  {
    using open = openOutbox(state, ['a']);
    const memory = open.outbox.memoryOf('a');
    // A directory in place of the file: it cannot be opened at all.
    mkdirSync(join(state, outboxFile));
    memory.set('ts', '1');
    expect(memory.get('ts')).toBe('1');
    expect(open.outbox.health().fault).toBe('unavailable');
    rmSync(join(state, outboxFile), { recursive: true });
    announce(open.outbox);
    expect(memory.get('ts')).toBe('1');
  }
  using open = openOutbox(state, ['a']);
  expect(open.outbox.memoryOf('a').get('ts')).toBe('1');
});

test('a disk that was copied to another VM brings nothing of it along', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  open.outbox.memoryOf('a').set('ts', '1');
  open.outbox.adopt('this-vm');
  expect(open.outbox.memoryOf('a').get('ts')).toBe('1');
  open.outbox.adopt('another-vm');
  expect(open.outbox.memoryOf('a').get('ts')).toBeNull();
});

test('it is saved from an outbox that is damaged elsewhere', () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, outboxFile);
  {
    using open = openOutbox(directory.path, ['a']);
    announce(open.outbox, 100);
    open.outbox.memoryOf('a').set('ts', '1');
  }
  const bytes = readFileSync(path);
  const pages = Array.from({ length: bytes.length / 4096 }, (_, index) => index);
  // 13 marks a leaf of a table with rows by number, which records alone are.
  const leaf = pages.filter((page) => bytes[page * 4096] === 13).at(-1) ?? 0;
  bytes.fill(0xff, leaf * 4096, leaf * 4096 + 64);
  writeFileSync(path, bytes);
  using open = openOutbox(directory.path, ['a']);
  expect(open.outbox.memoryOf('a').get('ts')).toBe('1');
  expect(open.outbox.health().setAside).not.toBeNull();
});
