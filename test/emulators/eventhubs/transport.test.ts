// TLS, websockets and tokens instead of keys, with the real SDK.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { EventHubProducerClient, type TokenCredential } from '@azure/event-hubs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { openListener } from '../../../src/emulators/eventhubs/listener.ts';
import { issueCertificate } from '../../support/certificate.ts';
import { bodiesFrom, producerFor } from '../../support/hub-clients.ts';
import { connectRaw } from '../../support/raw-amqp.ts';

const tls = issueCertificate();
const usual = getCACertificates('default');

// The SDK has no setting for whom to trust: it takes what Node trusts.
beforeAll(() => setDefaultCACertificates([...usual, tls.cert]));
afterAll(() => setDefaultCACertificates(usual));

it('sends and reads over TLS, and says so in the connection string', async () => {
  await using emulator = await startEventHubsEmulator({ tls });
  expect(emulator.connectionString).not.toContain('UseDevelopmentEmulator');
  await using producer = producerFor(emulator);
  await producer.client.sendBatch([{ body: 'over TLS' }], { partitionId: '0' });
  expect(await bodiesFrom(emulator, '0', { offset: '-1' }, 1)).toEqual(['over TLS']);
});

it('sends over a websocket on the same port', async () => {
  await using emulator = await startEventHubsEmulator({ tls, websockets: true });
  const webSocketOptions = { webSocket: WebSocket };
  const client = new EventHubProducerClient(emulator.connectionString, emulator.eventHubName, {
    webSocketOptions,
  });
  await client.sendBatch([{ body: 'in a websocket' }, { body: Buffer.alloc(200_000, 'x') }]);
  await client.close();
  await using plain = producerFor(emulator);
  await plain.client.sendBatch([{ body: 'without' }]);
  expect(emulator.events()).toHaveLength(3);
  expect(emulator.counters.connectionsAccepted).toBe(2);
});

it('takes websockets on their path only, and none unless asked to', async () => {
  await using emulator = await startEventHubsEmulator({ websockets: true });
  const outcome = (path: string, port = emulator.port) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, ['AMQPWSB10']);
    return new Promise<string>((resolve) => {
      socket.on('open', () => {
        resolve(socket.protocol);
        socket.terminate();
      });
      socket.on('error', () => resolve('refused'));
    });
  };
  expect(await outcome('/$servicebus/websocket')).toBe('AMQPWSB10');
  expect(await outcome('/elsewhere')).toBe('refused');
  await using without = await startEventHubsEmulator();
  expect(await outcome('/$servicebus/websocket', without.port)).toBe('refused');
});

const credential = (token: string): TokenCredential => ({
  getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }),
});

const jwtThatExpires = (at: number): string =>
  ['{"alg":"none"}', JSON.stringify({ exp: Math.floor(at / 1000) }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

const sendWithToken = async (namespace: string, token: string): Promise<void> => {
  const retryOptions = { maxRetries: 0, timeoutInMs: 15_000 };
  const client = new EventHubProducerClient(namespace, 'scheduled-events', credential(token), {
    retryOptions,
  });
  await client.sendBatch([{ body: 1 }]).finally(() => client.close());
};

it('takes any JSON web token that has not expired when asked to, and shows which', async () => {
  await using emulator = await startEventHubsEmulator({ tls, acceptAnyJwt: true });
  const token = jwtThatExpires(Date.now() + 3_600_000);
  await sendWithToken(emulator.fullyQualifiedNamespace, token);
  expect(emulator.events()).toHaveLength(1);
  expect(emulator.tokens).toMatchObject([
    {
      type: 'jwt',
      token,
      accepted: true,
      audience: `sb://${emulator.fullyQualifiedNamespace}/scheduled-events`,
    },
  ]);
  const expired = sendWithToken(emulator.fullyQualifiedNamespace, jwtThatExpires(Date.now() - 1_000));
  await expect(expired).rejects.toMatchObject({ code: 'UnauthorizedError' });
  expect(emulator.tokens.map(({ accepted }) => accepted)).toEqual([true, false]);
});

it('takes no JSON web token otherwise', async () => {
  await using emulator = await startEventHubsEmulator({ tls });
  const sent = sendWithToken(emulator.fullyQualifiedNamespace, jwtThatExpires(Date.now() + 3_600_000));
  await expect(sent).rejects.toMatchObject({ code: 'UnauthorizedError' });
});

it('ends although a client never shook hands', async () => {
  const emulator = await startEventHubsEmulator({ tls });
  const socket = connect(emulator.port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  await emulator[Symbol.asyncDispose]();
  await once(socket.resume(), 'close');
});

it('refuses a TLS key that is none', async () => {
  const broken = startEventHubsEmulator({ tls: { key: 'no key', cert: tls.cert } });
  await expect(broken).rejects.toThrow('the TLS key and certificate');
});

// Trap 6: with Nagle's algorithm an acknowledgement waits 40 ms for the client's own.
it('sends small frames at once', async () => {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  await using listener = await openListener({
    port: 0,
    tls: undefined,
    websockets: false,
    onConnection: (socket) => resolve(socket as Socket),
  });
  const connecting = connectRaw(listener);
  connecting.catch(() => undefined);
  const socket = await promise;
  // Node has no way to ask: this is where its setNoDelay leaves what it was told.
  const noDelay = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'kSetNoDelay',
  );
  expect(Reflect.get(socket, noDelay ?? '')).toBe(true);
  socket.destroy();
});

it('listens on 127.0.0.1 and no other address', async () => {
  await using emulator = await startEventHubsEmulator();
  const reached = (host: string) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(emulator.port, host, () => resolve(true));
      socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
    });
  expect([await reached('127.0.0.1'), await reached('127.0.0.2')]).toEqual([true, false]);
});
