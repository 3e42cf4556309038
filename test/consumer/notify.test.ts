// Notices over a real hub, a real trail and a real inbox: one for each fact, whoever saw it, and a receipt for each.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FleetEventData } from '../../src/core/fleet-record.ts';
import { encodeRecord } from '../../src/core/record.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { openInbox } from '../support/inbox.ts';
import {
  hookTo,
  idsIn,
  impactNow,
  journalAt,
  migrationNow,
  noticesFrom,
  notifySettings,
  recordsIn,
  sayingNow,
} from '../support/noticing.ts';
import { entriesIn, openSender, startConsumer } from '../support/running-consumer.ts';
import { eventIdOf, freeze, vmIdOf } from '../support/synthetic.ts';
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
  // Of a slow witness, and a fact behind them.
  const [last] = migrationNow(2, 1);
  await sender.send([
    ...migrationNow(1, 26).filter(({ source }) => source.endsWith('25')),
    ...(last ? [last] : []),
  ]);
  await inbox.received(4);
  await consumer.stop();
  expect(idsIn(inbox)).toEqual([...new Set([...life, last].map((record) => record?.id))]);
  const receipts = await journalAt(path, 'notified');
  expect(receipts.map(({ sink, id, outcome }) => [sink, id, outcome])).toEqual(
    idsIn(inbox).map((id) => ['hook', id, 'delivered']),
  );
});

test('what stood in the trail before notices were switched on is told to nobody, also not after a restart', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using hub = await smallHub();
  await using sender = openSender(hub);
  await using inbox = await openInbox();
  await sender.send(migrationNow(1, 2));
  {
    await using silent = startConsumer(path, hub);
    await entriesIn(path, 6);
    await silent.stop();
  }
  const sinks = { hook: hookTo(inbox) };
  const notify = await notifySettings({ stateDir: join(directory.path, 'notify'), sinks });
  for (const event of [2, 3]) {
    await using consumer = startConsumer(path, hub, { notify });
    await noticesFrom(consumer);
    await sender.send(migrationNow(event, 2));
    await inbox.received(3 * (event - 1));
    await consumer.stop();
  }
  const told = recordsIn(inbox).map(({ correlationid }) => correlationid);
  expect(told).toEqual([2, 2, 2, 3, 3, 3].map((event) => eventIdOf(event).toLowerCase()));
});

test('a chat hears in one message of what belongs together, and data sinks of each fact', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using hub = await smallHub();
  await using sender = openSender(hub);
  await using inbox = await openInbox();
  await using chat = await openInbox({ answer: { body: 'ok' } });
  const ops = { type: 'slack', url: `${chat.url}/services/T/B/x`, allowHttp: true };
  const sinks = { hook: hookTo(inbox), ops };
  const notify = await notifySettings({ stateDir: join(directory.path, 'notify'), sinks, groupWait: '1s' });
  await using consumer = startConsumer(path, hub, { notify });
  await noticesFrom(consumer);
  const burst = [1, 2, 3, 4].map((event) =>
    sayingNow({ event: freeze(event, { resources: [`web-${event}`] }), kind: 'scheduled', vm: event }),
  );
  await sender.send(burst);
  await inbox.received(4);
  await chat.received(1);
  await until('the receipts', async () => (await journalAt(path, 'notified')).length === 5);
  await consumer.stop();
  expect(chat.requests).toHaveLength(1);
  const told = (await journalAt(path, 'notified')).filter(({ sink }) => sink === 'ops');
  expect(told.map(({ type }) => type)).toEqual(['io.github.scheduled-events-bridge.fleet.wave.v1']);
  expect(told[0]?.facts.toSorted()).toEqual(burst.map(({ id }) => id).toSorted());
  for (const name of ['web-1', 'web-2', 'web-3', 'web-4']) {
    expect(chat.requests[0]?.body.toString()).toContain(name);
  }
});

