// The Event Grid sink: the contract of HTTP sinks, its batches and their splitting, and the VM's identity.
import { HTTP } from 'cloudevents';
import { describe, expect, it } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openPassingMemory } from '../../src/sinks/memory.ts';
import type { OutgoingRecord } from '../../src/sinks/sink.ts';
import { openInbox } from '../support/inbox.ts';
import { outgoingRecords } from '../support/records.ts';
import { sinkSettings } from '../support/sink-kinds.ts';
import { keepsTheHttpContract } from './http-contract.ts';
import { marker } from './http-subject.ts';
import { openFromSettings, patience } from './sink-contract.ts';

keepsTheHttpContract({
  type: 'eventgrid',
  receiver: 'eventgrid',
  settings: { key: marker },
  place: { setting: 'endpoint', secret: false, path: '', requested: '/api/events?api-version=2018-01-01' },
  bodyOf: ({ bytes }) => `[${bytes}]`,
});

/** A topic, the metadata service of the VM, and a sink that publishes to one with a key or a token of the other. */
async function openPair(more: object = { key: 'k3y' }) {
  await using opening = new AsyncDisposableStack();
  const topic = opening.use(await openInbox());
  const imds = opening.use(await startImdsEmulator());
  const settings = { type: 'eventgrid', endpoint: topic.url, allowHttp: true, ...more };
  const context = { imdsEndpoint: imds.url, version: '1.0.0', memory: openPassingMemory() };
  const { sink } = openFromSettings(settings, context);
  opening.use(sink);
  const owned = opening.move();
  return {
    topic,
    imds,
    sink,
    sendMany: async (batch: readonly OutgoingRecord[]) => await sink.sendMany?.(batch, patience()),
    /** The ids of the records in each request, in order. */
    published: () => topic.requests.map(({ body }) => idsOf(body)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const idsOf = (body: Buffer): string[] => JSON.parse(body.toString()).map(({ id }: { id: string }) => id);
const idOf = ({ record }: OutgoingRecord): string => record.id;

const delivered = { status: 'delivered' } as const;
const identity = { auth: 'managedIdentity' } as const;

describe('the request', () => {
  it('is a batch of CloudEvents with the key of the topic, for one record as for many', async () => {
    await using pair = await openPair();
    const [one, ...others] = outgoingRecords(3);
    if (one === undefined) throw new Error('no record');
    expect(await pair.sink.send(one, patience())).toEqual(delivered);
    expect(await pair.sendMany(others)).toEqual([delivered, delivered]);
    for (const { method, path, headers } of pair.topic.requests) {
      expect([method, path]).toEqual(['POST', '/api/events?api-version=2018-01-01']);
      expect(headers).toMatchObject({
        'content-type': 'application/cloudevents-batch+json; charset=utf-8',
        'user-agent': 'scheduled-events-bridge/1.0.0',
        'aeg-sas-key': 'k3y',
      });
    }
  });

  it('carries the bytes of the records as they are, between brackets and commas', async () => {
    await using pair = await openPair();
    const records = outgoingRecords(3);
    await pair.sendMany(records);
    const expected = `[${records.map(({ bytes }) => bytes.toString()).join(',')}]`;
    expect(pair.topic.requests[0]?.body.toString()).toBe(expected);
  });

  it('is understood by the CloudEvents SDK', async () => {
    await using pair = await openPair();
    const records = outgoingRecords(2);
    await pair.sendMany(records);
    const [request] = pair.topic.requests;
    if (request === undefined) throw new Error('no request');
    const events = HTTP.toEvent({ headers: request.headers, body: request.body.toString() });
    expect(events).toMatchObject(records.map(({ record: { id, type, source } }) => ({ id, type, source })));
  });

  it.each([
    ['', '/api/events?api-version=2018-01-01'],
    ['/', '/api/events?api-version=2018-01-01'],
    ['/api/events', '/api/events?api-version=2018-01-01'],
    ['/gateway/topic?tenant=7', '/gateway/topic?tenant=7&api-version=2018-01-01'],
    ['/api/events?api-version=2024-06-01', '/api/events?api-version=2024-06-01'],
  ])('goes from the endpoint "%s" to %s', async (given, path) => {
    await using inbox = await openInbox();
    const settings = { type: 'eventgrid', endpoint: inbox.url + given, key: 'k3y', allowHttp: true };
    await using sink = openFromSettings(settings).sink;
    await sink.sendMany?.(outgoingRecords(1), patience());
    expect(inbox.requests.map((request) => request.path)).toEqual([path]);
  });

  it('stays below what the service takes, with as many records as a batch may have', async () => {
    await using pair = await openPair();
    const { records = 0, bytes = 0 } = pair.sink.batchMax ?? {};
    expect(bytes + records + 1).toBeLessThan(1_000_000);
    expect(records).toBeGreaterThan(1);
  });
});

describe('a batch that is refused', () => {
  it.each([400, 413])(
    'with %i is sent record by record, so that one does not sink the others',
    async (status) => {
      await using pair = await openPair();
      const records = outgoingRecords(3);
      pair.topic.answer({ status }, { status: 200 }, { status }, { status: 200 });
      const rejected = { status: 'rejected', reason: `http-${status}` };
      expect(await pair.sendMany(records)).toEqual([delivered, rejected, delivered]);
      const ids = records.map(idOf);
      expect(pair.published()).toEqual([ids, ...ids.map((id) => [id])]);
    },
  );

  it('and is one record is not sent a second time', async () => {
    await using pair = await openPair();
    pair.topic.answer({ status: 400 });
    expect(await pair.sendMany(outgoingRecords(1))).toEqual([{ status: 'rejected', reason: 'http-400' }]);
    expect(pair.topic.requests).toHaveLength(1);
  });

  it.each([401, 404, 409, 429, 500])('with %i is not taken apart', async (status) => {
    await using pair = await openPair();
    pair.topic.answer({ status });
    const outcomes = await pair.sendMany(outgoingRecords(3));
    expect(new Set(outcomes?.map((outcome) => 'reason' in outcome && outcome.reason))).toEqual(
      new Set([`http-${status}`]),
    );
    expect([outcomes?.length, pair.topic.requests.length]).toEqual([3, 1]);
  });

  it('leaves the rest for later once the topic takes nothing any more', async () => {
    await using pair = await openPair();
    pair.topic.answer({ status: 400 }, { status: 200 }, { status: 503, headers: { 'retry-after': '7' } });
    const busy = { status: 'retryable', reason: 'http-503', retryAfterMs: 7_000 };
    expect(await pair.sendMany(outgoingRecords(4))).toEqual([delivered, busy]);
    expect(pair.topic.requests).toHaveLength(3);
  });

  it('tells how far it came when the time of the attempt is up', async () => {
    await using pair = await openPair({ key: 'k3y', timeout: '1s' });
    pair.topic.answer({ status: 400 }, { status: 200 }, { fault: 'hang' });
    const late = { status: 'retryable', reason: 'timeout' };
    expect(await pair.sendMany(outgoingRecords(4))).toEqual([delivered, late]);
  });

  it('by nobody, because the connection dies, fails as a whole', async () => {
    await using pair = await openPair();
    pair.topic.answer({ fault: 'reset' });
    const reset = { status: 'retryable', reason: 'connection-reset' };
    expect(await pair.sendMany(outgoingRecords(2))).toEqual([reset, reset]);
  });
});

describe('the identity of the VM', () => {
  it('signs in with a token for Event Grid, and with no key', async () => {
    await using pair = await openPair(identity);
    expect(await pair.sendMany(outgoingRecords(2))).toEqual([delivered, delivered]);
    const { headers } = pair.topic.requests[0] ?? {};
    expect(headers?.authorization).toMatch(/^Bearer ./);
    expect(headers).not.toHaveProperty('aeg-sas-key');
    const [asked] = pair.imds.requests.map(({ path }) => new URL(path, pair.imds.url).searchParams);
    expect(asked?.get('resource')).toBe('https://eventgrid.azure.net');
  });

  it('gets a new token at once when a kept one is refused, and none twice for one refusal', async () => {
    await using pair = await openPair(identity);
    pair.topic.answer({ status: 200 }, { status: 403 }, { status: 403 });
    await pair.sendMany(outgoingRecords(1));
    const stale = { status: 'retryable', reason: 'http-403', stale: true };
    expect(await pair.sendMany(outgoingRecords(2))).toEqual([stale, stale]);
    const passing = { status: 'unavailable', reason: 'http-403', passing: true };
    expect(await pair.sendMany(outgoingRecords(1))).toEqual([passing]);
    expect(pair.imds.requests).toHaveLength(2);
  });

  it('is missing for as long as the metadata service gives no token, for each record of the batch', async () => {
    await using pair = await openPair(identity);
    pair.imds.inject({ kind: 'status', status: 500 }, { path: 'token', times: 3 });
    const missing = { status: 'retryable', reason: 'credential-unavailable' };
    expect(await pair.sendMany(outgoingRecords(2))).toEqual([missing, missing]);
    expect(pair.topic.connections).toBe(0);
  });
});

it.each([
  ['neither key nor identity', {}, 'either'],
  ['both key and identity', { key: 'k3y', ...identity }, 'either'],
  ['the client id of no identity', { key: 'k3y', clientId: 'mine' }, 'clientId'],
  ['no URL', { key: 'k3y', endpoint: 'topic.westeurope-1.eventgrid.azure.net' }, 'https endpoint'],
  ['a password in the URL', { key: 'k3y', endpoint: 'https://u:p@x.test' }, 'https endpoint'],
])('refuses settings with %s', (_, more, message) => {
  const settings = { type: 'eventgrid', endpoint: 'https://x.test', ...more };
  expect(sinkSettings.safeParse(settings).error?.issues[0]?.message).toContain(message);
});
