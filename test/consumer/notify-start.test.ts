// Where notices go on: behind what was told, whoever told it, and at the right place of another trail or an older copy.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { emptyStream, type TrailStore } from '../../src/audit/store.ts';
import { systemClock } from '../../src/clock.ts';
import { letGo } from '../../src/consumer/notify/elsewhere.ts';
import { noteKeys, tellingKey, toldKey } from '../../src/consumer/notify/notes.ts';
import { findStart, positionOf } from '../../src/consumer/notify/start.ts';
import { waveRecord } from '../../src/core/fleet-record.ts';
import type { JournalFact } from '../../src/core/journal.ts';
import { Outbox } from '../../src/delivery/outbox/outbox.ts';
import { fleetFact, fleetSpeaker, folded, onlyWave, soonAfter } from '../support/fleet-facts.ts';
import { recordingLog } from '../support/recording-log.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [hour, day] = [3_600_000, 86_400_000];
const stream = 'ns.example/fleet/0/20261110T220000000Z';
const routes = [
  { name: 'ops', filter: { observer: 'all', sample: 1, records: ['event', 'fleet'] } as const },
];

const openOutbox = (directory: string): Outbox =>
  new Outbox({
    ...{ directory, routes, clock: systemClock, log: recordingLog() },
    limits: { sizeMax: 10_000_000, keepDeliveredMs: hour, keepDeadMs: hour },
  });

async function startOf(trail: TrailStore, outbox: Outbox, now: number) {
  const start = await findStart({ trail, outbox, instance: 'one', now });
  if (start.status !== 'known') throw new Error(start.reason);
  return start;
}

/** Appends the three facts of one event. */
const append = async (trail: TrailStore): Promise<void> => {
  const { status } = await trail.append(stream, emptyStream, asHubEvents(liveMigration()));
  expect(status).toBe('appended');
};

const receipt = (id: string, facts: readonly string[]): JournalFact => ({
  ...{ kind: 'notified', sink: 'ops', type: 'type', id, facts, outcome: 'delivered', reason: null },
  ...{ attempts: 1, settledAt: '2026-11-10T22:00:00.000Z' },
});

test('a successor on another disk knows what was told in seven days, also before the last position', async () => {
  using directory = temporaryDirectory();
  let now = Date.UTC(2026, 10, 1);
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'), { now: () => now });
  await trail.journal([receipt('old', [])]);
  now += 7 * day;
  await trail.journal([receipt('wave', ['fact'])]);
  const cursors = new Map([[stream, 3]]);
  const position = { instance: 'other', notifier: 'other', since: now, journal: 2, cursors };
  await trail.journal([positionOf(position)]);
  using outbox = openOutbox(directory.path);
  const start = await startOf(trail, outbox, now + 1);
  expect([...start.told]).toEqual([tellingKey('ops', 'wave'), tellingKey('ops', 'fact')]);
});

test('places of another trail mean nothing: it is read from its beginning, and its own places are kept', async () => {
  using directory = temporaryDirectory();
  using outbox = openOutbox(directory.path);
  const now = Date.now();
  {
    await using trail = openSqliteTrail(join(directory.path, 'one.db'));
    await startOf(trail, outbox, now);
  }
  outbox.remember(noteKeys.cursor + stream, '2');
  outbox.remember(`${noteKeys.cursor}gone`, '7');
  await using trail = openSqliteTrail(join(directory.path, 'other.db'));
  await append(trail);
  const start = await startOf(trail, outbox, now + hour);
  expect([start.since, [...start.cursors]]).toEqual([now, []]);
  outbox.remember(noteKeys.cursor + stream, '1');
  const again = await startOf(trail, outbox, now + hour);
  expect([...again.cursors]).toEqual([[stream, 1]]);
});

test('behind the end of an older copy of the trail, notices go on at its end', async () => {
  using directory = temporaryDirectory();
  using outbox = openOutbox(directory.path);
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  await startOf(trail, outbox, Date.now());
  await append(trail);
  outbox.remember(noteKeys.cursor + stream, '5');
  const start = await startOf(trail, outbox, Date.now());
  expect([...start.cursors]).toEqual([[stream, 3]]);
});

test('what waits is let go when all of its facts were told elsewhere, whatever ids records of a wave have', () => {
  using directory = temporaryDirectory();
  using outbox = openOutbox(directory.path);
  const fact = fleetFact({ kind: 'scheduled' });
  const wave = onlyWave(folded([fact]));
  const { id } = waveRecord(wave, soonAfter(fact), fleetSpeaker());
  const make = () => waveRecord(wave, soonAfter(fact), fleetSpeaker());
  outbox.commit(null, [{ factId: null, urgent: false, make }], { [toldKey('ops', id)]: '["one","two"]' });
  const pending = () => {
    const queues = outbox.queues();
    return queues.ok ? queues.value['ops']?.pending : null;
  };
  const told = (...ids: string[]) => new Set(ids.map((each) => tellingKey('ops', each)));
  letGo(outbox, told(id, 'one'), Date.now());
  expect(pending()).toBe(1);
  letGo(outbox, told('one', 'two'), Date.now());
  expect(pending()).toBe(0);
});
