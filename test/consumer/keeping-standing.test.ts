// How seals, anchors and the copy become what `/readyz`, `/metrics` and `systemctl status` say.
import { expect, test } from 'vitest';
import type { ConsumerProgress } from '../../src/consumer/consumer.ts';
import { openMetrics } from '../../src/consumer/metrics.ts';
import { readinessOf } from '../../src/consumer/readiness.ts';
import { serviceReport } from '../../src/consumer/service-report.ts';
import { openStanding } from '../../src/consumer/standing.ts';
import { steppedClock } from '../support/clocks.ts';
import { readPrometheusPage } from '../support/prometheus-text.ts';

const minute = 60_000;
const keeping = (more: object = {}): ConsumerProgress => ({
  ...{ kind: 'keeping', signed: true, anchors: ['file:a', 'blob:b'], archived: true },
  ...more,
});

function openBook(...progress: readonly ConsumerProgress[]) {
  const clock = steppedClock();
  const { take, now } = openStanding(clock);
  const metrics = openMetrics();
  for (const each of progress) take(each);
  return {
    ...{ clock, take },
    ready: () => readinessOf(now()),
    status: () => serviceReport(now(), 0).status,
    value: async (name: string, labels: Record<string, string> = {}) =>
      readPrometheusPage(String((await metrics.page(now(), 0)).body)).value(name, labels),
    seals: (more: object = {}): void =>
      take({
        ...{ kind: 'seals', sealedAt: clock.now(), entries: 10, unsealed: 0, waitingMs: null },
        ...more,
      }),
  };
}

test('a trail whose news wait for a seal for more than five intervals is not ready, and says so', async () => {
  const book = openBook(keeping());
  book.seals({ unsealed: 3, waitingMs: 0 });
  await book.clock.pass(2 * minute);
  expect(book.ready().reasons).not.toContain('trail-unsealed');
  await book.clock.pass(minute);
  expect(book.ready().reasons).toContain('trail-unsealed');
  expect(book.ready().seals).toMatchObject({ unsealed: 3, waitingSeconds: 180 });
  expect(book.status()).toContain('not ready, nothing is sealed');
  expect(await book.value('seb_seal_waiting_seconds')).toBe(180);
  expect(await book.value('seb_trail_unsealed_entries')).toBe(3);
  expect(await book.value('seb_trail_sealed_entries')).toBe(7);
  book.seals();
  expect(book.ready().reasons).not.toContain('trail-unsealed');
});

test('a trail that takes nothing is unready for that reason alone: it cannot be sealed either', async () => {
  const book = openBook(keeping(), { kind: 'trouble', partition: '0', reason: 'disk-full' });
  book.seals({ unsealed: 3, waitingMs: 0 });
  await book.clock.pass(5 * minute);
  expect(book.ready().reasons).toContain('trail-unwritable');
  expect(book.ready().reasons).not.toContain('trail-unsealed');
});

test('an idle trail that was sealed within the hour is ready, however old the seal is', async () => {
  const book = openBook(keeping());
  book.seals();
  await book.clock.pass(59 * minute);
  expect(book.ready().reasons).not.toContain('trail-unsealed');
  expect(await book.value('seb_seal_age_seconds')).toBe(59 * 60);
});

test('an anchor that fails is a warning with its name, and leaves the consumer ready', async () => {
  const book = openBook(keeping());
  expect(book.ready().anchors).toEqual({
    'file:a': { anchoredAt: null, fault: null },
    'blob:b': { anchoredAt: null, fault: null },
  });
  const failed = { anchoredAt: book.clock.now(), fault: 'unreachable', failures: 2 };
  book.take({ kind: 'anchor', anchor: 'blob:b', ...failed });
  await book.clock.pass(minute);
  expect(book.ready().warnings).toEqual(['anchor-failing']);
  expect(book.ready().reasons).toEqual([]);
  expect(book.status()).toContain('no head of the trail is taken by blob:b');
  expect(await book.value('seb_anchor_failing', { anchor: 'blob:b' })).toBe(1);
  expect(await book.value('seb_anchor_failing', { anchor: 'file:a' })).toBe(0);
  expect(await book.value('seb_anchor_failures', { anchor: 'blob:b' })).toBe(2);
  expect(await book.value('seb_anchor_age_seconds', { anchor: 'blob:b' })).toBe(60);
});

test('a copy that does not go on is a warning, and its age is counted from when it was complete', async () => {
  const book = openBook(keeping());
  book.take({ kind: 'archive', copy: { state: 'complete', at: book.clock.now() } });
  await book.clock.pass(minute);
  const since = book.clock.now();
  book.take({ kind: 'archive', copy: { state: 'failing', reason: 'unreachable', place: null, since } });
  await book.clock.pass(minute);
  expect(book.ready().warnings).toEqual(['archive-failing']);
  expect(book.ready().archive).toEqual({ state: 'failing', fault: 'unreachable', ageSeconds: 120 });
  expect(book.status()).toContain('the copy of the trail does not go on');
  expect(await book.value('seb_archive_age_seconds')).toBe(120);
  expect(await book.value('seb_archive_failing')).toBe(1);
});

test('a trail that nobody signs is a warning for as long as it is so', async () => {
  const book = openBook(keeping({ signed: false, anchors: [], archived: false }));
  expect(book.ready()).toMatchObject({ warnings: ['unsigned'], anchors: {}, archive: null });
  expect(await book.value('seb_trail_signed')).toBe(0);
  expect(await book.value('seb_archive_age_seconds')).toBe(0);
});

test('a store that is away is told also where no partition brings anything, until the seals are seen again', async () => {
  const book = openBook(keeping());
  book.seals();
  book.take({ kind: 'seals-unreadable', reason: 'unreachable' });
  expect(book.ready()).toMatchObject({ reasons: ['trail-unwritable'], trail: { fault: 'unreachable' } });
  expect(book.status()).toContain('the trail takes nothing (unreachable)');
  expect(await book.value('seb_trail_fault', { fault: 'unreachable' })).toBe(1);
  book.seals();
  expect(book.ready()).toMatchObject({ reasons: [], trail: { fault: null } });
  book.take({ kind: 'seals-unreadable', reason: 'unreachable' });
  const counts = { entries: 1, records: 1, repeats: 0, conflicts: 0, parked: 0 };
  book.take({
    ...{ kind: 'stored', partition: '0', stream: 's', counts },
    position: { size: 1, lastSequenceNumber: 0 },
  });
  expect(book.ready().trail.fault).toBe(null);
});
