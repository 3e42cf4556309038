// The whole agent: from a document on the wire to a record in a sink.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { listDeliveries, openOutboxForCare } from '../../src/delivery/outbox/care.ts';
import { outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { hurriedClock } from '../support/clocks.ts';
import { openInbox } from '../support/inbox.ts';
import { startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../fixtures/imds', name), 'utf8');

const migration = [
  '03-livemigration-1-empty.json',
  '04-livemigration-2-scheduled.json',
  '05-livemigration-3-started.json',
  '06-livemigration-4-empty.json',
];

test('the documented live migration gives exactly scheduled, started and completed, in every sink', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  await using agent = startAgent(directory.path, imds.url, { sinks: { hook } });
  for (const [index, name] of migration.entries()) {
    const polls = imds.requests.length;
    imds.show(fixture(name));
    await until(`two polls of ${name}`, () => imds.requests.length > polls + 2);
    await until('its record', () => agent.eventRecords().length >= index);
  }
  const records = agent.eventRecords();
  expect(records.map((record) => record.data.transition)).toEqual(['scheduled', 'started', 'completed']);
  expect(records.map((record) => record.id.replace(/_scheduled_[0-9a-f]{12}$/, '_scheduled'))).toEqual([
    'c7061bac-afdc-4513-b24b-aa5f13a16123_scheduled',
    'c7061bac-afdc-4513-b24b-aa5f13a16123_started',
    'c7061bac-afdc-4513-b24b-aa5f13a16123_completed',
  ]);
  await inbox.received(3);
  expect(inbox.requests.map(({ body }) => body.toString())).toEqual(records.map((r) => JSON.stringify(r)));
  expect(records[1]?.data.event.notBefore).toBe('2022-04-11T22:26:58Z');
});

test('the first record is agent.started, and the numbers of records have no hole over restarts', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  for (const run of [1, 2, 3]) {
    await using agent = startAgent(directory.path, imds.url);
    await until(
      'this run to begin',
      () => agent.records().filter(({ type }) => type.endsWith('agent.started.v1')).length === run,
    );
    await until('the event', () => agent.eventRecords().length === 1);
  }
  await using agent = startAgent(directory.path, imds.url);
  const records = await until('a fourth start', () => {
    const found = agent.records();
    return found.length === 5 && found;
  });
  expect(records[0]?.type).toBe('io.github.scheduled-events-bridge.agent.started.v1');
  expect(records.map(({ sequence }) => Number(sequence))).toEqual([1, 2, 3, 4, 5]);
});

test('an event that was there before the agent is marked initial, and one that comes later is not', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  await using agent = startAgent(directory.path, imds.url);
  await until('the first event', () => agent.eventRecords().length === 1);
  imds.show(fixture('02-two-reboots-scheduled-incarnation-192.json'));
  await until('two more', () => agent.eventRecords().length >= 3);
  expect(
    agent
      .eventRecords()
      .slice(0, 3)
      .map(({ data }) => data.initial),
  ).toEqual([true, false, false]);
});

test('records carry the observer, and whether the event names it', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator({ vms: [{ name: 'WestNO_0' }, { name: 'WestNO_9' }] });
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  await using named = startAgent(join(directory.path, 'a'), imds.endpointOf('WestNO_0'));
  await using other = startAgent(join(directory.path, 'b'), imds.endpointOf('WestNO_9'));
  await until('both', () => named.eventRecords().length + other.eventRecords().length === 2);
  const [first] = named.eventRecords();
  const [second] = other.eventRecords();
  expect(first?.data.observer.vmName).toBe('WestNO_0');
  expect([first?.data.affected, second?.data.affected]).toEqual([true, false]);
  expect(first?.id).toBe(second?.id);
  expect(first?.source).not.toBe(second?.source);
});

test('while instance metadata is down the agent watches all the same, and stamps records once it is known', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'status', status: 500 }, { path: 'instance', times: 2 });
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  await using agent = startAgent(directory.path, imds.url);
  await until('the event', () => agent.eventRecords().length === 1);
  await until('the VM to be known', () =>
    agent.log.lines.some(({ message }) => message === 'this VM is known'),
  );
  imds.show(fixture('05-livemigration-3-started.json'));
  await until('the start', () => agent.eventRecords().length === 2);
  const [scheduled, started] = agent.eventRecords();
  expect(scheduled?.data.observer.vmId).toBeNull();
  expect(started?.data.observer.vmId).not.toBeNull();
  expect(scheduled?.data.agent.instanceId).toBe(started?.data.agent.instanceId);
});

