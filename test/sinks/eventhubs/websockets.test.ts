// The Event Hubs sink over websockets: the real SDK against the emulator, directly and through a real proxy.
import { describe, expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { issueCertificate, trust } from '../../support/certificate.ts';
import { openInbox } from '../../support/inbox.ts';
import { openProxy, type ProxyOptions } from '../../support/proxy.ts';
import { outgoing, outgoingRecords, sampleRecord } from '../../support/records.ts';
import { withSecondTry } from '../../support/second-try.ts';
import { listenSilently } from '../../support/silent-server.ts';
import { sinkSettings } from '../../support/sink-kinds.ts';
import { until } from '../../support/until.ts';
import { openFromSettings, patience } from '../sink-contract.ts';

const delivered = { status: 'delivered' } as const;
const retryable = (reason: string) => ({ status: 'retryable', reason });

/** An emulator that takes AMQP in websockets over TLS, and a sink that sends to it so. */
async function openPair(more: object = {}, tls = issueCertificate()) {
  await using opening = new AsyncDisposableStack();
  opening.use(trust([tls.cert]));
  const hub = opening.use(await startEventHubsEmulator({ tls, websockets: true }));
  const opened = opening.use(openTo(hub, more));
  const owned = opening.move();
  return { hub, ...opened, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function openTo(
  hub: { readonly connectionString: string; readonly eventHubName: string },
  more: object = {},
) {
  const { connectionString, eventHubName } = hub;
  const settings = { type: 'eventhubs', connectionString, eventHubName, transport: 'websockets', ...more };
  const { sink } = openFromSettings(settings);
  return {
    sink,
    send: () => sink.send(outgoing(sampleRecord()), patience()),
    [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
  };
}

describe('websockets', () => {
  it('carry records to the hub, one and many, and end with the sink', async () => {
    await using pair = await openPair();
    expect(await pair.send()).toEqual(delivered);
    expect(await pair.sink.sendMany?.(outgoingRecords(3), patience())).toEqual([
      delivered,
      delivered,
      delivered,
    ]);
    expect([pair.hub.events().length, pair.hub.counters.connectionsAccepted]).toEqual([4, 1]);
    await pair.sink[Symbol.asyncDispose]();
    await until('the connection is closed', () => pair.hub.connections === 0);
  });

  it('are opened anew after they were lost', async () => {
    await using pair = await openPair();
    await pair.send();
    pair.hub.dropConnections();
    await until('the connection is gone', () => pair.hub.connections === 0);
    expect([await withSecondTry(pair.send), pair.hub.events().length]).toEqual([delivered, 2]);
  });

  it('find in a check what a send would find', async () => {
    await using pair = await openPair();
    expect(await pair.sink.check(patience())).toMatchObject({ ok: true });
    await pair.hub[Symbol.asyncDispose]();
    await using other = openTo(pair.hub);
    expect(await other.sink.check(patience())).toMatchObject({ ok: false, reason: 'connection-refused' });
  });

  it('go to nobody whose certificate is not good', async () => {
    await using hub = await startEventHubsEmulator({ tls: issueCertificate(), websockets: true });
    await using other = openTo(hub);
    expect(await other.send()).toMatchObject(retryable('tls-untrusted'));
  });

  // Well before the time-out of a websocket that nobody answers.
  it('are worth another try when what answers there is no hub', { timeout: 6_000 }, async () => {
    const tls = issueCertificate();
    using _trust = trust([tls.cert]);
    await using web = await openInbox({ tls });
    const connectionString = `Endpoint=sb://localhost:${web.port};SharedAccessKeyName=a;SharedAccessKey=b`;
    await using other = openTo({ connectionString, eventHubName: 'hub' });
    expect(await other.send()).toEqual(retryable('protocol'));
  });

  it('that nobody answers are given up in time, and leave no connection behind', async () => {
    await using silent = await listenSilently();
    const connectionString = `Endpoint=sb://localhost:${silent.port};SharedAccessKeyName=a;SharedAccessKey=b`;
    await using other = openTo({ connectionString, eventHubName: 'hub' }, { timeout: '1s' });
    expect(await other.send()).toEqual(retryable('timeout'));
    await until('the connection is gone', () => silent.connections === 0);
  });

  it('that are about to open end with the sink, and do not keep the program waiting', async () => {
    await using silent = await listenSilently();
    const connectionString = `Endpoint=sb://localhost:${silent.port};SharedAccessKeyName=a;SharedAccessKey=b`;
    const opened = openTo({ connectionString, eventHubName: 'hub' });
    const sending = opened.send();
    await until('the connection is there', () => silent.connections === 1);
    await opened[Symbol.asyncDispose]();
    expect(await sending).toEqual(retryable('aborted'));
    // Well before the time-out of a websocket that nobody answers.
    await until('the connection is gone', () => silent.connections === 0, 3_000);
  });
});

describe('a proxy', () => {
  /** The same, through a proxy. */
  async function openProxied(options: ProxyOptions = {}, more: object = {}) {
    await using opening = new AsyncDisposableStack();
    const proxy = opening.use(await openProxy(options));
    const pair = opening.use(await openPair({ proxy: proxy.url, timeout: '3s', ...more }, options.tls));
    const owned = opening.move();
    return { ...pair, proxy, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  }

  it('carries the websocket in a tunnel, and no record past it', async () => {
    await using pair = await openProxied();
    expect([await pair.send(), await pair.send()]).toEqual([delivered, delivered]);
    expect(pair.proxy.requests.map(({ authority }) => authority)).toEqual([`localhost:${pair.hub.port}`]);
    expect(pair.hub.counters.connectionsAccepted).toBe(1);
  });

  it('gets the user and the password of its URL', async () => {
    await using proxy = await openProxy({ login: 'us@er:pa:ss' });
    const login = proxy.url.replace('http://', 'http://us%40er:pa%3Ass@');
    await using pair = await openPair({ proxy: login });
    expect(await pair.send()).toEqual(delivered);
  });

  it('may itself speak TLS', async () => {
    await using pair = await openProxied({ tls: issueCertificate() });
    expect([await pair.send(), pair.proxy.requests.length]).toEqual([delivered, 1]);
  });

  it.each([
    [407, 'proxy-authentication'],
    [403, 'proxy-refused'],
    [502, 'proxy-refused'],
  ] as const)('that answers %i is told apart from the hub: %s', async (refuses, reason) => {
    await using pair = await openProxied({ refuses });
    expect(await pair.send()).toEqual(retryable(reason));
    expect(pair.hub.counters.connectionsAccepted).toBe(0);
  });

  it('that is not there is told apart from the hub', async () => {
    await using pair = await openProxied();
    await pair.proxy[Symbol.asyncDispose]();
    expect(await pair.send()).toEqual(retryable('proxy-unreachable'));
  });

  it('that never answers is given up in time', async () => {
    await using pair = await openProxied({ refuses: 'hang' }, { timeout: '1s' });
    expect(await pair.send()).toEqual(retryable('timeout'));
    await until('the proxy is left alone', () => pair.proxy.connectionsOpen === 0);
  });

  it.each(['127.0.0.1:3128', 'socks5://127.0.0.1:1080', 'proxy'])(
    'that Node would take for none, "%s", suspends the sink instead of being passed by',
    async (proxy) => {
      await using pair = await openPair({ proxy });
      expect(await pair.send()).toEqual({ status: 'unavailable', reason: 'proxy-invalid' });
      expect(pair.hub.counters.connectionsAccepted).toBe(0);
    },
  );

  it('of the environment is none of ours', async () => {
    await using proxy = await openProxy();
    await using pair = await openPair();
    for (const name of ['HTTPS_PROXY', 'https_proxy']) process.env[name] = proxy.url;
    const outcome = await pair.send();
    for (const name of ['HTTPS_PROXY', 'https_proxy']) delete process.env[name];
    expect([outcome, proxy.requests]).toEqual([delivered, []]);
  });

  it('is refused in the settings where AMQP itself is spoken', () => {
    const given = { connectionString: 'Endpoint=sb://x', eventHubName: 'hub', proxy: 'http://p.test:3128' };
    const parsed = sinkSettings.safeParse({ type: 'eventhubs', ...given });
    expect(parsed.error?.issues[0]?.message).toContain('transport: websockets');
    expect(sinkSettings.safeParse({ type: 'eventhubs', ...given, transport: 'websockets' }).success).toBe(
      true,
    );
  });
});
