// The Event Hubs sink with managed identity: tokens of the instance metadata emulator, over TLS.
import { afterAll, expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
import { openPassingMemory } from '../../../src/sinks/memory.ts';
import { issueCertificate, trust } from '../../support/certificate.ts';
import { openInbox } from '../../support/inbox.ts';
import { outgoing, sampleRecord } from '../../support/records.ts';
import { withSecondTry } from '../../support/second-try.ts';
import { until } from '../../support/until.ts';
import { openFromSettings, patience } from '../sink-contract.ts';

const imds = await startImdsEmulator({ identity: { clientIds: ['known', 'other', 'third'] } });
const proxy = await openInbox();
process.env['HTTP_PROXY'] = proxy.url;

afterAll(async () => {
  await imds[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

/** A hub that takes tokens, and a sink that signs in with the VM's identity. */
async function openPair(more: object = {}) {
  const tls = issueCertificate();
  const trusted = trust([tls.cert]);
  const hub = await startEventHubsEmulator({ tls, acceptAnyJwt: true, websockets: true });
  const { fullyQualifiedNamespace, eventHubName } = hub;
  const { sink } = openFromSettings(
    { type: 'eventhubs', fullyQualifiedNamespace, eventHubName, ...more },
    { imdsEndpoint: imds.url, version: '1.0.0', memory: openPassingMemory() },
  );
  return {
    hub,
    sink,
    send: () => sink.send(outgoing(sampleRecord()), patience()),
    [Symbol.asyncDispose]: async () => {
      await sink[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
      trusted[Symbol.dispose]();
    },
  };
}

/** The queries of the requests for tokens, from the given one on. */
const tokenRequests = (from = 0) =>
  imds.requests
    .slice(from)
    .filter(({ path }) => path.startsWith('/metadata/identity/'))
    .map(({ path }) => new URL(path, imds.url).searchParams);

const unavailable = { status: 'retryable', reason: 'credential-unavailable' };

it('signs in over TLS with a token of the VM for Event Hubs', async () => {
  await using pair = await openPair();
  expect(await pair.send()).toEqual({ status: 'delivered' });
  expect(pair.hub.events()).toHaveLength(1);
  expect(tokenRequests().map((query) => query.get('resource'))).toEqual(['https://eventhubs.azure.net/']);
  expect(pair.hub.tokens.map(({ type }) => type)).toContain('jwt');
});

it('signs in with a token over websockets too', async () => {
  await using pair = await openPair({ transport: 'websockets' });
  expect([await pair.send(), pair.hub.events().length]).toEqual([{ status: 'delivered' }, 1]);
});

it('asks for the identity with the client id of its settings', async () => {
  await using pair = await openPair({ clientId: 'known' });
  const before = imds.requests.length;
  expect(await pair.send()).toEqual({ status: 'delivered' });
  expect(tokenRequests(before).map((query) => query.get('client_id'))).toEqual(['known']);
});

it('keeps its token for the next connection', async () => {
  await using pair = await openPair();
  const before = imds.requests.length;
  await pair.send();
  pair.hub.dropConnections();
  await until('the connection is gone', () => pair.hub.connections === 0);
  expect(await withSecondTry(pair.send)).toEqual({ status: 'delivered' });
  expect([pair.hub.counters.connectionsAccepted, tokenRequests(before).length]).toEqual([2, 1]);
});

it('probes a hub that refuses its token often at first, each time with a new token', async () => {
  await using pair = await openPair();
  const before = imds.requests.length;
  pair.hub.faults.add({ name: 'unauthorized', times: 2 });
  const refused = { status: 'unavailable', reason: 'unauthorized', passing: true };
  expect([await pair.send(), await pair.send()]).toEqual([refused, refused]);
  expect(await pair.send()).toEqual({ status: 'delivered' });
  expect(tokenRequests(before)).toHaveLength(3);
});

it('can be given an identity later: a missing one is worth another try', async () => {
  await using pair = await openPair({ clientId: 'unknown' });
  expect(await pair.send()).toEqual(unavailable);
});

it.each([
  ['fails', 'other', { kind: 'status', status: 500 }, 3],
  ['never answers', 'third', { kind: 'hang' }, 1],
] as const)('tries again later when instance metadata %s', async (_, clientId, fault, times) => {
  await using pair = await openPair({ clientId, timeout: '3s' });
  imds.inject(fault, { path: 'token', times });
  expect(await pair.send()).toEqual(unavailable);
  expect(await pair.send()).toEqual({ status: 'delivered' });
});

it('shows no request for a token to the proxy of the environment', async () => {
  await using pair = await openPair();
  expect([await pair.send(), proxy.connections]).toEqual([{ status: 'delivered' }, 0]);
});

it('keeps its records to itself when the certificate of the hub is not good', async () => {
  await using hub = await startEventHubsEmulator({ tls: issueCertificate(), acceptAnyJwt: true });
  const { fullyQualifiedNamespace, eventHubName } = hub;
  const settings = { type: 'eventhubs', fullyQualifiedNamespace, eventHubName };
  const { sink } = openFromSettings(settings, {
    imdsEndpoint: imds.url,
    version: '1.0.0',
    memory: openPassingMemory(),
  });
  await using _ = sink;
  const outcome = await sink.send(outgoing(sampleRecord()), patience());
  expect(outcome).toMatchObject({ status: 'retryable', reason: 'tls-untrusted' });
});
