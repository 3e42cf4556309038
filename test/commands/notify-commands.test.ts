// Whether the commands that look after an agent's sinks and queue look after a consumer's notices as well.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { runCommandLine } from '../support/command-line.ts';
import { openInbox } from '../support/inbox.ts';
import { hookTo, journalAt, migrationNow, noticesFrom, notifySettings } from '../support/noticing.ts';
import { openSender, startConsumer } from '../support/running-consumer.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const imds = { endpoint: 'http://127.0.0.1:9' };

/** Writes a consumer's file into the directory. @returns its path */
function writeFile(directory: string, connectionString: string, notify?: object): string {
  const path = join(directory, 'consumer.yaml');
  const hub = { connectionString, eventHubName: 'fleet' };
  const trail = { path: join(directory, 'trail.db') };
  writeFileSync(path, JSON.stringify({ hub, trail, ...(notify && { notify: { imds, ...notify } }) }));
  return path;
}

test('seb check tries the directory and each sink of the notices, and seb config show has their defaults', async () => {
  using directory = temporaryDirectory();
  await using hub = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 1 }] });
  await using inbox = await openInbox();
  const stateDir = join(directory.path, 'notify');
  const sinks = { hook: hookTo(inbox), gone: hookTo(inbox, { url: 'http://127.0.0.1:9/x' }) };
  const file = writeFile(directory.path, hub.connectionString, { stateDir, sinks });
  const checked = await runCommandLine(['check', '-c', file, '-o', 'json']);
  const rows = JSON.parse(checked.stdout) as { check: string; result: string }[];
  const resultOf = (name: string) => rows.find(({ check }) => check === name)?.result;
  expect(['notify.stateDir', 'sink hook', 'sink gone'].map(resultOf)).toEqual(['ok', 'ok', 'failed']);
  expect([checked.exitCode, inbox.requests.length]).toEqual([1, 0]);
  const shown = await runCommandLine(['config', 'show', '-c', file]);
  expect(shown.stdout).toMatch(/groupWait: 5s[\s\S]*silenceInterval: 1m/);
});

test('seb sink test sends to a sink of the notices, and names no VM', async () => {
  using directory = temporaryDirectory();
  await using inbox = await openInbox();
  const file = writeFile(directory.path, 'unused', { sinks: { hook: hookTo(inbox) } });
  const run = await runCommandLine(['sink', 'test', 'hook', '-c', file]);
  expect([run.exitCode, inbox.requests.length]).toEqual([0, 1]);
  expect(JSON.parse(String(inbox.requests[0]?.body)).data.observer.vmName).toBeNull();
});

test('seb outbox lists, shows, discards and tries again what waits for a sink of the notices, beside the consumer', async () => {
  using directory = temporaryDirectory();
  await using hub = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 1 }] });
  await using sender = openSender(hub);
  await using inbox = await openInbox({ answer: { status: 404 } });
  const notify = { stateDir: join(directory.path, 'notify'), sinks: { hook: hookTo(inbox) } };
  const file = writeFile(directory.path, hub.connectionString, notify);
  const seb = (...words: readonly string[]) => runCommandLine(['outbox', ...words, '-c', file]);
  expect((await seb('list')).stderr).toContain('the consumer that sends the notices makes it');
  const settings = { notify: await notifySettings(notify) };
  await using consumer = startConsumer(join(directory.path, 'trail.db'), hub, settings);
  await noticesFrom(consumer);
  const life = migrationNow(1, 1);
  await sender.send(life);
  const list = async () => JSON.parse((await seb('list', '-o', 'json')).stdout) as { id: string }[];
  await until('three that wait', async () => (await list()).length === 3);
  const [scheduled, started, completed] = life.map(({ id }) => id);
  expect((await list()).map(({ id }) => id)).toEqual([scheduled, started, completed]);
  expect(JSON.parse((await seb('show', String(started))).stdout).record.data.fleet.observers).toBe(1);
  await seb('discard', String(started));
  inbox.answer({ status: 200 });
  await seb('retry', '--all');
  await until('an empty queue', async () => (await list()).length === 0);
  await consumer.stop();
  const receipts = await journalAt(join(directory.path, 'trail.db'), 'notified');
  expect(receipts.map(({ id, outcome }) => [id, outcome]).toSorted()).toEqual(
    [
      [scheduled, 'delivered'],
      [started, 'discarded'],
      [completed, 'delivered'],
    ].toSorted(),
  );
});

test('a file without notices has no outbox, and says so', async () => {
  using directory = temporaryDirectory();
  const run = await runCommandLine(['outbox', 'list', '-c', writeFile(directory.path, 'unused')]);
  expect(run.exitCode).toBe(2);
  expect(run.stderr).toContain('it sends no notices');
});
