// A consumer whose trail is on a disk of a few MiB; it hands out a copy of the trail when it is asked to.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../src/clock.ts';
import { runConsumer } from '../../src/consumer/consumer.ts';
import { consumerSettings } from '../../src/consumer/settings.ts';
import { openLog } from '../../src/log.ts';
import { obey } from './small-disk.ts';

const [disk = '', connectionString = '', eventHubName = '', copy = ''] = process.argv.slice(2);
const path = join(disk, 'trail.db');

/** The parent cannot see this disk. */
function copyTrail(): void {
  rmSync(copy, { force: true });
  using database = new DatabaseSync(path);
  database.prepare('VACUUM INTO ?').run(copy);
}

obey(disk, { copy: copyTrail });
const settings = consumerSettings.parse({ hub: { connectionString, eventHubName }, trail: { path } });
const { signal } = new AbortController();
await runConsumer(settings, { clock: systemClock, log: openLog('consumer', 'info'), signal });
