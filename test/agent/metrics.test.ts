// The metrics page: whether Prometheus can read it, whether it counts right, and what it must never say.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openMetrics } from '../../src/agent/metrics.ts';
import type { Standing } from '../../src/agent/readiness.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openInbox } from '../support/inbox.ts';
import { readPrometheusPage } from '../support/prometheus-text.ts';
import { type RunningAgent, startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/imds/${name}`, import.meta.url), 'utf8');

async function pageOf(agent: RunningAgent) {
  const answer = await fetch(`${await agent.statusUrl()}/metrics`);
  const text = await answer.text();
  return { answer, text, ...readPrometheusPage(text) };
}

const status = { listen: 0 };
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

test('a whole run is counted: polls, records, attempts, deliveries, delays', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox({ answer: { status: 500 } });
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  await using agent = startAgent(directory.path, imds.url, { sinks: { hook }, status });
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  await inbox.received(1);
  inbox.answer({ status: 200 });
  await inbox.received(2);
  const page = await until('the delivery to be counted', async () => {
    const found = await pageOf(agent);
    return found.value('seb_deliveries_total', { sink: 'hook', state: 'delivered' }) === 1 && found;
  });
  expect(page.answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const { value } = page;
  const of = (sink: string) => ({ sink });
  expect(value('seb_polls_total', { result: 'document' })).toBeGreaterThan(0);
  expect(value('seb_polls_total', { result: 'failed' })).toBe(0);
  expect(value('seb_source_state', { state: 'fresh' })).toBe(1);
  expect(value('seb_document_events')).toBe(1);
  expect(value('seb_document_age_seconds')).toBeLessThan(15);
  const freeze = { type: 'event', transition: 'scheduled', event_type: 'Freeze' };
  expect(value('seb_records_total', freeze)).toBe(1);
  expect(value('seb_records_total', { type: 'agent.started', transition: '', event_type: '' })).toBe(1);
  const refused = { sink: 'hook', outcome: 'retryable', reason: 'http-500' };
  expect(value('seb_delivery_attempts_total', refused)).toBe(1);
  expect(value('seb_delivery_attempts_total', { sink: 'hook', outcome: 'delivered', reason: '' })).toBe(1);
  expect(value('seb_delivery_attempt_duration_seconds_count', of('hook'))).toBe(2);
  expect(value('seb_delivery_delay_seconds_count', of('hook'))).toBe(1);
  expect(value('seb_delivery_delay_seconds_count', of('local'))).toBe(2);
  expect(value('seb_queue_deliveries', of('hook'))).toBe(0);
  expect(value('seb_queue_oldest_age_seconds', of('hook'))).toBe(0);
  expect(value('seb_outbox_size_bytes')).toBeGreaterThan(0);
  expect(value('seb_outbox_size_max_bytes')).toBe(100 * 1024 * 1024);
  expect(value('seb_process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(value('seb_process_resident_memory_bytes')).toBeGreaterThan(1e6);
});

test('a suspended sink and its waiting records stand on the page', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox({ answer: { status: 401 } });
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  await using agent = startAgent(directory.path, imds.url, { sinks: { hook }, status });
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  const page = await until('the suspension', async () => {
    const found = await pageOf(agent);
    return found.value('seb_sink_suspended', { sink: 'hook' }) === 1 && found;
  });
  expect(page.value('seb_queue_deliveries', { sink: 'hook' })).toBe(1);
  expect(page.value('seb_queue_oldest_age_seconds', { sink: 'hook' })).toBeGreaterThan(0);
  expect(page.value('seb_sink_suspended', { sink: 'local' })).toBe(0);
  const unavailable = { sink: 'hook', outcome: 'unavailable', reason: 'http-401' };
  expect(page.value('seb_delivery_attempts_total', unavailable)).toBe(1);
});

test('no event id, VM name, resource, description or URL stands on the page, whatever went through the agent', async () => {
  using directory = temporaryDirectory();
  const vm = 'MARKER-OF-A-VM_0';
  await using imds = await startImdsEmulator({ vms: [{ name: vm }] });
  await using inbox = await openInbox({ answer: { status: 418 } });
  const hook = { type: 'webhook', url: `${inbox.url}/marker-of-a-url`, allowHttp: true };
  await using agent = startAgent(directory.path, imds.url, { sinks: { hook }, status });
  const id = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
  const event = {
    EventId: id,
    EventStatus: 'Scheduled',
    EventType: 'Marker-of-a-type',
    ResourceType: 'VirtualMachine',
    Resources: [vm],
    NotBefore: 'Mon, 11 Apr 2022 22:26:58 GMT',
    Description: 'marker-of-a-description\n"} seb_evil 1',
    EventSource: 'marker-of-a-source',
    DurationInSeconds: 5,
  };
  imds.show(JSON.stringify({ DocumentIncarnation: 7, Events: [event] }));
  await inbox.received(1);
  imds.show(JSON.stringify({ DocumentIncarnation: 8, Events: [] }));
  await until('the end of the event', () => agent.eventRecords().length === 2);
  const page = await until('both on the page', async () => {
    const found = await pageOf(agent);
    const samples = found.families.get('seb_records_total')?.samples ?? [];
    return samples.filter(({ labels }) => labels['event_type'] === 'other').length === 2 && found;
  });
  const [record] = agent.eventRecords();
  expect(page.text).not.toMatch(/marker/i);
  for (const name of [id, record?.source ?? '', inbox.url, imds.url, directory.path]) {
    expect(page.text.toLowerCase()).not.toContain(name.toLowerCase());
  }
});

test('every metric is ours by its name', async () => {
  const { body } = await openMetrics(['hook']).page(atRest);
  const names = [...readPrometheusPage(body).families.keys()];
  expect(names.filter((name) => !/^seb_[a-z_]+$/.test(name))).toEqual([]);
  expect(names.length).toBeGreaterThan(20);
});

test('what a receiver answers beyond HTTP, and what Azure may send one day, adds one series at most', async () => {
  const { meters, page } = openMetrics(['hook']);
  const attempt = { sink: 'hook', outcome: 'retryable', durationMs: 10 } as const;
  for (let status = 0; status < 1_000; status += 1) meters.attempt({ ...attempt, reason: `http-${status}` });
  const type = 'io.github.scheduled-events-bridge.event.scheduled.v1';
  const record = (eventType: string) => ({ type, data: { transition: 'scheduled', event: { eventType } } });
  meters.records(['Freeze', 'FREEZE', 'Melt', 'Vanish'].map(record) as never);
  const { families, value } = readPrometheusPage((await page(atRest)).body);
  const attempts = families.get('seb_delivery_attempts_total')?.samples ?? [];
  expect(attempts).toHaveLength(502);
  expect(
    value('seb_delivery_attempts_total', { sink: 'hook', outcome: 'retryable', reason: 'http-other' }),
  ).toBe(500);
  const of = (event_type: string) => ({ type: 'event', transition: 'scheduled', event_type });
  expect(value('seb_records_total', of('Freeze'))).toBe(2);
  expect(value('seb_records_total', of('other'))).toBe(2);
});

test('only what was delivered counts as a delay, whatever else came to its end', async () => {
  const { meters, page } = openMetrics(['hook']);
  meters.settled({ sink: 'hook', state: 'dead', endToEndMs: 604_800_000 });
  meters.settled({ sink: 'hook', state: 'superseded', endToEndMs: 100 });
  meters.settled({ sink: 'hook', state: 'delivered', endToEndMs: 1_500 });
  const { value } = readPrometheusPage((await page(atRest)).body);
  const states = ['dead', 'superseded', 'delivered'];
  expect(states.map((state) => value('seb_deliveries_total', { sink: 'hook', state }))).toEqual([1, 1, 1]);
  expect(value('seb_delivery_delay_seconds_count', { sink: 'hook' })).toBe(1);
  expect(value('seb_delivery_delay_seconds_sum', { sink: 'hook' })).toBe(1.5);
});

test('the series of every sink are there before its first delivery', async () => {
  const { families } = readPrometheusPage((await openMetrics(['one', 'two']).page(atRest)).body);
  for (const name of ['seb_delivery_attempts_total', 'seb_deliveries_total', 'seb_delivery_delay_seconds']) {
    const sinks = families.get(name)?.samples.map(({ labels }) => labels['sink']);
    expect([...new Set(sinks)]).toEqual(['one', 'two']);
  }
});

test('the page follows what is asked anew each time, and forgets what is over', async () => {
  const { page } = openMetrics(['hook']);
  const queue = { pending: 4, dead: 2, oldestPendingAt: 940_000 };
  const rest = { state: 'paused', until: 1_000_001, reason: 'http-429' };
  const queues = { hook: { ...queue, rest } } as never;
  const health = { fault: 'full', setAside: null, discarded: 3 } as const;
  const bad = readPrometheusPage((await page({ ...atRest, queues, health, outboxBytes: null })).body);
  const hook = { sink: 'hook' };
  expect(bad.value('seb_queue_deliveries', hook)).toBe(4);
  expect(bad.value('seb_queue_dead_deliveries', hook)).toBe(2);
  expect(bad.value('seb_queue_oldest_age_seconds', hook)).toBe(60);
  expect(bad.value('seb_sink_paused', hook)).toBe(1);
  expect(bad.value('seb_outbox_fault', { fault: 'full' })).toBe(1);
  expect(bad.value('seb_outbox_discarded_total')).toBe(3);
  expect(bad.families.get('seb_outbox_size_bytes')?.samples).toEqual([]);
  const good = readPrometheusPage((await page({ ...atRest, health: { ...health, fault: null } })).body);
  expect(good.families.get('seb_queue_deliveries')?.samples).toEqual([]);
  expect(good.value('seb_outbox_fault', { fault: 'full' })).toBe(0);
  expect(good.value('seb_outbox_discarded_total')).toBe(3);
  expect(good.value('seb_outbox_size_bytes')).toBe(4096);
});

test.each([
  ['a family without a type', '# HELP seb_x x\nseb_x 1\n', 'has the type ""'],
  ['a series twice', '# HELP seb_x x\n# TYPE seb_x gauge\nseb_x{a="1"} 1\nseb_x{a="1"} 2\n', 'twice'],
  ['a counter by another name', '# HELP seb_x x\n# TYPE seb_x counter\nseb_x 1\n', 'seb_x is a counter'],
  ['milliseconds', '# HELP seb_x_ms x\n# TYPE seb_x_ms gauge\nseb_x_ms 1\n', 'base unit'],
  ['a torn label', '# HELP seb_x x\n# TYPE seb_x gauge\nseb_x{a="1} 1\n', 'not a list of labels'],
  ['a line break in a label', '# HELP seb_x x\n# TYPE seb_x gauge\nseb_x{a="1\n"} 1\n', 'not a'],
  ['no help', '# HELP seb_x \n# TYPE seb_x gauge\nseb_x 1\n', 'has no help'],
  ['a stranger in a family', '# HELP seb_x x\n# TYPE seb_x gauge\nseb_y 1\n', 'stands among'],
  [
    'half a histogram',
    '# HELP seb_x x\n# TYPE seb_x histogram\nseb_x_bucket{le="1"} 1\n',
    'no whole histogram',
  ],
  ['no number', '# HELP seb_x x\n# TYPE seb_x gauge\nseb_x one\n', 'not a number'],
])('the reader of these tests notices %s', (_what, text, fault) => {
  expect(() => readPrometheusPage(text)).toThrow(fault);
});
