// The webhook sink: the contract of HTTP sinks, and what its own message looks like.
import { expect, it } from 'vitest';
import { sinkSettings } from '../../src/sinks/index.ts';
import { openInbox } from '../support/inbox.ts';
import { outgoing, sampleRecord } from '../support/records.ts';
import { until } from '../support/until.ts';
import { keepsTheHttpContract } from './http-contract.ts';
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
