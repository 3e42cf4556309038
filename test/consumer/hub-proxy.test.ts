// The consumer where only HTTPS gets out: AMQP in websockets, and through a proxy.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { parseConfiguration } from '../../src/config/load.ts';
import { runConsumer } from '../../src/consumer/consumer.ts';
import { hubConnector } from '../../src/consumer/hub.ts';
import { hubFaultOf } from '../../src/consumer/hub-fault.ts';
import { consumerSettings } from '../../src/consumer/settings.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { silentLog } from '../../src/log.ts';
import { issueCertificate, trust } from '../support/certificate.ts';
import { openProxy } from '../support/proxy.ts';
import { entriesIn, openSender } from '../support/running-consumer.ts';
import { listenSilently } from '../support/silent-server.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const tls = issueCertificate();
const openHub = () => startEventHubsEmulator({ tls, websockets: true });
const throughProxy = (hub: { readonly connectionString: string }, proxy: string, path = 'trail.db') =>
  consumerSettings.parse({
    hub: {
      ...{ connectionString: hub.connectionString, eventHubName: 'scheduled-events' },
      ...{ transport: 'websockets', proxy },
    },
    trail: { path },
  });
const loggedIn = (port: number): string => `http://user:password@127.0.0.1:${port}`;

test('a hub is read in websockets through a proxy that asks for a login, and in no other way', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  using _trusted = trust([tls.cert]);
  await using hub = await openHub();
  await using proxy = await openProxy({ login: 'user:password' });
  await using sender = openSender(hub);
  await sender.send(liveMigration());
  const settings = throughProxy(hub, loggedIn(proxy.port), path);
  const stopping = new AbortController();
  const { signal } = stopping;
  const connectionsBefore = hub.connections;
  const end = runConsumer(settings, { clock: systemClock, log: silentLog, signal });
  await entriesIn(path, 3);
  expect(hub.connections - connectionsBefore).toBe(proxy.requests.length);
  expect(new Set(proxy.requests.map(({ authority }) => authority))).toEqual(
    new Set([hub.fullyQualifiedNamespace]),
  );
  stopping.abort();
  expect(await end).toEqual({ ok: true });
  await expect.poll(() => proxy.connectionsOpen).toBe(0);
});

test.for([
  ['wants another login', { login: 'user:other' }, 'proxy-authentication'],
  ['refuses to connect', { refuses: 403 }, 'proxy-refused'],
] as const)('a proxy that %s is told from a hub that does', async ([, options, fault]) => {
  await using hub = await openHub();
  await using proxy = await openProxy(options);
  await using connection = await hubConnector(throughProxy(hub, loggedIn(proxy.port)).hub)();
  const error = await connection.describe().catch((thrown: unknown) => thrown);
  expect(hubFaultOf(error)).toBe(fault);
});

test('a connection that is let go leaves none behind that is still being made', async () => {
  await using silent = await listenSilently();
  const endpoint = `sb://127.0.0.1:${silent.port}/`;
  const connectionString = `Endpoint=${endpoint};SharedAccessKeyName=a;SharedAccessKey=not-a-key`;
  const hub = { connectionString, eventHubName: 'scheduled-events', transport: 'websockets' };
  const settings = consumerSettings.parse({ hub, trail: { path: 'trail.db' } });
  const connection = await hubConnector(settings.hub)();
  const described = connection.describe().catch(() => 'given up');
  await expect.poll(() => silent.connections).toBe(1);
  await connection[Symbol.asyncDispose]();
  await expect.poll(() => silent.connections).toBe(0);
  expect(await described).toBe('given up');
});

test('a proxy for plain AMQP, which goes through none, is refused with what to do', () => {
  const text = 'hub: { connectionString: { env: HUB }, eventHubName: a, proxy: "http://127.0.0.1:3128" }';
  expect(() => parseConfiguration(text, 'consumer.yaml', consumerSettings)).toThrow(
    /hub: AMQP goes through no proxy: give transport: websockets as well, or leave proxy out/,
  );
});

test('an address of a proxy that cannot be used ends the consumer with the setting in its words', async () => {
  using directory = temporaryDirectory();
  await using hub = await openHub();
  const end = await runConsumer(throughProxy(hub, 'proxy:3128', join(directory.path, 'trail.db')), {
    ...{ clock: systemClock, log: silentLog, signal: new AbortController().signal },
  });
  expect(end).toEqual({ ok: false, reason: expect.stringMatching(/^hub\.proxy: .* http:\/\/HOST:PORT/) });
});
