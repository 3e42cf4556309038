// The Event Hubs sink: the real SDK against the emulator, plain and over TLS, with all that goes wrong there.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { DeliveryReason, Outcome } from '../../src/core/delivery.ts';
import {
  type EventHubsEmulator,
  type EventHubsEmulatorOptions,
  startEventHubsEmulator,
} from '../../src/emulators/eventhubs/emulator.ts';
import { watchClientSockets } from '../support/client-sockets.ts';
import { runNode } from '../support/process.ts';
import { outgoing, sampleLife, sampleRecord } from '../support/records.ts';
import { listenSilently } from '../support/silent-server.ts';
import { sinkSettings } from '../support/sink-kinds.ts';
import { until } from '../support/until.ts';
import {
  keepsTheContractOfWaiting,
  keepsTheSinkContract,
  openFromSettings,
  patience,
  type SinkSubject,
} from './sink-contract.ts';

keepsTheSinkContract('eventhubs', openHub);
keepsTheContractOfWaiting('eventhubs', openHub);

const marker = 'k3y-5ecre7';

async function openHub(): Promise<SinkSubject> {
  const pair = await openPair({ timeout: '4s' }, { hubs: [{ name: 'hub', partitions: 1 }] });
  return {
    open: () => pair.sink,
    settings: pair.settings,
    secret: marker,
    touched: async () => pair.hub.counters.connectionsAccepted > 0,
    received: async () => pair.hub.events().map(({ body }) => body),
    break: async () => await pair.hub[Symbol.asyncDispose](),
    stall: async () => pair.hub.faults.add({ name: 'lost-ack' }),
    [Symbol.asyncDispose]: async () => await pair[Symbol.asyncDispose](),
  };
}

const delivered: Outcome = { status: 'delivered' };
const retryable = (reason: DeliveryReason): Outcome => ({ status: 'retryable', reason });
const unavailable = (reason: DeliveryReason): Outcome => ({ status: 'unavailable', reason });

