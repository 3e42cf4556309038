// The end of the agent: in order, in time, and with its eyes open until the last delivery is done.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { orderlyStop } from '../../src/agent/stop.ts';
import { systemClock } from '../../src/clock.ts';
import { listDeliveries, openOutboxForCare } from '../../src/delivery/outbox/care.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { hurriedClock } from '../support/clocks.ts';
import { openInbox } from '../support/inbox.ts';
import { recordingLog } from '../support/recording-log.ts';
import { startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/imds/${name}`, import.meta.url), 'utf8');

const graceMs = 7_000;

test('while the last attempt is in hand the agent still watches, and writes down what happens', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox({ answer: { fault: 'hang' } });
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  const clock = hurriedClock(graceMs, 2_000);
  const agent = startAgent(directory.path, imds.url, { sinks: { hook } }, { clock });
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  await inbox.received(1);
  const end = agent.stop();
  const polls = imds.requests.length;
  imds.show(fixture('05-livemigration-3-started.json'));
  await until('more polls', () => imds.requests.length > polls + 2);
  expect(await end).toEqual({ ok: true });
  using database = openOutboxForCare(directory.path);
  const rows = database === null ? [] : listDeliveries(database, { sink: 'hook' });
  expect(rows.map(({ id, state }) => [id.replace(/.*_([a-z]+)(_[0-9a-f]{12})?$/, '$1'), state])).toEqual([
    ['scheduled', 'pending'],
    ['started', 'pending'],
  ]);
  // The attempt that was cut off by the end is not held against the sink.
  expect(rows.map(({ attempts }) => attempts)).toEqual([0, 0]);
});

test('with nothing in hand the agent ends at once', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  // An hour of grace: only an end that does not use it comes within the time of this test.
  const agent = startAgent(directory.path, imds.url, {}, { clock: hurriedClock(graceMs, 3_600_000) });
  await until('a record', () => agent.records().length > 0);
  expect(await agent.stop()).toEqual({ ok: true });
});

function openStop(clock = systemClock) {
  const asked = new AbortController();
  const log = recordingLog();
  return { asked, log, stop: orderlyStop(asked.signal, clock, log) };
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

test('an agent without sinks goes on until it is asked to end', async () => {
  const { asked, stop } = openStop();
  let isOver = false;
  const end = stop.allOrNone({ deliveries: [], watches: [untilAborted(stop.watching)] }).then(() => {
    isOver = true;
  });
  await delay(50);
  expect([isOver, stop.watching.aborted]).toEqual([false, false]);
  asked.abort();
  await end;
});

test('deliveries end first, then attempts, and the watch last of all', async () => {
  const { asked, stop } = openStop(hurriedClock(graceMs, 20));
  const order: string[] = [];
  const noted = async (name: 'delivering' | 'attempting' | 'watching'): Promise<void> => {
    await untilAborted(stop[name]);
    order.push(name);
  };
  asked.abort();
  await stop.allOrNone({
    deliveries: [noted('delivering'), noted('attempting')],
    watches: [noted('watching')],
  });
  expect(order).toEqual(['delivering', 'attempting', 'watching']);
});

test.each(['deliveries', 'watches'] as const)(
  'when one of the %s breaks all end, and the fault is not swallowed',
  async (kind) => {
    const { stop } = openStop();
    const broken = Promise.reject(new TypeError('a bug'));
    const loops = { deliveries: [untilAborted(stop.delivering)], watches: [untilAborted(stop.watching)] };
    await expect(stop.allOrNone({ ...loops, [kind]: [...loops[kind], broken] })).rejects.toThrow('a bug');
    expect([stop.delivering.aborted, stop.watching.aborted]).toEqual([true, true]);
  },
);

test('a loop that ends by itself ends nobody else', async () => {
  const { asked, stop } = openStop();
  const end = stop.allOrNone({ deliveries: [], watches: [Promise.resolve(), untilAborted(stop.watching)] });
  await delay(20);
  expect(stop.delivering.aborted).toBe(false);
  asked.abort();
  await end;
});

test('a sink that never lets go is left behind, and that is said', async () => {
  const { asked, log, stop } = openStop(hurriedClock(graceMs, 20));
  asked.abort();
  await stop.allOrNone({
    deliveries: [new Promise(() => undefined)],
    watches: [untilAborted(stop.watching)],
  });
  expect(log.lines).toMatchObject([{ level: 'warn' }]);
});
