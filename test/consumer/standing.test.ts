// How what the consumer tells of itself becomes how it stands: states, faults, lag, and when it is ready.
import { expect, test } from 'vitest';
import type { ConsumerProgress } from '../../src/consumer/consumer.ts';
import { healthOf, readinessOf } from '../../src/consumer/readiness.ts';
import { serviceReport } from '../../src/consumer/service-report.ts';
import type { SessionEnd } from '../../src/consumer/session.ts';
import { openStanding } from '../../src/consumer/standing.ts';
import { steppedClock } from '../support/clocks.ts';

const hub = { namespace: 'ns', name: 'fleet', createdAt: 1, partitions: ['0', '1'] };
const reading: ConsumerProgress = { kind: 'reading', hub };
const ended = (end: SessionEnd): ConsumerProgress => ({ kind: 'ended', end });
const looked = (...lasts: readonly [last: number, at: number][]): ConsumerProgress => ({
  kind: 'looked',
  partitions: lasts.map(([last, at], index) => ({
    ...{ partition: String(index), last, at, busy: false, isRewound: last >= 0 && last < at },
  })),
});
const counts = { entries: 1, records: 1, repeats: 0, conflicts: 0, parked: 0 };
const stored = (partition: string, lastSequenceNumber: number): ConsumerProgress => ({
  ...{ kind: 'stored', partition, stream: 's', counts },
  position: { size: 1, lastSequenceNumber },
});

function openBook(...progress: readonly ConsumerProgress[]) {
  const clock = steppedClock();
  const { take, now } = openStanding(clock);
  for (const each of progress) take(each);
  return {
    ...{ clock, take, now },
    ready: () => readinessOf(now()),
    status: () => serviceReport(now(), 0).status,
  };
}

test('a session counts as read once the hub has answered for every partition, not before', () => {
  const book = openBook();
  expect(book.status()).toBe('connecting to the hub');
  book.take(reading);
  expect(book.ready().hub).toMatchObject({ state: 'opening', name: 'fleet' });
  expect(book.status()).toBe('connecting to fleet');
  book.take(looked([-1, -1], [4, 4]));
  expect(book.ready().hub).toMatchObject({ state: 'reading', detail: 'all partitions are read' });
  expect(book.status()).toBe('reading fleet, 2 partitions');
});

test('a session that reads and breaks off again and again is unread all the same', async () => {
  const book = openBook(reading, looked([0, 0], [0, 0]));
  for (let turn = 0; turn < 7; turn++) {
    book.take(ended({ reason: 'failed', fault: 'timeout' }));
    book.take(reading);
    await book.clock.pass(10_000);
  }
  expect(book.ready()).toMatchObject({ ready: false, reasons: ['hub-unread'] });
});

test('what only a person can mend is told from what passes, with what to do', () => {
  const book = openBook(reading, ended({ reason: 'failed', fault: 'unauthorized' }));
  const { state, detail, advice } = book.ready().hub;
  expect([state, detail]).toEqual(['refused', 'unauthorized']);
  expect(advice).toContain('Data Receiver');
  book.take(ended({ reason: 'silent', fault: 'timeout' }));
  expect(book.ready().hub.state).toBe('failing');
  book.take(ended({ reason: 'stalled', partition: '1' }));
  expect(book.ready().hub).toMatchObject({ detail: 'partition 1 stalled', advice: null });
  book.take(looked([0, 0], [0, 0]));
  expect(book.ready().hub).toMatchObject({ state: 'reading', advice: null });
});

test('a session that ends to be made anew leaves the state as it is', () => {
  const book = openBook(reading, looked([0, 0], [0, 0]));
  for (const reason of ['refresh', 'hub-changed', 'hole', 'stopped'] as const) book.take(ended({ reason }));
  expect(book.ready()).toMatchObject({ ready: true, hub: { state: 'reading' } });
});

