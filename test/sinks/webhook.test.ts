// The webhook sink: the contract of HTTP sinks, and what its own message looks like.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openInbox } from '../support/inbox.ts';
import { outgoing, sampleRecord } from '../support/records.ts';
import { sinkSettings } from '../support/sink-kinds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { keepsTheHttpContract } from './http-contract.ts';
import { openPair } from './http-subject.ts';
import { openFromSettings, patience } from './sink-contract.ts';

keepsTheHttpContract({ type: 'webhook' });

it('POSTs the record as a structured CloudEvent that names its id', async () => {
  await using inbox = await openInbox();
  const { sink } = openFromSettings({ type: 'webhook', url: inbox.url, allowHttp: true });
  await using _ = sink;
  const { record, bytes } = outgoing(sampleRecord());
  await sink.send({ record, bytes }, patience());
  expect(inbox.requests[0]).toMatchObject({
    method: 'POST',
    body: bytes,
    headers: {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'content-length': String(bytes.length),
      'user-agent': 'scheduled-events-bridge/1.0.0',
      'webhook-id': record.id,
    },
  });
});

it('adds the headers of its settings, whose values are secrets', async () => {
  await using inbox = await openInbox();
  process.env['WEBHOOK_TEST_TOKEN'] = 'Bearer t0ken';
  const headers = { Authorization: { env: 'WEBHOOK_TEST_TOKEN' }, 'X-Team': 'fleet' };
  const { sink } = openFromSettings({ type: 'webhook', url: inbox.url, allowHttp: true, headers });
  await using _ = sink;
  await sink.send(outgoing(sampleRecord()), patience());
  expect(inbox.requests[0]?.headers).toMatchObject({ authorization: 'Bearer t0ken', 'x-team': 'fleet' });
});

it('keeps no connection between bursts, however long the receiver offers to keep it', async () => {
  await using inbox = await openInbox();
  const { sink } = openFromSettings({ type: 'webhook', url: inbox.url, allowHttp: true });
  await using _ = sink;
  await sink.send(outgoing(sampleRecord()), patience());
  expect(inbox.connectionsOpen).toBe(1);
  await until('the connection is closed', () => inbox.connectionsOpen === 0);
});

it('suspends itself when the value of a header cannot be sent', async () => {
  await using inbox = await openInbox();
  const headers = { Authorization: 'two\nlines' };
  const { sink } = openFromSettings({ type: 'webhook', url: inbox.url, allowHttp: true, headers });
  await using _ = sink;
  const outcome = await sink.send(outgoing(sampleRecord()), patience());
  expect(outcome).toEqual({ status: 'unavailable', reason: 'invalid-header' });
});

it.each(['Host', 'content-length', 'Transfer-Encoding', 'Content-Type', 'Connection', 'webhook-id', 'a b'])(
  'does not let the settings set the header %s',
  (name) => {
    const parsed = sinkSettings.safeParse({
      type: 'webhook',
      url: 'https://x.test',
      headers: { [name]: 'v' },
    });
    expect(parsed.error?.issues[0]?.path).toEqual(['headers', name]);
  },
);

/** What is wrong with these settings: paths and sentences. */
function issuesOf(more: object) {
  const parsed = sinkSettings.safeParse({ type: 'webhook', url: 'https://x.test', ...more });
  return (parsed.error?.issues ?? []).map(({ path, message }) => [path.join('.'), message]);
}

/** The headers that arrive with these settings. */
async function headersWith(settings: Readonly<Record<string, unknown>>) {
  await using pair = await openPair({ type: 'webhook', settings });
  expect(await pair.send()).toEqual({ status: 'delivered' });
  return pair.inbox.requests[0]?.headers ?? {};
}

