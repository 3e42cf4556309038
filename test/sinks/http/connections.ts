// The part of the HTTP contract that is about connections: receivers that misbehave, and networks that fail.
import { describe, expect, it } from 'vitest';
import { openInbox } from '../../support/inbox.ts';
import { openProxy } from '../../support/proxy.ts';
import { listenSilently } from '../../support/silent-server.ts';
import { until } from '../../support/until.ts';
import {
  acceptance,
  delivered,
  type HttpSubject,
  noSuchHost,
  openPair,
  openTo,
  retryable,
  settingOf,
} from '../http-subject.ts';

export function survivesTheReceiver(subject: HttpSubject): void {
  it.each([
    ['reset', 'connection-reset'],
    ['garbage', 'protocol'],
    ['upgrade', 'connection-reset'],
  ] as const)('calls it retryable when the receiver answers with: %s', async (fault, reason) => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ fault });
    expect(await pair.send()).toEqual(retryable(reason));
  });

  it('calls it stale when a connection that had served before dies without an answer', async () => {
    await using pair = await openPair(subject);
    pair.inbox.answer(acceptance(subject), { fault: 'reset' });
    expect(await pair.send()).toEqual(delivered);
    expect(await pair.send()).toEqual({ ...retryable('connection-reset'), stale: true });
    expect(pair.inbox.connections).toBe(1);
  });

  it.each(['flood', 'cut'] as const)('goes by the status when the body is a %s', async (fault) => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ status: 500, fault });
    expect(await pair.send()).toEqual(retryable('http-500'));
  });

  it.each(subject.readsBody === true ? (['cut'] as const) : (['cut', 'flood'] as const))(
    'takes a 200 for what it is worth when its body is a %s',
    async (fault) => {
      await using pair = await openPair(subject);
      pair.inbox.answer({ fault });
      expect(await pair.send()).toMatchObject(worthOfA200(subject));
    },
  );

  it('hangs up on an answer without an end', async () => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ status: 500, fault: 'flood' }, acceptance(subject));
    await pair.send();
    expect([await pair.send(), pair.inbox.connections]).toEqual([delivered, 2]);
  });

  // At the same time, because they pass the time with waiting.
  describe.concurrent('while it waits', () => outlastsTheReceiver(subject));
}

/** What a 200 comes to whose body breaks off. */
const worthOfA200 = ({ readsBody }: HttpSubject): object =>
  readsBody === true ? { status: 'retryable' } : delivered;

function outlastsTheReceiver(subject: HttpSubject): void {
  const timeout = '2s';

  it.each(['hang', 'interim'] as const)('gives up on a receiver that answers with: %s', async (fault) => {
    await using pair = await openPair(subject, { timeout });
    pair.inbox.answer({ fault });
    expect(await pair.send()).toEqual(retryable('timeout'));
  });

  it('goes by the status when the body of a 500 never ends', async () => {
    await using pair = await openPair(subject, { timeout });
    pair.inbox.answer({ status: 500, fault: 'drip' });
    expect(await pair.send()).toEqual(retryable('http-500'));
  });

  it('takes a 200 for what it is worth when its body never ends', async () => {
    await using pair = await openPair(subject, { timeout });
    pair.inbox.answer({ fault: 'drip' });
    expect(await pair.send()).toMatchObject(worthOfA200(subject));
  });

  it('gives up on a connection that comes to nothing', async () => {
    await using silent = await listenSilently();
    const place = settingOf(subject, `https://127.0.0.1:${silent.port}`);
    await using opened = openTo(subject, { ...place, connectTimeout: '200ms' });
    expect(await opened.send()).toEqual(retryable('timeout'));
  });

  it('gives up on a proxy that never answers', async () => {
    await using proxy = await openProxy({ refuses: 'hang' });
    await using pair = await openPair(subject, { proxy: proxy.url, connectTimeout: '1s' });
    expect(await pair.send()).toEqual(retryable('proxy-unreachable'));
    await until('the proxy is left alone', () => proxy.connectionsOpen === 0);
  });
}

export function survivesTheNetwork(subject: HttpSubject): void {
  it('calls it retryable when nobody listens, and delivers once somebody does', async () => {
    await using pair = await openPair(subject);
    const { port } = pair.inbox;
    await pair.inbox[Symbol.asyncDispose]();
    expect(await pair.send()).toEqual(retryable('connection-refused'));
    await using _back = await openInbox({ port, answer: acceptance(subject) });
    expect(await pair.send()).toEqual(delivered);
  });

  it('calls it retryable when the name of the receiver does not resolve', async () => {
    await using opened = openTo(subject, settingOf(subject, `http://${noSuchHost}`));
    expect(await opened.send()).toEqual(retryable('name-not-found'));
  });

  it('asks no proxy, whatever the environment says', async () => {
    await using proxy = await openInbox();
    await using pair = await openPair(subject);
    process.env['http_proxy'] = proxy.url;
    const outcome = await pair.send();
    delete process.env['http_proxy'];
    expect([outcome, proxy.connections]).toEqual([delivered, 0]);
  });
}