test('the state is as old as it is, whatever its details', async () => {
  const book = openBook(ended({ reason: 'failed', fault: 'timeout' }));
  const { since } = book.now().hub;
  await book.clock.pass(5_000);
  book.take(ended({ reason: 'failed', fault: 'connection-reset' }));
  expect(book.now().hub).toMatchObject({ since, detail: 'connection-reset' });
});

test('lag is what the hub has and the trail has not, and a commit makes it smaller at once', () => {
  const book = openBook(reading);
  expect(book.now().partitions['0']?.lagEvents).toBeNull();
  book.take(looked([9, 4], [3, 3]));
  expect(book.now().partitions).toMatchObject({ 0: { lagEvents: 5 }, 1: { lagEvents: 0 } });
  expect(book.status()).toBe('reading fleet, 2 partitions; 5 events behind');
  book.take(stored('0', 8));
  expect(book.now().partitions['0']?.lagEvents).toBe(1);
  // Events that came after the look.
  book.take(stored('0', 12));
  expect(book.now().partitions['0']?.lagEvents).toBe(0);
});

test('a partition is stuck when its events wait for two minutes without a commit, however often it is looked at', async () => {
  const book = openBook(reading, looked([9, 4], [3, 3]));
  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 10) {
      await book.clock.pass(10_000);
      book.take(looked([9, 4], [3, 3]));
    }
  };
  await pass(110);
  expect(book.ready().ready).toBe(true);
  book.take(stored('0', 5));
  await pass(110);
  expect(book.ready().ready).toBe(true);
  await pass(20);
  expect(book.ready().reasons).toEqual(['partition-stuck']);
  expect(book.status()).toContain('nothing comes of partition 0');
  book.take(looked([9, 9], [3, 3]));
  expect(book.ready().ready).toBe(true);
});

test('a trail that takes nothing is told by its fault until it takes again, or another session begins', () => {
  const book = openBook(reading, looked([0, 0], [0, 0]));
  book.take({ kind: 'trouble', partition: '1', reason: 'disk-full' });
  expect(book.ready()).toMatchObject({ reasons: ['trail-unwritable'], trail: { fault: 'disk-full' } });
  expect(book.status()).toContain('not ready, the trail takes nothing (disk-full)');
  book.take({ kind: 'trouble', partition: '1', reason: null });
  expect(book.ready().ready).toBe(true);
  book.take({ kind: 'trouble', partition: '0', reason: 'locked' });
  book.take(ended({ reason: 'refresh' }));
  expect(book.ready().ready).toBe(true);
  book.take(ended({ reason: 'trail-unavailable', fault: 'damaged' }));
  expect(book.ready().trail).toEqual({
    fault: 'damaged',
    advice: expect.stringContaining('restore the trail from a copy'),
  });
  book.take(reading);
  expect(book.ready().trail).toEqual({ fault: null, advice: null });
});

test('the age of a commit is counted from the last one, or from the start', async () => {
  const book = openBook(reading);
  await book.clock.pass(30_000);
  book.take(stored('1', 0));
  await book.clock.pass(12_000);
  const ages = Object.values(book.now().partitions).map(({ commitAgeMs }) => commitAgeMs);
  expect(ages).toEqual([42_000, 12_000]);
});

test('a hub that was made anew with fewer partitions leaves nothing of the others', () => {
  const book = openBook(reading, looked([9, 4], [9, 4]));
  book.take({ kind: 'reading', hub: { ...hub, createdAt: 2, partitions: ['0'] } });
  expect(Object.keys(book.now().partitions)).toEqual(['0']);
});

const owners = (...named: readonly [partition: string, owner: string][]): ConsumerProgress => ({
  ...{ kind: 'owners', instance: 'me', owners: new Map(named) },
});
const lookedAt = (partition: string, last: number, at: number): ConsumerProgress => ({
  ...{ kind: 'looked', partitions: [{ partition, last, at, busy: false, isRewound: false }] },
});

