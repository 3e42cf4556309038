// Whether `/healthz` and `/readyz` judge an agent as its people would.
import { describe, expect, test } from 'vitest';
import { healthOf, readinessOf, type Standing } from '../../src/agent/readiness.ts';
import type { SourceView } from '../../src/agent/watch-events.ts';
import { type SourceState, unknownSource } from '../../src/core/source.ts';

const now = Date.UTC(2026, 10, 20);

const viewOf = (state: SourceState, documentAgeMs: number, change: Partial<SourceView> = {}): SourceView => ({
  source: { ...unknownSource(now - 5_000), state, detail: 'why' },
  lastDocumentAt: now - documentAgeMs,
  documentAgeMs,
  lateMs: 0,
  incarnation: '2',
  events: 1,
  seen: [],
  ...change,
});

const standingOf = (view: SourceView, change: Partial<Standing> = {}): Standing => ({
  now,
  view,
  health: { fault: null, setAside: null, discarded: 0 },
  queues: {},
  outboxBytes: 4096,
  outboxBytesMax: 100_000_000,
  ...change,
});

describe('an agent is ready', () => {
  test.each<[string, SourceState, number]>([
    ['while documents arrive', 'fresh', 800],
    ['while the first answer may take its time', 'warming', 120_000],
    ['through a moment of silence', 'silent', 59_000],
    ['through a few faults', 'failing', 60_000],
  ])('%s', (_when, state, ageMs) => {
    expect(readinessOf(standingOf(viewOf(state, ageMs)), 1_000)).toMatchObject({ ready: true, reasons: [] });
  });

  test('between two polls that are a minute apart, and after one that failed', () => {
    expect(readinessOf(standingOf(viewOf('failing', 130_000)), 60_000).ready).toBe(true);
  });
});

describe('an agent is not ready', () => {
  test.each<SourceState>(['fresh', 'silent', 'failing', 'refused'])(
    'when no document came for more than a minute: %s',
    (state) => {
      const readiness = readinessOf(standingOf(viewOf(state, 60_001)), 1_000);
      expect(readiness).toMatchObject({ ready: false, reasons: ['source-stale'] });
    },
  );

  test('when three polls a minute apart brought nothing', () => {
    expect(readinessOf(standingOf(viewOf('failing', 180_001)), 60_000).ready).toBe(false);
  });

  test.each(['full', 'damaged', 'unavailable'] as const)('when its outbox is %s', (fault) => {
    const health = { fault, setAside: null, discarded: 0 };
    const readiness = readinessOf(standingOf(viewOf('fresh', 1), { health }), 1_000);
    expect(readiness).toMatchObject({ ready: false, reasons: ['outbox-unwritable'], outbox: { fault } });
  });

  test('when its outbox cannot even be read', () => {
    const readiness = readinessOf(standingOf(viewOf('fresh', 1), { queues: null }), 1_000);
    expect(readiness).toMatchObject({ ready: false, reasons: ['outbox-unwritable'], sinks: null });
  });
});

test('sinks that rest or are behind are told, with why and since when, but do not count', () => {
  const queue = { pending: 3, dead: 1, oldestPendingAt: now - 90_500, rest: null };
  const until = now + 60_000;
  const queues = {
    busy: queue,
    hook: { ...queue, rest: { state: 'suspended', until: now - 1, reason: 'http-401' } },
    ops: { ...queue, rest: { state: 'paused', until, reason: 'http-429' } },
    over: { ...queue, rest: { state: 'paused', until: now, reason: 'http-429' } },
    idle: { pending: 0, dead: 0, oldestPendingAt: null, rest: null },
  } as const;
  const readiness = readinessOf(standingOf(viewOf('fresh', 1), { queues: queues as never }), 1_000);
  expect(readiness.ready).toBe(true);
  const active = { state: 'active', reason: null, until: null };
  expect(readiness.sinks).toMatchObject({
    busy: { ...active, pending: 3, dead: 1, oldestPendingSeconds: 90.5 },
    hook: { state: 'suspended', reason: 'http-401', until: '2026-11-19T23:59:59.999Z' },
    ops: { state: 'paused', reason: 'http-429', until: '2026-11-20T00:01:00.000Z' },
    over: active,
    idle: { ...active, pending: 0, oldestPendingSeconds: null },
  });
});

test('what is told of the source is its state, since when, and how old its last document is', () => {
  const first = viewOf('warming', 5_000, { lastDocumentAt: null });
  expect(readinessOf(standingOf(first), 1_000).source).toEqual({
    state: 'warming',
    detail: 'why',
    since: '2026-11-19T23:59:55.000Z',
    documentAgeSeconds: null,
  });
  expect(readinessOf(standingOf(viewOf('fresh', 1_250)), 1_000).source.documentAgeSeconds).toBe(1.25);
});

test.each([
  [0, true],
  [30_000, true],
  [30_001, false],
])('a poll loop that is %i ms behind its own plan is healthy: %s', (lateMs, healthy) => {
  expect(healthOf(viewOf('fresh', 0, { lateMs }))).toEqual({ healthy, pollLateSeconds: lateMs / 1000 });
});