/** An emulator, and a sink that sends to it. */
async function openPair(more: object = {}, options: EventHubsEmulatorOptions = {}) {
  const sharedAccessKeys = [{ name: 'sender', key: marker }];
  const hub = await startEventHubsEmulator({ sharedAccessKeys, ...options });
  const opened = openTo(hub, more);
  return {
    hub,
    ...opened,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
}

function openTo({ connectionString, eventHubName }: EventHubsEmulator, more: object = {}) {
  const { sink, settings } = openFromSettings({ type: 'eventhubs', connectionString, eventHubName, ...more });
  return {
    sink,
    settings,
    send: () => sink.send(outgoing(sampleRecord()), patience()),
    [Symbol.asyncDispose]: async () => await sink[Symbol.asyncDispose](),
  };
}

describe('the message', () => {
  it('carries the bytes of the record, and its attributes beside them', async () => {
    await using pair = await openPair();
    const { record, bytes } = outgoing(sampleRecord());
    await pair.sink.send({ record, bytes }, patience());
    expect(pair.hub.events()[0]).toMatchObject({
      body: bytes,
      contentType: 'application/cloudevents+json; charset=utf-8',
      messageId: record.id,
      correlationId: record.correlationid,
      partitionKey: record.partitionkey,
    });
  });

  it('repeats every attribute but datacontenttype as a text', async () => {
    await using pair = await openPair();
    const { record, bytes } = outgoing(sampleRecord());
    await pair.sink.send({ record, bytes }, patience());
    const { data: _, datacontenttype: __, ...attributes } = record;
    const texts = Object.entries(attributes).map(([name, value]) => [`cloudEvents_${name}`, String(value)]);
    expect(pair.hub.events()[0]?.properties).toEqual(Object.fromEntries(texts));
  });

  it('keeps the records of one event in one partition, in order', async () => {
    await using pair = await openPair();
    const lives = [sampleLife(), sampleLife(), sampleLife()];
    for (const record of lives.flat()) await pair.sink.send(outgoing(record), patience());
    for (const life of lives) {
      const events = pair.hub
        .events()
        .filter(({ correlationId }) => correlationId === life[0]?.correlationid);
      expect(new Set(events.map(({ partition }) => partition)).size).toBe(1);
      expect(events.map(({ messageId }) => messageId)).toEqual(life.map(({ id }) => id));
    }
  });
});

describe('a hub that refuses', () => {
  it('makes a record that is too large a rejected one, and takes the next', async () => {
    await using pair = await openPair({}, { messageBytesMax: 20_000 });
    const large = outgoing(sampleRecord({ description: 'x'.repeat(30_000) }));
    expect(await pair.sink.send(large, patience())).toEqual({ status: 'rejected', reason: 'too-large' });
    expect(await pair.send()).toEqual(delivered);
  });

  it('suspends the sink when the key is wrong', async () => {
    await using hub = await startEventHubsEmulator();
    const connectionString = hub.connectionString.replace(
      /SharedAccessKey=[^;]*/,
      `SharedAccessKey=${marker}`,
    );
    await using other = openTo({ ...hub, connectionString });
    expect(await other.send()).toEqual({ ...unavailable('unauthorized'), passing: true });
  });

  it('suspends the sink when the key may listen but not send, and finds that in a check', async () => {
    const sharedAccessKeys = [{ name: 'listener', key: marker, rights: ['listen'] as const }];
    await using pair = await openPair({}, { sharedAccessKeys });
    expect(await pair.send()).toEqual({ ...unavailable('unauthorized'), passing: true });
    expect(await pair.sink.check(patience())).toMatchObject({ ok: false, reason: 'unauthorized' });
  });

  it('suspends the sink when there is no such hub', async () => {
    await using pair = await openPair({ eventHubName: 'no-such-hub' });
    expect(await pair.send()).toEqual(unavailable('not-found'));
  });

  it('is left alone for a while when it is busy', async () => {
    await using pair = await openPair();
    pair.hub.faults.add({ name: 'server-busy' });
    expect(await pair.send()).toEqual({ ...retryable('throttled'), retryAfterMs: 10_000 });
  });

  it('gets another try when it fails itself', async () => {
    await using pair = await openPair();
    pair.hub.faults.add({ name: 'internal-error' });
    expect(await pair.send()).toEqual(retryable('unexpected'));
    expect(await pair.send()).toEqual(delivered);
  });

  it.each(['no connection string', `Endpoint=sb://${marker}`])(
    'suspends the sink when the connection string is "%s"',
    async (connectionString) => {
      const { sink } = openFromSettings({ type: 'eventhubs', connectionString, eventHubName: 'hub' });
      await using _ = sink;
      const outcome = await sink.send(outgoing(sampleRecord()), patience());
      expect(outcome).toEqual(unavailable('invalid-connection-string'));
    },
  );
});

describe.concurrent('a hub that is hard to reach', () => {
  it('is worth another try when nobody listens', async () => {
    await using pair = await openPair();
    await pair.hub[Symbol.asyncDispose]();
    expect(await pair.send()).toEqual(retryable('connection-refused'));
  });

  it('gets a connection of its own again after the one before was lost', async () => {
    await using pair = await openPair();
    using sockets = watchClientSockets(pair.hub.port);
    await pair.send();
    pair.hub.dropConnections();
    await until('the sink knows that the connection is gone', () => sockets.open === 0);
    expect([await pair.send(), pair.hub.events().length]).toEqual([delivered, 2]);
  });

  it('leaves no connection behind that never came to be open', async () => {
    await using silent = await listenSilently();
    const connectionString = `Endpoint=sb://127.0.0.1:${silent.port};SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true`;
    const { sink } = openFromSettings({
      type: 'eventhubs',
      connectionString,
      eventHubName: 'hub',
      timeout: '1s',
    });
    await using _ = sink;
    expect(await sink.send(outgoing(sampleRecord()), patience())).toEqual(retryable('timeout'));
    await until('the connection is gone', () => silent.connections === 0);
  });

  it('lets the program end, although it never spoke', async () => {
    await using silent = await listenSilently();
    const connectionString = `Endpoint=sb://127.0.0.1:${silent.port};SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true`;
    const program = fileURLToPath(new URL('imports-program.ts', import.meta.url));
    const sink = { type: 'eventhubs', connectionString, eventHubName: 'hub', timeout: '1s' };
    const { exitCode, stderr } = await runNode([program, JSON.stringify([sink])]);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("reason: 'timeout'")]);
  });

  it('gets a record twice under one id when its answer was lost', async () => {
    await using pair = await openPair();
    const record = outgoing(sampleRecord());
    pair.hub.faults.add({ name: 'drop-after-store' });
    expect(await pair.sink.send(record, patience())).toEqual(retryable('connection-reset'));
    expect(await pair.sink.send(record, patience())).toEqual(delivered);
    const ids = pair.hub.events().map(({ messageId }) => messageId);
    expect(ids).toEqual([record.record.id, record.record.id]);
  });

  it('is told apart from one that is slow when the connection dies under a send', async () => {
    await using pair = await openPair();
    await pair.send();
    pair.hub.faults.add({ name: 'drop-before-store' });
    // The connection had served before: that it died says little, so a second try is due at once.
    expect(await pair.send()).toEqual({ ...retryable('connection-reset'), stale: true });
    expect([await pair.send(), pair.hub.events().length]).toEqual([delivered, 2]);
  });

  it.each(['drop-before-store', 'detach', 'idle-close'] as const)(
    'loses no record to the fault %s',
    async (name) => {
      await using pair = await openPair({ timeout: '2s' });
      pair.hub.faults.add({ name });
      const record = outgoing(sampleRecord());
      const outcome = await pair.sink.send(record, patience());
      expect([outcome.status, pair.hub.events().length]).toEqual(['retryable', 0]);
      expect(await pair.sink.send(record, patience())).toEqual(delivered);
    },
  );
});

