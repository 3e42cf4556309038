// The feed of one partition, over a real trail: what it takes, what it leaves out, and when it lets go.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { emptyStream, type TrailStore } from '../../src/audit/store.ts';
import { systemClock } from '../../src/clock.ts';
import { HubRewound } from '../../src/consumer/hub-fault.ts';
import { openPartitionFeed } from '../../src/consumer/partition-feed.ts';
import { openProgress } from '../../src/consumer/progress.ts';
import { type Leaf, leafOf } from '../../src/core/leaf.ts';
import { journalFacts } from '../support/journal-facts.ts';
import { recordingLog } from '../support/recording-log.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

function feedInto(
  trail: TrailStore,
  holes = new Map<string, number>(),
  start = emptyStream,
  tail: Leaf | null = null,
) {
  const [over, log] = [new AbortController(), recordingLog()];
  const news = { stored: [] as number[], holes: 0, refused: 0 };
  const reasons: string[] = [];
  const feed = openPartitionFeed({
    ...{ partition: '0', stream: 'ns/hub/0/epoch', start, tail, trail, log },
    ...{ holes, clock: systemClock, signal: over.signal },
    ...{ progress: openProgress(systemClock), onTrouble: () => undefined },
    onStored: ({ counts }) => news.stored.push(counts.entries),
    onHole: () => {
      news.holes += 1;
    },
    onRefused: (why) => {
      news.refused += 1;
      reasons.push(why.name);
    },
  });
  return { feed, over, log, news, reasons };
}

const events = asHubEvents([0, 1, 2].flatMap((event) => liveMigration(event)));

test('what came before is left out of a batch that overlaps, and it is no hole', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const { feed, news } = feedInto(trail);
  await feed.take(events.slice(0, 4));
  await feed.take(events.slice(1, 7));
  await feed.take(events.slice(0, 7));
  expect(news).toEqual({ stored: [4, 3], holes: 0, refused: 0 });
  expect(feed.position()).toEqual({ size: 7, lastSequenceNumber: 6 });
});

test('a batch behind a hole is not stored until a new reader meets the same hole', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const holes = new Map<string, number>();
  const first = feedInto(trail, holes);
  await first.feed.take(events.slice(0, 2));
  // What comes behind the doubt is left alone, so that the doubt stays what it is.
  for (const batch of [events.slice(4, 6), events.slice(6, 9)]) await first.feed.take(batch);
  expect(first.news).toEqual({ stored: [2], holes: 1, refused: 0 });
  const second = feedInto(trail, holes, first.feed.position());
  for (const batch of [events.slice(4, 6), events.slice(6, 9)]) await second.feed.take(batch);
  expect(second.news).toEqual({ stored: [2, 3], holes: 0, refused: 0 });
  expect(second.log.lines).toEqual([
    expect.objectContaining({ level: 'error', fields: expect.objectContaining({ from: 2, to: 3 }) }),
  ]);
});

test('a hole that another reader does not meet was none', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const holes = new Map<string, number>();
  const first = feedInto(trail, holes);
  await first.feed.take(events.slice(0, 2));
  await first.feed.take(events.slice(4, 6));
  const second = feedInto(trail, holes, first.feed.position());
  await second.feed.take(events.slice(2, 9));
  expect(second.news).toEqual({ stored: [7], holes: 0, refused: 0 });
  expect(second.log.lines).toEqual([]);
});

test('the trail’s last event, given once more, must be the same; behind another one nothing is stored', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const first = feedInto(trail);
  await first.feed.take(events.slice(0, 3));
  const [, , last] = events;
  if (last === undefined) throw new Error('three events are needed');
  const tail = leafOf(last);
  const others = [
    { ...last, body: Buffer.from('other') },
    { ...last, enqueuedMs: last.enqueuedMs + 1 },
  ];
  for (const other of others) {
    const { feed, news } = feedInto(trail, new Map(), first.feed.position(), tail);
    await feed.take([other, ...events.slice(3, 5)]);
    await feed.take(events.slice(5, 7));
    expect(news).toEqual({ stored: [], holes: 0, refused: 1 });
    expect(feed.isRefused()).toBe(true);
  }
  const same = feedInto(trail, new Map(), first.feed.position(), tail);
  await same.feed.take(events.slice(2, 5));
  expect(same.news).toEqual({ stored: [2], holes: 0, refused: 0 });
});

