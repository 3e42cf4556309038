// A consumer in a process of its own, quicker to claim and to take over than one in production.
import { systemClock } from '../../../src/clock.ts';
import { runConsumer } from '../../../src/consumer/consumer.ts';
import { consumerSettings } from '../../../src/consumer/settings.ts';
import { openLog } from '../../../src/log.ts';

const [given = '{}'] = process.argv.slice(2);
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
// From here on it can be stopped; before, a signal just ends it.
process.stdout.write('started\n');
const settings = consumerSettings.parse(JSON.parse(given));
const end = await runConsumer(settings, {
  clock: systemClock,
  log: openLog('consumer', settings.log.level),
  signal: stopping.signal,
  watchIntervalMs: 2_000,
  share: { intervalMs: 500, expiryMs: 3_000 },
});
process.exitCode = end.ok ? 0 : 1;
// As the command line does: a link that the SDK opened while it was closed leaves a timer of 45 minutes behind.
setTimeout(() => process.exit(), 1_000).unref();
