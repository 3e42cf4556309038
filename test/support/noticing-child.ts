// The notices of a trail in a process of their own, which a test may kill; without a hub, so that it begins quickly.
import { openTrail, openTrailReader } from '../../src/audit/open.ts';
import { systemClock } from '../../src/clock.ts';
import { trail as trailSchema } from '../../src/config/consumer-trail.ts';
import { openNotifier } from '../../src/consumer/notify/notifier.ts';
import { silentMeters } from '../../src/delivery/meters.ts';
import { openLog } from '../../src/log.ts';
import { notifySettings } from './noticing.ts';

const [given = '{}'] = process.argv.slice(2);
const { trail: place, notify } = JSON.parse(given);
const trailSettings = trailSchema.parse(place);
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
// A test that failed before it could end this process must not leave it behind.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit(1);
}, 500).unref();
await using trail = await openTrail(trailSettings);
const notifier = openNotifier({
  settings: await notifySettings(notify),
  ...{ trail, instance: String(process.pid), meters: silentMeters, clock: systemClock },
  openReader: () => openTrailReader(trailSettings),
  isHearing: () => false,
  log: openLog('notices', 'info'),
});
process.stdout.write('started\n');
await notifier.run(stopping.signal);
