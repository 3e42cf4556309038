// The part of the HTTP contract that is about proxies: through them where the settings say so, and what their refusals mean.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DeliveryReason } from '../../../src/core/delivery.ts';
import { issueCertificate, trust } from '../../support/certificate.ts';
import { openInbox } from '../../support/inbox.ts';
import { openProxy } from '../../support/proxy.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import {
  acceptance,
  delivered,
  type HttpSubject,
  marker,
  openPair,
  openTo,
  retryable,
  settingOf,
  unavailable,
} from '../http-subject.ts';
import { patience } from '../sink-contract.ts';

export function goesThroughProxies(subject: HttpSubject): void {
  it('sends through the proxy of its settings, and logs in there and nowhere else', async () => {
    await using proxy = await openProxy({ login: `us@er:${marker}` });
    const login = proxy.url.replace('http://', `http://us%40er:${marker}@`);
    await using pair = await openPair(subject, { proxy: login });
    expect([await pair.send(), await pair.send()]).toEqual([delivered, delivered]);
    const authorization = `Basic ${Buffer.from(`us@er:${marker}`).toString('base64')}`;
    // One tunnel for both: a connection is kept as without a proxy.
    expect(proxy.requests).toMatchObject([{ authority: `127.0.0.1:${pair.inbox.port}`, authorization }]);
    expect(pair.inbox.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('lets the proxy resolve the name of a receiver, and verifies that receiver itself', async () => {
    const name = 'receiver.test';
    const tls = issueCertificate({ names: [name] });
    using _trust = trust([tls.cert]);
    await using inbox = await openInbox({ tls, answer: acceptance(subject) });
    await using proxy = await openProxy({ leads: { [name]: inbox.port, 'other.test': inbox.port } });
    const more = { proxy: proxy.url, allowHttp: false };
    await using good = openTo(subject, { ...settingOf(subject, `https://${name}`), ...more });
    await using wrong = openTo(subject, { ...settingOf(subject, 'https://other.test'), ...more });
    expect([await good.send(), await good.sink.check(patience())]).toMatchObject([delivered, { ok: true }]);
    expect(await wrong.send()).toMatchObject(retryable('tls-name-mismatch'));
    // A check may go over the connection of the send before it, or over its own.
    const asked = new Set(proxy.requests.map(({ authority }) => authority));
    expect([...asked]).toEqual(['receiver.test:443', 'other.test:443']);
  });

  it('names a receiver by its IPv6 address in brackets', async () => {
    await using inbox = await openInbox({ answer: acceptance(subject) });
    await using proxy = await openProxy({ leads: { '[::1]': inbox.port } });
    await using opened = openTo(subject, { ...settingOf(subject, 'http://[::1]:81'), proxy: proxy.url });
    expect([await opened.send(), await opened.sink.check(patience())]).toMatchObject([
      delivered,
      { ok: true },
    ]);
    const asked = new Set(proxy.requests.map(({ authority }) => authority));
    expect([...asked]).toEqual(['[::1]:81']);
  });

  it('speaks TLS with a proxy, by the same authority, and shows its certificate to the receiver alone', async () => {
    const [server, client] = [issueCertificate(), issueCertificate()];
    using directory = temporaryDirectory();
    const files = { caFile: server.cert, certFile: client.cert, keyFile: client.key };
    const paths = Object.entries(files).map(([name, text]) => {
      writeFileSync(join(directory.path, name), text);
      return [name, join(directory.path, name)] as const;
    });
    await using proxy = await openProxy({ tls: server });
    const more = { proxy: proxy.url, tls: Object.fromEntries(paths) };
    const receiver = { ...server, clientAuthorities: [client.cert] };
    await using pair = await openPair(subject, more, { tls: receiver });
    expect(await pair.send()).toEqual(delivered);
    expect(proxy.requests).toMatchObject([{ certified: false }]);
  });

  tellsRefusalsApart(subject);
  guardsBeforeTheProxy(subject);
}

function tellsRefusalsApart(subject: HttpSubject): void {
  it.each([
    [407, 'proxy-authentication'],
    [403, 'proxy-refused'],
    [502, 'proxy-refused'],
    [302, 'proxy-refused'],
    ['reset', 'proxy-unreachable'],
  ] as const)('understands a proxy that answers with %s as: %s', async (refuses, reason) => {
    await using proxy = await openProxy({ refuses });
    await using pair = await openPair(subject, { proxy: proxy.url });
    expect(await pair.send()).toEqual(retryable(reason));
    expect(await pair.sink.check(patience())).toMatchObject({ ok: false, reason });
    expect(pair.inbox.connections).toBe(0);
    await until('the proxy is left alone', () => proxy.connectionsOpen === 0);
  });

  it('notices that nobody listens where the proxy should be', async () => {
    await using pair = await openPair(subject);
    const { port } = await closedProxy();
    await using opened = openTo(subject, {
      ...settingOf(subject, pair.inbox.url),
      proxy: `http://127.0.0.1:${port}`,
    });
    expect(await opened.send()).toEqual(retryable('proxy-unreachable'));
  });

  it('does not believe a proxy whose certificate nobody vouches for', async () => {
    await using proxy = await openProxy({ tls: issueCertificate() });
    await using pair = await openPair(subject, { proxy: proxy.url });
    expect(await pair.send()).toEqual(retryable('proxy-unreachable'));
    expect(proxy.requests).toEqual([]);
  });
}

function guardsBeforeTheProxy(subject: HttpSubject): void {
  it.each(['169.254.169.254', '[::ffff:a9fe:a9fe]', '168.63.129.16', '2852039166'])(
    'does not ask a proxy for %s',
    async (host) => {
      await using proxy = await openProxy();
      await using opened = openTo(subject, { ...settingOf(subject, `http://${host}`), proxy: proxy.url });
      expect(await opened.send()).toEqual(unavailable('egress-blocked'));
      expect([proxy.requests, proxy.connectionsOpen]).toEqual([[], 0]);
    },
  );

  const cases: readonly (readonly [string, DeliveryReason])[] = [
    ['http://0.0.0.0:3128', 'egress-blocked'],
    [`socks5://127.0.0.1/${marker}`, 'proxy-invalid'],
    [`proxy ${marker}`, 'proxy-invalid'],
    [`http://127.0.0.1:3128/${marker}`, 'proxy-invalid'],
    [`http://%zz:${marker}@127.0.0.1:3128`, 'proxy-invalid'],
  ];
  it.each(cases)('suspends the sink when its proxy is %s', async (proxy, reason) => {
    await using pair = await openPair(subject, { proxy });
    expect(await pair.send()).toEqual(unavailable(reason));
    expect(pair.inbox.connections).toBe(0);
  });
}

/** A port where a proxy was a moment ago. */
async function closedProxy() {
  await using proxy = await openProxy();
  return { port: proxy.port };
}
