// The handshake of CloudEvents' Web Hooks: when a receiver is asked, what counts as a yes, and what a no means.
import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Outcome } from '../../../src/core/delivery.ts';
import type { Inbox, InboxAnswer } from '../../support/inbox.ts';
import { openInbox } from '../../support/inbox.ts';
import { outgoing, sampleRecord } from '../../support/records.ts';
import { sinkSettings } from '../../support/sink-kinds.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openPair } from '../http-subject.ts';
import { openFromSettings, patience } from '../sink-contract.ts';

const origin = 'maintenance.example.com';
const delivered: Outcome = { status: 'delivered' };
const refused: Outcome = { status: 'unavailable', reason: 'handshake-refused', passing: true };

/** A receiver, and a webhook that asks it first. */
const openAsking = (more: Readonly<Record<string, unknown>> = {}) =>
  openPair({ type: 'webhook', settings: { handshake: 'cloudevents', handshakeOrigin: origin } }, more);

/** The answer to OPTIONS that allows an origin, at a rate if one is given. */
const allowing = (allowed: string, rate?: string): InboxAnswer => ({
  headers: {
    'webhook-allowed-origin': allowed,
    ...(rate === undefined ? {} : { 'webhook-allowed-rate': rate }),
  },
});

const methods = ({ requests }: Inbox): readonly string[] => requests.map(({ method }) => method);

afterEach(() => {
  vi.useRealTimers();
});

describe('a webhook with a handshake', () => {
  it('asks before the first record, and names its origin with every request', async () => {
    await using pair = await openAsking();
    pair.inbox.answer(allowing(origin), {});
    expect([await pair.send(), await pair.send()]).toEqual([delivered, delivered]);
    expect(methods(pair.inbox)).toEqual(['OPTIONS', 'POST', 'POST']);
    for (const { headers } of pair.inbox.requests) {
      expect(headers['webhook-request-origin']).toBe(origin);
    }
    const [question] = pair.inbox.requests;
    expect(question?.path).toBe(pair.inbox.requests[1]?.path);
    expect(question?.body).toHaveLength(0);
    expect(question?.headers).not.toHaveProperty('webhook-request-rate');
    expect(question?.headers).not.toHaveProperty('webhook-id');
  });

  it('signs in for the question as it does for a record', async () => {
    await using pair = await openAsking({ bearer: 't0ken', headers: { 'X-Team': 'fleet' } });
    pair.inbox.answer(allowing('*'), {});
    await pair.send();
    for (const { headers } of pair.inbox.requests) {
      expect(headers).toMatchObject({ authorization: 'Bearer t0ken', 'x-team': 'fleet' });
    }
  });

  it.each(['*', origin, origin.toUpperCase()])('takes "%s" for a yes', async (allowed) => {
    await using pair = await openAsking();
    pair.inbox.answer(allowing(allowed), {});
    expect(await pair.send()).toEqual(delivered);
  });

  it.each([
    ['names another origin', allowing('other.example.com')],
    ['names one that ends alike', allowing(`x${origin}`)],
    ['says yes with its status alone', {}],
    ['does not know the question', { status: 405 }],
    ['knows no such method', { status: 501 }],
  ])('sends nothing to a receiver that %s', async (_, answer) => {
    await using pair = await openAsking();
    pair.inbox.answer(answer);
    expect(await pair.send()).toEqual(refused);
    expect(methods(pair.inbox)).toEqual(['OPTIONS']);
  });

  it.each([
    [{ status: 401 }, { status: 'unavailable', reason: 'http-401' }],
    [{ status: 404 }, { status: 'unavailable', reason: 'http-404', passing: true }],
    [
      { status: 503, headers: { 'retry-after': '7' } },
      { status: 'retryable', reason: 'http-503', retryAfterMs: 7_000 },
    ],
    [{ fault: 'reset' }, { status: 'retryable', reason: 'connection-reset' }],
  ] as const)(
    'says what is wrong where the answer to the question tells more: %j',
    async (answer, outcome) => {
      await using pair = await openAsking();
      pair.inbox.answer(answer);
      expect(await pair.send()).toEqual(outcome);
      expect(methods(pair.inbox)).toEqual(['OPTIONS']);
    },
  );

  it('goes by the header, whatever the status', async () => {
    await using pair = await openAsking();
    pair.inbox.answer({ ...allowing('*'), status: 500 }, {});
    expect(await pair.send()).toEqual(delivered);
  });

  it('asks anew once a day', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20) });
    await using pair = await openAsking();
    pair.inbox.answer(allowing('*'));
    await pair.send();
    vi.setSystemTime(Date.UTC(2026, 10, 20, 23, 59));
    await pair.send();
    expect(methods(pair.inbox)).toEqual(['OPTIONS', 'POST', 'POST']);
    vi.setSystemTime(Date.UTC(2026, 10, 21, 0, 1));
    await pair.send();
    expect(methods(pair.inbox).slice(3)).toEqual(['OPTIONS', 'POST']);
  });

  it('does not let a clock that was set back prolong a permission', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20) });
    await using pair = await openAsking();
    pair.inbox.answer(allowing('*'));
    await pair.send();
    vi.setSystemTime(Date.UTC(2020, 0, 1));
    await pair.send();
    expect(methods(pair.inbox)).toEqual(['OPTIONS', 'POST', 'OPTIONS', 'POST']);
  });

  it('asks anew after a suspension, and not after a failure that passes', async () => {
    await using pair = await openAsking();
    pair.inbox.answer(allowing('*'), { status: 503 }, { status: 410 }, allowing('*'), {});
    await pair.send();
    await pair.send();
    expect(methods(pair.inbox)).toEqual(['OPTIONS', 'POST', 'POST']);
    expect(await pair.send()).toEqual(delivered);
    expect(methods(pair.inbox).slice(3)).toEqual(['OPTIONS', 'POST']);
  });

  it('asks the receiver that a new URL names', async () => {
    using directory = temporaryDirectory();
    const file = `${directory.path}/url`;
    await using other = await openInbox({ answer: allowing('*') });
    await using pair = await openAsking({ url: { file } });
    pair.inbox.answer(allowing('*'));
    writeFileSync(file, pair.inbox.url);
    await pair.send();
    writeFileSync(file, other.url);
    await pair.send();
    expect([methods(pair.inbox), methods(other)]).toEqual([
      ['OPTIONS', 'POST'],
      ['OPTIONS', 'POST'],
    ]);
  });

  it.each([
    ['120', 500],
    ['7', 8_572],
    ['*', 0],
    [undefined, 0],
    ['0', 0],
    ['fast', 0],
  ])('keeps to the rate that it is allowed: %s', async (rate, spacingMs) => {
    await using pair = await openAsking({ handshakeRate: 600 });
    pair.inbox.answer(allowing('*', rate), {});
    expect(pair.sink.spacingMs).toBe(0);
    await pair.send();
    expect(pair.inbox.requests[0]?.headers['webhook-request-rate']).toBe('600');
    expect(pair.sink.spacingMs).toBe(spacingMs);
  });

  it('asks nobody while it is only opened or checked', async () => {
    await using pair = await openAsking();
    expect(await pair.sink.check(patience())).toMatchObject({ ok: true });
    expect(pair.inbox.requests).toHaveLength(0);
  });
});