test('of a shared hub only what is read here counts: what others read is neither behind nor at fault here', async () => {
  const book = openBook(reading, owners(['0', 'me'], ['1', 'me']), looked([9, 4], [3, 3]));
  book.take({ kind: 'partition-fault', partition: '0', fault: 'timeout' });
  expect(book.now().partitions['0']).toMatchObject({ owner: 'here', lagEvents: 5, fault: 'timeout' });
  book.take(owners(['0', 'other'], ['1', 'me']));
  expect(book.now().partitions['0']).toMatchObject({ owner: 'elsewhere', lagEvents: null, fault: null });
  for (let passed = 0; passed < 180; passed += 10) {
    await book.clock.pass(10_000);
    book.take(owners(['0', 'other'], ['1', 'me']));
    book.take(lookedAt('1', 3, 3));
  }
  expect(book.ready()).toMatchObject({ ready: true, sharing: { consumers: 2, here: 1 } });
  expect(book.status()).toBe('reading fleet, 1 of 2 partitions');
});

test('a partition that nobody owns for two expiries makes a consumer unready, one that is taken over does not', async () => {
  const book = openBook(reading, owners(['0', 'me']), lookedAt('0', 3, 3));
  const pass = async (): Promise<void> => {
    await book.clock.pass(60_000);
    book.take(owners(['0', 'me']));
    book.take(lookedAt('0', 3, 3));
  };
  await pass();
  expect(book.ready().ready).toBe(true);
  await pass();
  expect(book.ready()).toMatchObject({
    reasons: ['partition-unowned'],
    partitions: { 1: { owner: 'nobody' } },
  });
  book.take(owners(['0', 'me'], ['1', 'other']));
  expect(book.ready().ready).toBe(true);
});

test('a partition that is owned here and not looked at for two minutes is stuck', async () => {
  const book = openBook(reading, owners(['0', 'me'], ['1', 'me']), looked([3, 3], [3, 3]));
  const pass = async (seconds: number): Promise<void> => {
    await book.clock.pass(seconds * 1_000);
    book.take(owners(['0', 'me'], ['1', 'me']));
    book.take(lookedAt('1', 3, 3));
  };
  await pass(120);
  expect(book.ready().ready).toBe(true);
  await pass(1);
  expect(book.ready().reasons).toEqual(['partition-stuck']);
  expect(book.status()).toContain('nothing comes of partition 0');
});

test('not to know who reads what for two expiries makes a consumer unready, and says what to do', async () => {
  const book = openBook(reading, owners(['0', 'me'], ['1', 'me']), looked([3, 3], [3, 3]));
  book.take({ kind: 'ownership-fault', reason: 'unauthorized' });
  expect(book.ready()).toMatchObject({
    ...{ ready: true, sharing: { fault: 'unauthorized' } },
  });
  expect(book.ready().sharing?.advice).toContain('Storage Blob Data Contributor');
  await book.clock.pass(60_001);
  book.take(looked([3, 3], [3, 3]));
  expect(book.ready().reasons).toEqual(['ownership-unknown']);
  book.take({ kind: 'ownership-fault', reason: null });
  book.take(owners(['0', 'me'], ['1', 'me']));
  expect(book.ready()).toMatchObject({ ready: true, sharing: { fault: null } });
});

test('a hub that holds less than the trail is a refusal for a person, an empty one is not', () => {
  const book = openBook(reading, looked([-1, 4], [3, 3]));
  expect(book.ready().ready).toBe(true);
  book.take(looked([2, 4], [3, 3]));
  expect(book.ready()).toMatchObject({
    reasons: ['partition-refused'],
    partitions: { 0: { fault: 'position-refused', advice: expect.stringContaining('holds less') } },
  });
  expect(book.status()).toContain('the hub has another history of partition 0');
});

test('half a minute behind its promise is late, and more is stuck', () => {
  expect(healthOf(30_000)).toEqual({ healthy: true, lateSeconds: 30 });
  expect(healthOf(30_001).healthy).toBe(false);
  const report = serviceReport(openBook(reading).now(), 40_000);
  expect(report).toEqual({ alive: false, status: 'the reading of the hub is stuck' });
});
