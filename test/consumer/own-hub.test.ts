// A sink that would bring the notices back to the consumer: refused, however the two name their hub.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sinksOfOwnHub } from '../../src/config/own-hub.ts';
import { Secret } from '../../src/config/secret.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { runCommandLine } from '../support/command-line.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const sentence = 'This is the hub that the consumer reads: it would hear its own notices';
const marker = 'marker-of-a-key';

/** @param sink the settings of the sink `stream`, but for its type */
function fileWith(directory: string, hub: object, sink: object): string {
  const path = join(directory, 'consumer.yaml');
  const sinks = { stream: { type: 'eventhubs', ...sink } };
  const notify = { stateDir: join(directory, 'notify'), imds: { endpoint: 'http://127.0.0.1:9' }, sinks };
  const trail = { path: join(directory, 'trail.db') };
  writeFileSync(path, JSON.stringify({ hub, trail, notify, log: { level: 'silent' } }));
  return path;
}

const named = (fullyQualifiedNamespace: string, eventHubName = 'fleet') => ({
  ...{ fullyQualifiedNamespace, eventHubName },
});
const stringFor = (host: string, end = '') =>
  `Endpoint=sb://${host}/;SharedAccessKeyName=a;SharedAccessKey=${marker}=${end}`;

it('a sink for the hub that is read is a fault of the settings when both name the namespace, in any case', async () => {
  using directory = temporaryDirectory();
  const validated = async (sink: object) => {
    const file = fileWith(directory.path, named('ns.servicebus.windows.net'), sink);
    return await runCommandLine(['config', 'show', '-c', file]);
  };
  const refused = await validated(named('NS.ServiceBus.windows.net', 'Fleet'));
  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr + refused.stdout).toContain(`notify.sinks.stream.eventHubName: ${sentence}`);
  for (const other of [named('ns.servicebus.windows.net', 'notices'), named('ns2.servicebus.windows.net')])
    expect(await validated(other)).toMatchObject({ exitCode: 0 });
});

it('a connection string of either side is compared by host and hub, and of nothing but hubs', () => {
  const secret = (text: string) => new Secret('plain', () => text);
  const sameHub = (hub: object, sink: object, type = 'eventhubs') =>
    sinksOfOwnHub(hub, { stream: { type, ...sink } }).length > 0;
  const byString = (text: string, eventHubName?: string) => ({
    ...{ connectionString: secret(text), ...(eventHubName && { eventHubName }) },
  });
  const own = named('ns.servicebus.windows.net');
  const host = 'NS.servicebus.windows.net';
  expect(sameHub(own, byString(stringFor(host), 'FLEET'))).toBe(true);
  expect(sameHub(byString(stringFor(host, ';EntityPath=fleet')), own)).toBe(true);
  expect(sameHub(byString(stringFor(host, ';entitypath=Fleet')), byString(stringFor(host), 'fleet'))).toBe(
    true,
  );
  expect(sameHub(byString(stringFor(`${host}:5671`), 'fleet'), own)).toBe(true);
  expect(sameHub(own, byString(stringFor(host), 'notices'))).toBe(false);
  expect(sameHub(own, byString(stringFor('other.servicebus.windows.net'), 'fleet'))).toBe(false);
  expect(
    sameHub(byString(stringFor('localhost:5001'), 'fleet'), byString(stringFor('localhost:5002'), 'fleet')),
  ).toBe(false);
  expect(sameHub(own, byString('no connection string', 'fleet'))).toBe(false);
  expect(sameHub(own, named('ns.servicebus.windows.net'), 'webhook')).toBe(false);
});

it('the consumer does not start with a sink whose connection string leads to its own hub, and shows no part of it', async () => {
  using directory = temporaryDirectory();
  const hub = { connectionString: stringFor('localhost:9', ';EntityPath=fleet') };
  const sink = { connectionString: stringFor('LOCALHOST:9'), eventHubName: 'fleet' };
  const run = await runCommandLine(['consumer', '-c', fileWith(directory.path, hub, sink)]);
  expect(run).toMatchObject({ exitCode: 1, stdout: '' });
  expect(run.stderr).toMatch(new RegExp(`^seb: notify\\.sinks\\.stream: ${sentence}[^\n]*\n$`));
  expect(run.stderr).not.toMatch(/marker|localhost/i);
  expect(existsSync(join(directory.path, 'trail.db'))).toBe(false);
});

it('seb check says that such a sink is refused, and passes one for another hub of the namespace', async () => {
  using directory = temporaryDirectory();
  const hubs = ['fleet', 'notices'].map((name) => ({ name, partitions: 1 }));
  await using emulator = await startEventHubsEmulator({ hubs });
  const { connectionString } = emulator;
  const checked = async (eventHubName: string) => {
    const file = fileWith(
      directory.path,
      { connectionString, eventHubName: 'fleet' },
      { connectionString, eventHubName },
    );
    const { stdout } = await runCommandLine(['check', '-c', file, '-o', 'json']);
    return (JSON.parse(stdout) as { check: string }[]).find(({ check }) => check === 'sink stream');
  };
  expect(await checked('fleet')).toMatchObject({
    result: 'failed',
    detail: expect.stringContaining(`eventhubs: ${sentence}`),
  });
  expect(await checked('notices')).toMatchObject({ result: 'ok' });
});