describe('the settings of the handshake', () => {
  it('ask nobody unless they say so', async () => {
    await using inbox = await openInbox();
    const { sink } = openFromSettings({ type: 'webhook', url: inbox.url, allowHttp: true });
    await using _ = sink;
    await sink.send(outgoing(sampleRecord()), patience());
    expect(methods(inbox)).toEqual(['POST']);
    expect(inbox.requests[0]?.headers).not.toHaveProperty('webhook-request-origin');
    expect(sink.spacingMs).toBe(0);
  });

  it('say no rate where nobody is asked', () => {
    const given = { type: 'webhook', url: 'https://x.test', handshakeRate: 60 };
    expect(sinkSettings.safeParse(given).error?.issues).toMatchObject([
      { path: ['handshakeRate'], message: 'This goes with handshake: cloudevents' },
    ]);
  });

  it.each([
    { handshakeOrigin: 'two words' },
    { handshakeOrigin: '-a.example.com' },
    { handshakeOrigin: 'https://a.example.com' },
    { handshakeOrigin: '*' },
    { handshakeRate: 0 },
    { handshakeRate: 1.5 },
    { handshake: 'yes' },
  ])('are refused as %j', (more) => {
    const given = { type: 'webhook', url: 'https://x.test', handshake: 'cloudevents', ...more };
    expect(sinkSettings.safeParse(given).error?.issues.map(({ path }) => path)).toEqual([Object.keys(more)]);
  });
});