test('a hub that held less, and then grew beyond the trail with other events, is told as each in its turn, and once', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const first = feedInto(trail);
  await first.feed.take(events.slice(0, 3));
  const [tail] = events.slice(2, 3).map(leafOf);
  const { feed, news, reasons } = feedInto(trail, new Map(), first.feed.position(), tail);
  for (const _look of [1, 2]) feed.refuse(new HubRewound());
  const other = events.slice(2, 5).map((event) => ({ ...event, body: Buffer.from('another') }));
  for (const _batch of [1, 2]) await feed.take(other);
  feed.refuse(new HubRewound());
  expect(reasons).toEqual(['HubRewound', 'HistoryChanged']);
  expect(news.stored).toEqual([]);
  expect(feed.isRefused()).toBe(true);
});

test('a gap stands in the journal, in the transaction of what follows it, wherever in a batch it is', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  const holes = new Map<string, number>();
  const batch = [...events.slice(0, 2), ...events.slice(5, 7)];
  const first = feedInto(trail, holes);
  await first.feed.take(batch);
  // What stands before the hole is in no doubt.
  expect(first.news).toEqual({ stored: [2], holes: 1, refused: 0 });
  expect(journalFacts(path, 'gap')).toEqual([]);
  const second = feedInto(trail, holes, first.feed.position());
  await second.feed.take(batch);
  expect(second.news.stored).toEqual([2]);
  expect(journalFacts(path, 'gap')).toMatchObject([{ stream: 'ns/hub/0/epoch', from: 2, to: 4 }]);
});

test('what another writer stored meanwhile, gap and all, is neither repeated nor called a gap again', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  const holes = new Map([['ns/hub/0/epoch', 4]]);
  const [one, other] = [feedInto(trail, holes), feedInto(trail, new Map(holes))];
  await one.feed.take(events.slice(0, 2));
  await other.feed.take(events.slice(0, 2));
  await one.feed.take(events.slice(4, 6));
  await other.feed.take(events.slice(4, 9));
  expect([one.news.stored, other.news.stored]).toEqual([[2, 2], [3]]);
  expect(journalFacts(path, 'gap')).toMatchObject([{ from: 2, to: 3 }]);
});

test('nothing is stored once the session is over', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const { feed, over, news } = feedInto(trail);
  over.abort();
  await feed.take(events);
  expect(news.stored).toEqual([]);
  expect(await trail.position('ns/hub/0/epoch')).toEqual({ status: 'known', position: emptyStream });
});

test('a full store holds the batch back, says so once, and lets go when the session is over', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'), { pagesMax: 30 });
  const { feed, over, log, news } = feedInto(trail);
  const taken = feed.take(asHubEvents(Array.from({ length: 60 }, () => 'x'.repeat(4_000))));
  await until('the complaint', () => log.lines.length > 0);
  expect(feed.busy()).toBe(true);
  const settled = feed.settled();
  over.abort();
  await Promise.all([taken, settled]);
  expect(feed.busy()).toBe(false);
  expect(news.stored).toEqual([]);
  expect(log.lines).toEqual([
    expect.objectContaining({ level: 'error', fields: expect.objectContaining({ reason: 'disk-full' }) }),
  ]);
});

test('a batch in hand is settled only when it is durable', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  const { feed, news, log } = feedInto(trail);
  {
    using database = new DatabaseSync(path);
    database.exec('BEGIN IMMEDIATE');
    void feed.take(events);
    await until('the complaint', () => log.lines.length > 0);
    expect(news.stored).toEqual([]);
  }
  await feed.settled();
  expect(news.stored).toEqual([9]);
});

test('a store that throws costs no event', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  let bugs = 2;
  const buggy: TrailStore = {
    ...trail,
    append: async (...args) => {
      if (bugs-- > 0) throw new TypeError('a bug');
      return trail.append(...args);
    },
  };
  const { feed, news, log } = feedInto(buggy);
  await feed.take(events);
  expect(news.stored).toEqual([9]);
  expect(log.lines.map(({ level, fields }) => [level, fields['reason']])).toEqual([
    ['error', 'unexpected'],
    ['info', undefined],
  ]);
});