test('the end of an event names every VM of it, and who should have told of it and did not', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using hub = await smallHub();
  await using sender = openSender(hub);
  await using inbox = await openInbox();
  const sinks = { hook: hookTo(inbox) };
  const notify = await notifySettings({ stateDir: join(directory.path, 'notify'), sinks });
  await using consumer = startConsumer(path, hub, { notify });
  await noticesFrom(consumer);
  await sender.send(migrationNow(1, 1));
  await inbox.received(3);
  await consumer.stop();
  const fleets = recordsIn(inbox).map(({ data }) => (data as FleetEventData).fleet);
  expect(fleets.map(({ missing }) => missing)).toEqual([[], [], [{ name: 'web-1', reason: 'no-agent' }]]);
  expect(fleets[2]?.vms.map(({ name, vmId }) => [name, vmId])).toEqual([
    ['web-0', vmIdOf(0)],
    ['web-1', null],
  ]);
});

test('what agents did goes on as they wrote it, once; what is no whole record stops nobody', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using hub = await smallHub();
  await using sender = openSender(hub);
  await using inbox = await openInbox();
  const filter = { records: ['event', 'impact'] };
  const sinks = { hook: hookTo(inbox, { filter }) };
  const notify = await notifySettings({ stateDir: join(directory.path, 'notify'), sinks });
  await using consumer = startConsumer(path, hub, { notify });
  await noticesFrom(consumer);
  const deed = impactNow(1);
  const [whole] = migrationNow(1, 1);
  const broken = { ...whole, id: 'broken', data: { event: { eventId: eventIdOf(1), resources: 7 } } };
  await sender.send([JSON.stringify(broken), 'no record']);
  await sender.send([deed]);
  await inbox.received(1);
  await sender.send([deed]);
  await sender.send(migrationNow(1, 1));
  await inbox.received(4);
  await consumer.stop();
  expect(inbox.requests.filter(({ body }) => body.equals(encodeRecord(deed)))).toHaveLength(1);
  expect(inbox.requests).toHaveLength(4);
  expect(
    consumer.log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields),
  ).toContainEqual({
    odd: 1,
  });
});

test('of two consumers with one state directory one sends, and the other follows when it is gone', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using hub = await smallHub();
  await using sender = openSender(hub);
  await using inbox = await openInbox();
  const sinks = { hook: hookTo(inbox) };
  const notify = await notifySettings({ stateDir: join(directory.path, 'notify'), sinks });
  await using one = startConsumer(path, hub, { notify });
  await noticesFrom(one);
  await using two = startConsumer(path, hub, { notify, settings: { status: { listen: 0 } } });
  const role = async (): Promise<string> => {
    const page = await fetch(`${await two.statusUrl()}/readyz`);
    return ((await page.json()) as { notices: { role: string } }).notices.role;
  };
  await until('a follower', async () => (await role()) === 'following');
  await sender.send(migrationNow(1, 3));
  await inbox.received(3);
  await one.stop();
  await until('a leader', async () => (await role()) === 'leading');
  await sender.send(migrationNow(2, 3));
  await inbox.received(6);
  await two.stop();
  expect(inbox.requests).toHaveLength(6);
});

test('a sink that hangs, and a state directory that is none, hold up neither reading nor the end', async () => {
  using directory = temporaryDirectory();
  const [path, taken] = [join(directory.path, 'trail.db'), join(directory.path, 'file')];
  writeFileSync(taken, '');
  await using hub = await smallHub();
  await using sender = openSender(hub);
  await using inbox = await openInbox({ answer: { fault: 'hang' } });
  const sinks = { hook: hookTo(inbox) };
  const hanging = await notifySettings({ stateDir: join(directory.path, 'notify'), sinks });
  const impossible = await notifySettings({ stateDir: join(taken, 'notify'), sinks });
  await using one = startConsumer(path, hub, { notify: hanging });
  await using two = startConsumer(`${path}2`, hub, { notify: impossible });
  await noticesFrom(one);
  await sender.send(migrationNow(1, 2));
  await Promise.all([entriesIn(path, 6), entriesIn(`${path}2`, 6), inbox.received(1)]);
  const begunAt = performance.now();
  expect(await Promise.all([one.stop(), two.stop()])).toEqual([{ ok: true }, { ok: true }]);
  expect(performance.now() - begunAt).toBeLessThan(9_500);
  expect(two.log.lines.map(({ fields }) => fields)).toContainEqual({ reason: 'state-dir-unusable' });
  const stopped = await journalAt(path, 'consumer-stopped');
  expect(stopped).toHaveLength(1);
});
