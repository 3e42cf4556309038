// What the outbox forgets, and what gives way when it is full.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listDeliveries, openOutboxForCare } from '../../src/delivery/outbox/care.ts';
import { type Outbox, outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { announce, announcement, attempt, dataRules, day, nextOf, openOutbox } from '../support/outboxes.ts';
import { delivered } from '../support/scripted-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('settled rows are forgotten after their time, and waiting ones never by age', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a', 'b']);
  announce(open.outbox, 50);
  for (let done = 0; done < 50; done += 1) attempt(open.outbox, 'a', delivered, open.clock.now());
  open.clock.advance(100 * day);
  open.outbox.prune();
  const queues = open.outbox.queues();
  expect(queues.ok && queues.value['b']).toMatchObject({ pending: 50 });
  for (let done = 0; done < 50; done += 1) attempt(open.outbox, 'b', delivered, open.clock.now());
  open.clock.advance(2 * day);
  open.outbox.prune();
  expect(open.outbox.next('b', dataRules)).toEqual({ status: 'wait', until: null });
  expect(rowsIn(directory.path)).toEqual([]);
});

/** Takes the next delivery of `a` as overtaken. */
function supersede(outbox: Outbox): void {
  const next = nextOf(outbox, 'a');
  if (next === null) throw new Error('something waits');
  outbox.settle([{ delivery: next.delivery, verdict: { state: 'superseded' }, attempted: false }]);
}

test('what was superseded is kept as long as what was delivered, and no longer', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  announce(open.outbox);
  supersede(open.outbox);
  open.clock.advance(day);
  open.outbox.prune();
  expect(rowsIn(directory.path)).toMatchObject([{ state: 'superseded', attempts: 0 }]);
  open.clock.advance(1);
  open.outbox.prune();
  expect(rowsIn(directory.path)).toEqual([]);
});

test('under the hard cap what was superseded gives way before anything that still waits', () => {
  using directory = temporaryDirectory();
  const limits = { sizeMax: 1024 * 1024, keepDeliveredMs: 365 * day, keepDeadMs: day };
  using open = openOutbox(directory.path, ['a', 'b'], { limits });
  announce(open.outbox, 5);
  for (let round = 0; round < 800; round += 1) {
    const { draft } = announcement();
    open.outbox.commit(null, [draft]);
    attempt(open.outbox, 'b', delivered, open.clock.now());
    if (round >= 5) supersede(open.outbox);
  }
  expect(open.outbox.health().discarded).toBe(0);
});

/** The deliveries in the file, as a second connection sees them. */
function rowsIn(directory: string) {
  using database = openOutboxForCare(directory);
  return database === null ? [] : listDeliveries(database, {});
}

test('the hard cap holds: the oldest give way, counted and said; the newest record is never lost', () => {
  using directory = temporaryDirectory();
  const limits = { sizeMax: 1024 * 1024, keepDeliveredMs: day, keepDeadMs: day };
  using open = openOutbox(directory.path, ['dead-sink'], { limits });
  const records = announce(open.outbox, 900);
  // The file proper, once the log of its latest pages is in it.
  open.outbox[Symbol.dispose]();
  expect(statSync(join(directory.path, outboxFile)).size).toBeLessThanOrEqual(limits.sizeMax);
  const { discarded } = open.outbox.health();
  const queues = open.outbox.queues();
  const pending = queues.ok ? (queues.value['dead-sink']?.pending ?? 0) : 0;
  expect(discarded).toBeGreaterThan(0);
  // No more gave way than had to.
  expect(statSync(join(directory.path, outboxFile)).size).toBeGreaterThan(limits.sizeMax * 0.85);
  expect(pending).toBeGreaterThan(300);
  expect(discarded + pending).toBe(900);
  const refusals = open.log.lines.filter(({ message }) => message.startsWith('the outbox is full'));
  expect(refusals.reduce((sum, { fields }) => sum + Number(fields['pending']), 0)).toBe(discarded);
  const left: number[] = [];
  for (let sequence = 0; sequence !== null; ) {
    const taken = attempt(open.outbox, 'dead-sink', delivered, open.clock.now());
    if (taken === null) break;
    left.push(taken);
    sequence = taken;
  }
  expect(left.at(-1)).toBe(Number(records.at(-1)?.sequence));
  expect(left).toEqual(Array.from({ length: pending }, (_, index) => 900 - pending + index + 1));
});

test('under the hard cap what is settled gives way before anything that still waits', () => {
  using directory = temporaryDirectory();
  const limits = { sizeMax: 1024 * 1024, keepDeliveredMs: 365 * day, keepDeadMs: day };
  using open = openOutbox(directory.path, ['a'], { limits });
  for (let round = 0; round < 1_500; round += 1) {
    announce(open.outbox);
    attempt(open.outbox, 'a', delivered, open.clock.now());
  }
  announce(open.outbox, 3);
  const queues = open.outbox.queues();
  expect(open.outbox.health().discarded).toBe(0);
  expect(queues.ok && queues.value['a']).toMatchObject({ pending: 3 });
});