describe('one send at a time', () => {
  it('keeps the order of records that are given at once', async () => {
    await using pair = await openPair({}, { hubs: [{ name: 'hub', partitions: 1 }] });
    const records = sampleLife().map(outgoing);
    pair.hub.faults.add({ name: 'slow', delayMs: 300 });
    const outcomes = await Promise.all(records.map((record) => pair.sink.send(record, patience())));
    expect(outcomes).toEqual(records.map(() => delivered));
    const ids = pair.hub.events().map(({ messageId }) => messageId);
    expect(ids).toEqual(records.map(({ record }) => record.id));
  });

  it('joins a send that goes on after its caller has left, instead of sending again', async () => {
    await using pair = await openPair();
    const record = outgoing(sampleRecord());
    pair.hub.faults.add({ name: 'slow', delayMs: 600 });
    const hurry = AbortSignal.timeout(300);
    expect(await pair.sink.send(record, hurry)).toEqual(retryable('aborted'));
    expect(await pair.sink.send(record, patience())).toEqual(delivered);
    expect([pair.hub.events().length, pair.hub.counters.transfers]).toEqual([1, 1]);
  });
});

describe('the connection', () => {
  it('is closed when no record has followed for a while, and opened for the next', async () => {
    await using pair = await openPair({ idleTimeout: '1s' });
    await pair.send();
    await pair.send();
    expect(pair.hub.counters.connectionsAccepted).toBe(1);
    await until('the connection is closed', () => pair.hub.connections === 0);
    expect([await pair.send(), pair.hub.counters.connectionsAccepted]).toEqual([delivered, 2]);
  });

  it('is closed with the sink', async () => {
    await using pair = await openPair();
    await pair.send();
    await pair.sink[Symbol.asyncDispose]();
    await until('the connection is closed', () => pair.hub.connections === 0);
  });

  it('does not keep the program waiting for a hub that never answers', async () => {
    await using pair = await openPair();
    await pair.send();
    pair.hub.faults.add({ name: 'lost-ack' });
    const sending = pair.send();
    await pair.sink[Symbol.asyncDispose]();
    // Ended by the sink itself, and not by the time-out of the send.
    expect(await sending).toEqual(retryable('aborted'));
  });
});

describe('the settings', () => {
  it.each([
    ['neither', {}],
    ['both', { connectionString: 'Endpoint=sb://x', fullyQualifiedNamespace: 'ns.servicebus.windows.net' }],
  ])('are refused with %s of connection string and namespace', (_, given) => {
    const parsed = sinkSettings.safeParse({ type: 'eventhubs', eventHubName: 'hub', ...given });
    expect(parsed.error?.issues[0]?.message).toContain('either');
  });
});
