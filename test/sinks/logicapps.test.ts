// The Logic Apps sink: the contract of HTTP sinks, its request, and the VM's identity in place of a signature.
import { expect, it } from 'vitest';
import { type ImdsEmulatorOptions, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openPassingMemory } from '../../src/sinks/memory.ts';
import { openInbox } from '../support/inbox.ts';
import { outgoing, sampleRecord } from '../support/records.ts';
import { sinkSettings } from '../support/sink-kinds.ts';
import { keepsTheHttpContract } from './http-contract.ts';
import { noSuchHost } from './http-subject.ts';
import { openFromSettings, patience } from './sink-contract.ts';

keepsTheHttpContract({ type: 'logicapps', receiver: 'logicapps' });

const path =
  '/workflows/w/triggers/t/paths/invoke?api-version=2016-10-01&sp=%2Ftriggers%2Ft%2Frun&sv=1.0&sig=s1g';

/** A workflow, the metadata service of the VM, and a sink that sends from one to the other. */
async function openPair(more: object = {}, tokens: ImdsEmulatorOptions['identity'] = {}) {
  await using opening = new AsyncDisposableStack();
  const workflow = opening.use(await openInbox({ answer: { status: 202 } }));
  const imds = opening.use(await startImdsEmulator({ identity: tokens }));
  const settings = { type: 'logicapps', url: workflow.url + path, allowHttp: true, ...more };
  const context = { imdsEndpoint: imds.url, version: '1.0.0', memory: openPassingMemory() };
  const { sink } = openFromSettings(settings, context);
  opening.use(sink);
  const owned = opening.move();
  return {
    workflow,
    imds,
    send: () => sink.send(outgoing(sampleRecord()), patience()),
    sink,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const identity = { auth: 'managedIdentity' } as const;

it('POSTs the record as JSON to its signed URL, findable by its id in the history of runs', async () => {
  await using pair = await openPair();
  const { record, bytes } = outgoing(sampleRecord());
  expect(await pair.sink.send({ record, bytes }, patience())).toEqual({ status: 'delivered' });
  expect(pair.workflow.requests[0]).toMatchObject({
    method: 'POST',
    path,
    body: bytes,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'scheduled-events-bridge/1.0.0',
      'x-ms-client-tracking-id': record.id,
    },
  });
});

it('sends no Authorization beside a signature, and asks nobody for a token', async () => {
  await using pair = await openPair();
  await pair.send();
  expect(pair.workflow.requests[0]?.headers).not.toHaveProperty('authorization');
  expect(pair.imds.requests).toEqual([]);
});

it('sends another content type where the settings say so', async () => {
  await using pair = await openPair({ contentType: 'application/cloudevents+json; charset=utf-8' });
  await pair.send();
  expect(pair.workflow.requests[0]?.headers['content-type']).toBe(
    'application/cloudevents+json; charset=utf-8',
  );
});

it('signs in with the identity of the VM, and takes the signature out of the URL', async () => {
  await using pair = await openPair(identity);
  expect(await pair.send()).toEqual({ status: 'delivered' });
  const [request] = pair.workflow.requests;
  expect(request?.path).toBe('/workflows/w/triggers/t/paths/invoke?api-version=2016-10-01');
  expect(claimsOf(request?.headers.authorization)).toMatchObject({ aud: 'https://management.azure.com/' });
});

it('asks for the audience and the identity of its settings', async () => {
  await using pair = await openPair({ ...identity, audience: 'api://flow', clientId: 'mine' });
  await pair.send();
  const claims = claimsOf(pair.workflow.requests[0]?.headers.authorization);
  expect(claims).toMatchObject({ aud: 'api://flow', appid: 'mine' });
});

it.each([401, 403])(
  'tries once more at once, with a new token, when a kept one meets a %i',
  async (status) => {
    await using pair = await openPair(identity);
    pair.workflow.answer({ status: 202 }, { status }, { status: 202 });
    await pair.send();
    expect(await pair.send()).toEqual({ status: 'retryable', reason: `http-${status}`, stale: true });
    expect(pair.imds.requests).toHaveLength(1);
    expect([await pair.send(), pair.imds.requests.length]).toEqual([{ status: 'delivered' }, 2]);
  },
);

it.each([401, 403])('suspends itself when a new token meets a %i, and keeps it no longer', async (status) => {
  await using pair = await openPair(identity);
  pair.workflow.answer({ status });
  const suspended = { status: 'unavailable', reason: `http-${status}` };
  expect([await pair.send(), await pair.send()]).toEqual([suspended, suspended]);
  expect(pair.imds.requests).toHaveLength(2);
});

it('keeps a token for the next records', async () => {
  await using pair = await openPair(identity);
  for (let count = 0; count < 3; count += 1) await pair.send();
  expect([pair.workflow.requests.length, pair.imds.requests.length]).toEqual([3, 1]);
});

it.each([
  ['fails', { kind: 'status', status: 500 }],
  ['gives half an answer', { kind: 'cut' }],
  ['gives what is no token', { kind: 'truncated' }],
] as const)('asks twice more when the metadata service %s, and tries again later', async (_, fault) => {
  await using pair = await openPair(identity);
  pair.imds.inject(fault, { path: 'token', times: 3 });
  expect(await pair.send()).toEqual({ status: 'retryable', reason: 'credential-unavailable' });
  expect([pair.workflow.requests.length, await pair.send()]).toEqual([0, { status: 'delivered' }]);
});

it.each([404, 429, 500])(
  'needs no second attempt when the metadata service answers %i in passing',
  async (status) => {
    await using pair = await openPair(identity);
    pair.imds.inject({ kind: 'status', status }, { path: 'token', times: 2 });
    expect(await pair.send()).toEqual({ status: 'delivered' });
    expect(pair.imds.requests).toHaveLength(3);
  },
);

it('does not ask again at once for a token that is refused to this VM', async () => {
  await using pair = await openPair(identity);
  pair.imds.inject({ kind: 'status', status: 400 }, { path: 'token', times: 3 });
  expect(await pair.send()).toEqual({ status: 'retryable', reason: 'credential-unavailable' });
  expect(pair.imds.requests).toHaveLength(1);
});

it('uses no token that has ended', async () => {
  await using pair = await openPair(identity, { tokenLifetimeMs: -1_000 });
  expect(await pair.send()).toEqual({ status: 'retryable', reason: 'credential-unavailable' });
  expect(pair.workflow.requests).toEqual([]);
});

it('asks again for each record while tokens are about to end', async () => {
  await using pair = await openPair(identity, { tokenLifetimeMs: 60_000 });
  expect([await pair.send(), await pair.send()]).toEqual([{ status: 'delivered' }, { status: 'delivered' }]);
  expect(pair.imds.requests).toHaveLength(2);
});

it('finds in a check that there is no token, and sends the workflow nothing', async () => {
  await using pair = await openPair(identity);
  expect(await pair.sink.check(patience())).toMatchObject({ ok: true });
  const settings = { type: 'logicapps', url: pair.workflow.url, allowHttp: true, ...identity };
  // Its metadata service is nobody.
  await using other = openFromSettings(settings).sink;
  expect(await other.check(patience())).toMatchObject({ ok: false, reason: 'credential-unavailable' });
  expect(pair.workflow.requests).toEqual([]);
});

it('does not spend a whole attempt on waiting for a token', async () => {
  await using pair = await openPair({ ...identity, timeout: '800ms' });
  pair.imds.inject({ kind: 'hang' }, { path: 'token' });
  expect(await pair.send()).toEqual({ status: 'retryable', reason: 'credential-unavailable' });
});

it.each([`http://${noSuchHost}/w`, 'http://0.0.0.0/w'])(
  'asks for no token that would go to another machine in the clear: %s',
  async (url) => {
    await using pair = await openPair({ ...identity, url });
    expect(await pair.send()).toEqual({ status: 'unavailable', reason: 'egress-blocked' });
    expect(await pair.sink.check(patience())).toMatchObject({ ok: false, reason: 'egress-blocked' });
    expect(pair.imds.requests).toEqual([]);
  },
);

it.each(['localhost', '127.1', '[::ffff:127.0.0.1]'])('takes %s for this machine', async (host) => {
  await using workflow = await openInbox({ answer: { status: 202 } });
  await using pair = await openPair({ ...identity, url: `http://${host}:${workflow.port}/w` });
  expect(await pair.send()).toEqual({ status: 'delivered' });
});

it.each([
  ['clientId', { clientId: 'mine' }],
  ['auth', { auth: 'none' }],
  ['contentType', { contentType: 'two\nlines' }],
])('refuses a setting that does nothing: %s', (_, more) => {
  const settings = { type: 'logicapps', url: 'https://x.test', ...more };
  expect(sinkSettings.safeParse(settings).success).toBe(false);
});

/** What the token of a header says about itself. */
function claimsOf(header: string | undefined): unknown {
  const [scheme, token = ''] = (header ?? '').split(' ');
  expect(scheme).toBe('Bearer');
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}