test('a disk copied to another VM begins anew there: other name, own eyes, nothing sent that was not its own', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator({ vms: [{ name: 'WestNO_0' }, { name: 'WestNO_1' }] });
  await using inbox = await openInbox({ answer: { status: 503 } });
  const sinks = { hook: { type: 'webhook', url: inbox.url, allowHttp: true } };
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  {
    await using original = startAgent(directory.path, imds.endpointOf('WestNO_0'), { sinks });
    await until('the event', () => original.eventRecords().length === 1);
    await inbox.received(1);
  }
  // A copied disk has another boot.
  forgetBoot(directory.path);
  imds.show(fixture('20-reboot-scheduled-availabilityset-2017-08-01.json'));
  await using copy = startAgent(directory.path, imds.endpointOf('WestNO_1'), { sinks });
  await until('its own event', () => copy.eventRecords().length === 2);
  await until('two more polls', () => imds.requests.filter(({ vm }) => vm === 'WestNO_1').length > 4);
  const [before, after] = copy.eventRecords();
  expect(after?.source).not.toBe(before?.source);
  expect(after?.data.agent.instanceId).not.toBe(before?.data.agent.instanceId);
  expect(copy.eventRecords().map(({ data }) => data.transition)).toEqual(['scheduled', 'scheduled']);
  using database = openOutboxForCare(directory.path);
  const dead = database === null ? [] : listDeliveries(database, { states: ['dead'] });
  expect(dead.map(({ sink, reason }) => [sink, reason])).toEqual([['hook', 'other-vm']]);
});

function forgetBoot(directory: string): void {
  using database = new DatabaseSync(join(directory, outboxFile));
  database.exec(`DELETE FROM meta WHERE key = 'observer'`);
}

test('a dead sink delays no other, keeps its queue, and gets everything in order when it is back', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox({ answer: { status: 503 } });
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  await using agent = startAgent(directory.path, imds.url, { sinks: { hook } });
  for (const name of migration) {
    imds.show(fixture(name));
    const polls = imds.requests.length;
    await until('polls', () => imds.requests.length > polls + 2);
  }
  await until('the file to have all', () => agent.eventRecords().length === 3);
  await inbox.received(2);
  inbox.answer({ status: 200 });
  const delivered = await until('the webhook to have all', () => {
    const ids = [...new Set(inbox.requests.map(({ headers }) => String(headers['webhook-id'])))];
    return ids.length === 3 && ids;
  });
  expect(delivered).toEqual(agent.eventRecords().map(({ id }) => id));
});

test('heartbeats say what was last seen and how the queues stand', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  await using agent = startAgent(directory.path, imds.url, { heartbeatInterval: '1s' });
  const heartbeat = await until('a heartbeat after the event', () =>
    agent
      .records()
      .find((r) => r.type.endsWith('agent.heartbeat.v1') && JSON.stringify(r).includes('"events":1')),
  );
  expect(heartbeat.data).toMatchObject({
    source: { state: 'fresh' },
    document: { incarnation: '2', events: 1 },
    outbox: { fault: null, discarded: 0 },
    sinks: [{ name: 'local', dead: 0, rest: null }],
  });
});

test('an agent that is often started anew forgets what is old all the same, soon after its start', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const settings = { outbox: { keepDelivered: '1s' } };
  const sequences = (): number[] => {
    using database = openOutboxForCare(directory.path);
    return database === null ? [] : listDeliveries(database, {}).map(({ sequence }) => sequence);
  };
  {
    await using first = startAgent(directory.path, imds.url, settings);
    await until('its record', () => first.records().length === 1);
  }
  const endedAt = performance.now();
  await until('its record to be old', () => performance.now() - endedAt > 1_100);
  expect(sequences()).toEqual([1]);
  // It waits 5 s, to be in nobody's way at the start.
  const clock = hurriedClock(5_000, 50);
  await using _second = startAgent(directory.path, imds.url, settings, { clock });
  await until('the old record to be forgotten', () => !sequences().includes(1));
});

test('a second agent on the same state directory refuses to run and says why', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using first = startAgent(directory.path, imds.url);
  await until('the first to run', () => first.records().length > 0);
  await using second = startAgent(directory.path, imds.url);
  const end = await second.stop();
  expect(end).toEqual({ ok: false, reason: expect.stringContaining('another agent already uses') });
});

test('a state directory that cannot be made is refused with a sentence that says what to do', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using agent = startAgent('/dev/null/state', imds.url, { sinks: { local: { type: 'stdout' } } });
  const end = await agent.stop();
  expect(end).toEqual({ ok: false, reason: expect.stringContaining('/dev/null/state') });
  expect(directory.path).toBeTruthy();
});
