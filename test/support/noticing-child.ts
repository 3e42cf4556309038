// The notices of a trail in a process of their own, which a test may kill; without a hub, so that it begins quickly.
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import { systemClock } from '../../src/clock.ts';
import { openNotifier } from '../../src/consumer/notify/notifier.ts';
import { silentMeters } from '../../src/delivery/meters.ts';
import { openLog } from '../../src/log.ts';
import { notifySettings } from './noticing.ts';

const [given = '{}'] = process.argv.slice(2);
const { path, notify } = JSON.parse(given);
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
await using trail = openSqliteTrail(path);
const notifier = openNotifier({
  settings: await notifySettings(notify),
  ...{ trail, instance: String(process.pid), meters: silentMeters, clock: systemClock },
  openReader: async () => openSqliteReader(path),
  isHearing: () => false,
  log: openLog('notices', 'warn'),
});
process.stdout.write('started\n');
await notifier.run(stopping.signal);
