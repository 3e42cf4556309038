// The part of the HTTP contract that is about connections: receivers that misbehave, and networks that fail.
import { expect, it } from 'vitest';
import { openInbox } from '../support/inbox.ts';
import { listenSilently } from '../support/silent-server.ts';
import {
  acceptance,
  delivered,
  type HttpSubject,
  noSuchHost,
  openPair,
  openTo,
  retryable,
  settingOf,
} from './http-subject.ts';

export function survivesTheReceiver(subject: HttpSubject): void {
  it.each([
    ['reset', 'connection-reset'],
    ['garbage', 'protocol'],
    ['hang', 'timeout'],
  ] as const)('calls it retryable when the receiver answers with: %s', async (fault, reason) => {
    await using pair = await openPair(subject, { timeout: '500ms' });
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

  it.each(['drip', 'flood', 'cut'] as const)('goes by the status when the body is a %s', async (fault) => {
    await using pair = await openPair(subject, { timeout: '1s' });
    pair.inbox.answer({ status: 500, fault });
    expect(await pair.send()).toEqual(retryable('http-500'));
  });

  it('hangs up on an answer without an end', async () => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ status: 500, fault: 'flood' }, acceptance(subject));
    await pair.send();
    expect([await pair.send(), pair.inbox.connections]).toEqual([delivered, 2]);
  });

  takesTheWordOfA200(subject);
}

function takesTheWordOfA200(subject: HttpSubject): void {
  if (subject.readsBody === true) {
    it.each(['drip', 'cut'] as const)('tries again when the body of a 200 is a %s', async (fault) => {
      await using pair = await openPair(subject, { timeout: '1s' });
      pair.inbox.answer({ fault });
      expect(await pair.send()).toMatchObject({ status: 'retryable' });
    });
    return;
  }
  it.each(['drip', 'cut', 'flood'] as const)('takes a 200 for a yes when its body is a %s', async (fault) => {
    await using pair = await openPair(subject, { timeout: '1s' });
    pair.inbox.answer({ fault });
    expect(await pair.send()).toEqual(delivered);
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

  it('gives up on a connection that comes to nothing', async () => {
    await using silent = await listenSilently();
    const place = settingOf(subject, `https://127.0.0.1:${silent.port}`);
    await using opened = openTo(subject, { ...place, connectTimeout: '200ms' });
    expect(await opened.send()).toEqual(retryable('timeout'));
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
