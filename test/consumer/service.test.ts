// The consumer under a service manager: when it is ready, what its status says, and that a stuck loop is heard of no longer.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { openService } from '../../src/service-notify.ts';
import { stuckClock } from '../support/clocks.ts';
import { type HubPlace, startConsumer } from '../support/running-consumer.ts';
import { passDescriptor, startService } from '../support/service-manager.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const ping = 'WATCHDOG=1';
// Nobody listens there.
const nowhere: HubPlace = {
  connectionString:
    'Endpoint=sb://127.0.0.1:9;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true',
  eventHubName: 'fleet',
};

function openWatched(hub: HubPlace) {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  const env = { WATCHDOG_USEC: '300000' };
  const passed = resources.use(passDescriptor(join(directory.path, 'messages'), env));
  const service = openService({ env: passed.env, clock: systemClock });
  if (service !== null) resources.use(service);
  const clock = stuckClock();
  const path = join(directory.path, 'trail.db');
  const consumer = resources.use(startConsumer(path, hub, { clock, service, watchIntervalMs: 200 }));
  return { ...{ passed, clock, consumer }, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

test('a consumer whose loop is stuck is heard of no longer, although the process lives', async () => {
  await using hub = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 2 }] });
  await using watched = openWatched(hub);
  const { passed, clock, consumer } = watched;
  await until('the status', () => passed.said().includes('STATUS=reading fleet, 2 partitions'));
  clock.stop();
  clock.pass(25_000);
  const before = passed.count(ping);
  await until('more pings while a promise may still be kept', () => passed.count(ping) > before + 3);
  clock.pass(40_000);
  await until('the status of a stuck loop', () =>
    passed.said().includes('STATUS=the reading of the hub is stuck'),
  );
  const last = passed.count(ping);
  // Long enough for fifteen pings.
  await delay(1_500);
  expect(passed.count(ping)).toBe(last);
  expect(consumer.log.lines.filter(({ message }) => message.includes('stuck'))).toHaveLength(1);
});

test('a hub that cannot be reached is no reason to be restarted, and the status says so', async () => {
  await using watched = openWatched(nowhere);
  const { passed } = watched;
  const unread = /^STATUS=the hub is not read since \S+Z \(connection-refused\)$/;
  await until('the status', () => passed.said().some((each) => unread.test(each)));
  const before = passed.count(ping);
  await until('pings', () => passed.count(ping) > before + 5);
});

test('a real consumer is ready before the hub is reached, and says that it stops', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'consumer.yaml');
  writeFileSync(path, JSON.stringify({ hub: nowhere, trail: { path: join(directory.path, 'trail.db') } }));
  await using consumer = startService([cli, 'consumer', '-c', path]);
  await until('READY=1', () => consumer.heard.some(({ text }) => text === 'READY=1'));
  expect(consumer.heard[1]?.text).toBe('STATUS=connecting to the hub');
  consumer.signal('SIGTERM');
  expect(await consumer.ended()).toBe(0);
  expect(consumer.heard.slice(-2).map(({ text }) => text)).toEqual(['STOPPING=1', 'STATUS=stopping']);
});
