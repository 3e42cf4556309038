// Notices over a real hub, a real trail and a real inbox: one for each fact, whoever saw it, and a receipt for each.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { openInbox } from '../support/inbox.ts';
import { hookTo, idsIn, journalAt, migrationNow, notifySettings } from '../support/noticing.ts';
import { openSender, startConsumer } from '../support/running-consumer.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const smallHub = () => startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 2 }] });

test('25 observers of one event make one notice of each fact, and the journal has a receipt for each', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using hub = await smallHub();
  await using sender = openSender(hub);
  await using inbox = await openInbox();
  const notify = await notifySettings({
    stateDir: join(directory.path, 'notify'),
    sinks: { hook: hookTo(inbox) },
  });
  await using consumer = startConsumer(path, hub, { notify });
  await until('a lead', () =>
    consumer.log.lines.some(({ message }) => message === 'notices are sent from here'),
  );
  const life = migrationNow(1, 25);
  await sender.send(life);
  await inbox.received(3);
  await consumer.stop();
  console.log(consumer.log.lines.filter(({ level }) => level !== 'info'));
  expect(idsIn(inbox)).toEqual([...new Set(life.map(({ id }) => id))]);
  const receipts = await journalAt(path, 'notified');
  expect(receipts.map(({ sink, id, outcome }) => [sink, id, outcome])).toEqual(
    idsIn(inbox).map((id) => ['hook', id, 'delivered']),
  );
});
