// The end of a session: no batch is in hand when it is over, however slow the store.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import type { TrailStore } from '../../src/audit/store.ts';
import { systemClock } from '../../src/clock.ts';
import { hubConnector } from '../../src/consumer/hub.ts';
import { openProgress } from '../../src/consumer/progress.ts';
import { runSession } from '../../src/consumer/session.ts';
import { consumerSettings } from '../../src/consumer/settings.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { silentLog } from '../../src/log.ts';
import { alone } from '../support/lone-session.ts';
import { openSender } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

test('a stop waits for the commit that is under way', async () => {
  using directory = temporaryDirectory();
  await using trail = openSqliteTrail(join(directory.path, 'trail.db'));
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  let appending = false;
  // A store that takes its time, as one behind a network does.
  const slow: TrailStore = {
    ...trail,
    append: async (...args) => {
      appending = true;
      await opened;
      return trail.append(...args);
    },
  };
  await using hub = await startEventHubsEmulator();
  await using sender = openSender(hub);
  await sender.send(liveMigration());
  const { connectionString, eventHubName } = hub;
  const settings = consumerSettings.parse({ hub: { connectionString, eventHubName } });
  const stopping = new AbortController();
  const order: string[] = [];
  const session = runSession({
    ...{ connect: hubConnector(settings.hub), trail: slow, holes: new Map(), clock: systemClock },
    ...{ log: silentLog, watchIntervalMs: 10_000, creditMax: 100_000, signal: stopping.signal },
    ...{ progress: openProgress(systemClock), ...alone },
    onStored: () => order.push('stored'),
  }).then((end) => order.push(end.reason));
  await until('a commit under way', () => appending);
  stopping.abort();
  // Long enough for a session that does not wait.
  for (let event = 1; event <= 10; event++) await sender.send(liveMigration(event));
  expect(order).toEqual([]);
  open();
  await session;
  expect(order).toEqual(['stored', 'stopped']);
});
