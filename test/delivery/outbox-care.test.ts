// Looking after the queue beside a running agent: list, show, retry, discard.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  discardDeliveries,
  listDeliveries,
  openOutboxForCare,
  retryDeliveries,
  showRecord,
} from '../../src/delivery/outbox/care.ts';
import { outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { announce, attempt, dataRules, openOutbox } from '../support/outboxes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** An outbox with one dead, one suspended and two waiting deliveries, seen from a second connection. */
function caredFor(directory: string) {
  const open = openOutbox(directory, ['a', 'b']);
  const records = announce(open.outbox, 2);
  const now = open.clock.now();
  attempt(open.outbox, 'a', { status: 'rejected', reason: 'http-400' }, now);
  attempt(open.outbox, 'a', { status: 'unavailable', reason: 'unauthorized' }, now);
  const database = openOutboxForCare(directory);
  if (database === null) throw new Error('the outbox is there');
  return {
    ...{ open, records, database, now },
    [Symbol.dispose]: () => {
      database.close();
      open[Symbol.dispose]();
    },
  };
}

test('the list tells waiting, suspended and dead deliveries apart, with when and why', () => {
  using directory = temporaryDirectory();
  using care = caredFor(directory.path);
  const rows = listDeliveries(care.database, {});
  expect(
    rows.map(({ sink, sequence, state, attempts, reason }) => [sink, sequence, state, attempts, reason]),
  ).toEqual([
    ['a', 1, 'dead', 1, 'http-400'],
    ['b', 1, 'pending', 0, null],
    ['a', 2, 'suspended', 1, 'unauthorized'],
    ['b', 2, 'pending', 0, null],
  ]);
  expect(rows.map(({ dueAt }) => dueAt)).toEqual([null, care.now, care.now + 900_000, care.now]);
});

test('a selection takes id, sink, state and age together', () => {
  using directory = temporaryDirectory();
  using care = caredFor(directory.path);
  const ids = [care.records[1]?.id ?? ''];
  expect(listDeliveries(care.database, { ids, sink: 'b', states: ['pending'] })).toHaveLength(1);
  expect(listDeliveries(care.database, { committedBefore: care.now })).toHaveLength(0);
  expect(listDeliveries(care.database, { committedBefore: care.now + 1, states: ['dead'] })).toHaveLength(1);
});

test('show gives the record as it will be sent, and where it stands', () => {
  using directory = temporaryDirectory();
  using care = caredFor(directory.path);
  const [record] = care.records;
  const shown = showRecord(care.database, record?.id ?? '');
  expect(shown?.record).toEqual(JSON.parse(JSON.stringify(record)));
  expect(shown?.deliveries.map(({ sink, state }) => [sink, state])).toEqual([
    ['a', 'dead'],
    ['b', 'pending'],
  ]);
  expect(showRecord(care.database, 'no-such-id')).toBeNull();
});

test('retry brings the dead back, wakes the suspended, and the running agent sees it', () => {
  using directory = temporaryDirectory();
  using care = caredFor(directory.path);
  expect(care.open.outbox.next('a', dataRules).status).toBe('wait');
  const before = care.open.outbox.version();
  const retried = retryDeliveries(care.database, { sink: 'a' }, care.now);
  expect(retried.map(({ state, dueAt }) => [state, dueAt])).toEqual([
    ['pending', care.now],
    ['pending', care.now],
  ]);
  expect(care.open.outbox.version()).not.toBe(before);
  const taken = [1, 2].map(() => attempt(care.open.outbox, 'a', { status: 'delivered' }, care.now));
  expect(taken).toEqual([1, 2]);
});

test('retry never sends again what was delivered', () => {
  using directory = temporaryDirectory();
  using care = caredFor(directory.path);
  attempt(care.open.outbox, 'b', { status: 'delivered' }, care.now);
  expect(retryDeliveries(care.database, { sink: 'b' }, care.now).map(({ sequence }) => sequence)).toEqual([
    2,
  ]);
  expect(retryDeliveries(care.database, { states: ['delivered'] }, care.now)).toEqual([]);
});

test('discard lets go of what was chosen and of nothing else', () => {
  using directory = temporaryDirectory();
  using care = caredFor(directory.path);
  expect(
    discardDeliveries(care.database, { states: ['dead'] }, care.now).map(({ sequence }) => sequence),
  ).toEqual([1]);
  expect(listDeliveries(care.database, { states: ['dead'] })).toEqual([]);
  expect(listDeliveries(care.database, { states: ['discarded'] })).toMatchObject([
    { sequence: 1, dueAt: null },
  ]);
  expect(listDeliveries(care.database, { states: ['pending', 'suspended'] })).toHaveLength(3);
});

test('looking after an outbox that is not there creates none', () => {
  using directory = temporaryDirectory();
  expect(openOutboxForCare(directory.path)).toBeNull();
  expect(existsSync(join(directory.path, outboxFile))).toBe(false);
});