describe('a webhook signs in', () => {
  it('with a token', async () => {
    expect(await headersWith({ bearer: 't0ken' })).toMatchObject({ authorization: 'Bearer t0ken' });
  });

  it('with a user and a password, whatever letters they have', async () => {
    const { authorization = '' } = await headersWith({ basic: { username: 'jürgen', password: 'p:ä"s' } });
    const [scheme, pair = ''] = authorization.split(' ');
    expect([scheme, Buffer.from(pair, 'base64').toString()]).toEqual(['Basic', 'jürgen:p:ä"s']);
  });

  it('with what the file of the token holds now', async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'token');
    await using pair = await openPair({ type: 'webhook', settings: { bearer: { file } } });
    expect(await pair.send()).toEqual({ status: 'unavailable', reason: 'secret-unreadable' });
    writeFileSync(file, 'first');
    await pair.send();
    writeFileSync(file, 'second');
    await pair.send();
    const seen = pair.inbox.requests.map(({ headers }) => headers.authorization);
    expect(seen).toEqual(['Bearer first', 'Bearer second']);
  });

  it.each([
    [{ bearer: 'a', basic: { username: 'b', password: 'c' } }],
    [{ bearer: 'a', headers: { authorization: 'b' } }],
    [{ basic: { username: 'b', password: 'c' }, headers: { AUTHORIZATION: 'b' } }],
  ])('in one way only: %j', (more) => {
    expect(issuesOf(more)).toEqual([['', 'Give only one of bearer, basic and an Authorization header']]);
  });

  it('with a user whose name a colon would cut', () => {
    expect(issuesOf({ basic: { username: 'a:b', password: 'c' } })).toEqual([
      ['basic.username', 'Expected a name without a colon'],
    ]);
  });

  it('and tells neither token nor password', async () => {
    const marker = 's3cr3t-t0ken';
    for (const settings of [{ bearer: marker }, { basic: { username: 'u', password: marker } }]) {
      await using pair = await openPair({ type: 'webhook', settings });
      pair.inbox.answer({ status: 401, body: marker });
      const said = [await pair.send(), pair.sink, pair.settings, await pair.sink.check(patience())];
      expect(`${inspect(said, { depth: 20, showHidden: true })} ${JSON.stringify(said)}`).not.toContain(
        marker,
      );
    }
  });
});

describe('a webhook', () => {
  it('repeats the id in the header that the receiver looks for', async () => {
    const headers = await headersWith({ idempotencyKeyHeader: 'Idempotency-Key' });
    expect(headers['idempotency-key']).toBe(headers['webhook-id']);
    expect(headers['idempotency-key']).toMatch(/_scheduled_/);
  });

  it.each([
    ['Host', 'This header is set by the sink itself'],
    ['webhook-id', 'This header is set by the sink itself'],
    ['a b', 'This is no name for a header'],
    ['X-TEAM', 'This header stands in headers already'],
    ['Authorization', 'This header has another use'],
    ['ce-id', 'This header has another use'],
  ])('does not repeat the id in the header %s', (name, message) => {
    expect(issuesOf({ idempotencyKeyHeader: name, headers: { 'x-team': 'fleet' } })).toEqual([
      ['idempotencyKeyHeader', message],
    ]);
  });

  it('does not let a header be given twice in different cases', () => {
    expect(issuesOf({ headers: { 'X-Team': 'a', 'x-other': 'b', 'x-team': 'c' } })).toEqual([
      ['headers.x-team', 'This header is given twice'],
    ]);
  });

  it('sends another content type where the receiver wants one', async () => {
    const headers = await headersWith({ contentType: 'application/json' });
    expect(headers['content-type']).toBe('application/json');
  });

  it.each([
    [false, { status: 'rejected', reason: 'http-409' }],
    [true, { status: 'delivered' }],
  ])('counts a 409 as delivered only where it is told to: %s', async (treat409AsDelivered, outcome) => {
    await using pair = await openPair({ type: 'webhook', settings: { treat409AsDelivered } });
    pair.inbox.answer({ status: 409 });
    expect(await pair.send()).toEqual(outcome);
  });

  it('counts no other refusal as delivered', async () => {
    await using pair = await openPair({ type: 'webhook', settings: { treat409AsDelivered: true } });
    pair.inbox.answer({ status: 400 });
    expect(await pair.send()).toEqual({ status: 'rejected', reason: 'http-400' });
  });
});
