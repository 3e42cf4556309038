// What the metrics page says of approvals, hooks and impact: counted once, by closed lists, and running hooks by name.
import { expect, test } from 'vitest';
import { openMetrics } from '../../src/agent/metrics.ts';
import type { Standing } from '../../src/agent/readiness.ts';
import type { ApprovalData, HookOutcome } from '../../src/core/deed.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { approvalOf, hookOf, impactOf, rebootImpact } from '../support/deed-records.ts';
import { readPrometheusPage } from '../support/prometheus-text.ts';

const atRest: Standing = {
  now: 1_000_000,
  view: {
    source: { state: 'fresh', detail: '', failures: 0, since: 0, startedAt: 0, warm: true },
    lastDocumentAt: 999_500,
    documentAgeMs: 500,
    lateMs: 0,
    incarnation: '2',
    events: 0,
    seen: [],
  },
  health: { fault: null, setAside: null, discarded: 0 },
  queues: {},
  outboxBytes: 4096,
  outboxBytesMax: 1_000_000,
};

/** The page after these records were made durable, commit by commit. */
async function pageAfter(...commits: readonly (readonly BridgeRecord[])[]) {
  const { meters, page } = openMetrics([]);
  for (const committed of commits) meters.records(committed);
  const { body } = await page(atRest);
  return { body, ...readPrometheusPage(body) };
}

test('every decision, every outcome and every kind of impact has its series before it first comes', async () => {
  const { families } = await pageAfter();
  const seriesOf = (name: string) => families.get(name)?.samples.length;
  expect([seriesOf('seb_approvals_total'), seriesOf('seb_hooks_total')]).toEqual([10, 14]);
  const kinds = families.get('seb_impact_seconds')?.samples.map(({ labels }) => labels['kind']);
  expect([...new Set(kinds)]).toEqual(['none', 'pause', 'reboot']);
});

test('approvals are counted by what was decided and why', async () => {
  const refused = approvalOf({ decision: 'refused', reason: 'never' });
  const { value } = await pageAfter([approvalOf(), refused], [refused]);
  const of = (decision: ApprovalData['decision'], reason: string) =>
    value('seb_approvals_total', { decision, reason });
  expect([of('approved', 'rule'), of('refused', 'never'), of('refused', 'shared')]).toEqual([1, 2, 0]);
});

test('a hook that starts is counted, and again when it ends', async () => {
  const { value } = await pageAfter(
    [hookOf({ outcome: 'started' })],
    [hookOf({ outcome: 'timed-out' })],
    [hookOf({ phase: 'recover', outcome: 'not-started' })],
  );
  const of = (phase: string, outcome: HookOutcome) => value('seb_hooks_total', { phase, outcome });
  expect([of('prepare', 'started'), of('prepare', 'timed-out'), of('recover', 'not-started')]).toEqual([
    1, 1, 1,
  ]);
  expect(of('prepare', 'succeeded')).toBe(0);
});

test('a hook runs from its start to its end; the end of one that an earlier run began takes away nothing', async () => {
  const other = { hook: '/usr/local/bin/flush' };
  const [began, alsoBegan] = [hookOf({ outcome: 'started' }), hookOf({ ...other, outcome: 'started' })];
  const running = async (...records: readonly BridgeRecord[]) =>
    (await pageAfter(records)).value('seb_hooks_running');
  expect(await running()).toBe(0);
  expect(await running(began, alsoBegan)).toBe(2);
  expect(await running(began, hookOf({ ...other, outcome: 'unknown' }))).toBe(1);
  expect(await running(began, alsoBegan, hookOf(), hookOf({ ...other, outcome: 'failed' }))).toBe(0);
});

test('an impact counts by its upper bound, and one that nobody measured does not', async () => {
  const { value } = await pageAfter([
    impactOf(),
    rebootImpact(),
    impactOf({ kind: 'unknown', measured: null }),
    impactOf({ kind: 'none', measured: { lowerMs: 0, upperMs: 1_100 } }),
  ]);
  const of = (kind: string) => value('seb_impact_seconds_sum', { kind });
  expect([of('pause'), of('reboot'), of('none')]).toEqual([2.998, 60.1, 1.1]);
  expect(value('seb_impact_seconds_bucket', { kind: 'pause', le: '2.5' })).toBe(0);
  expect(value('seb_impact_seconds_bucket', { kind: 'pause', le: '5' })).toBe(1);
  expect(value('seb_impact_seconds_count', { kind: 'reboot' })).toBe(1);
});

test('no event id, name of a VM, path or output of a hook stands on the page', async () => {
  const event = { eventId: 'MARKER-1', resources: ['MARKER_0'] };
  const { body } = await pageAfter([
    approvalOf({ event, actor: { kind: 'person', name: 'marker' } }),
    hookOf({ event, outcome: 'started', hook: '/opt/marker', output: 'marker' }),
    impactOf({ event }),
  ]);
  expect(body).not.toMatch(/marker/i);
  expect(body).not.toContain('WestNO_0');
});
