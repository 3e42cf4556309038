// Containers of blobs against a server that answers by a script: every refusal has a name, no wait is long, no secret is said.
import { afterAll, describe, expect, it } from 'vitest';
import { openAppendBlobs } from '../../src/blobs/append-blobs.ts';
import { openContainer } from '../../src/blobs/container.ts';
import { Secret } from '../../src/config/secret.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { issueCertificate, trust } from '../support/certificate.ts';
import { type BlobAnswer, startScriptedBlobs } from '../support/scripted-blobs.ts';

const patience = new AbortController().signal;
const marker = 'bWFya2VyLXNlY3JldA==';
const bytes = Buffer.from('x\n');

const containerAt = (port: number, timeoutMs?: number) => {
  const endpoint = `BlobEndpoint=http://127.0.0.1:${port}/account`;
  const text = `DefaultEndpointsProtocol=http;${endpoint};AccountName=account;AccountKey=${marker};`;
  return openContainer(
    { connectionString: new Secret('env:STORAGE', () => text), container: 'anchors' },
    timeoutMs,
  );
};

/** What one append comes to when each request is answered like this. */
async function appendTo(answer: BlobAnswer | null, timeoutMs?: number) {
  await using server = await startScriptedBlobs(() => answer);
  const result = await openAppendBlobs(containerAt(server.port, timeoutMs)).append('x', bytes, 5, patience);
  expect(JSON.stringify(result)).not.toMatch(/marker/);
  return { result, asked: server.asked.length };
}

describe('an append that is refused', () => {
  // Azurite has no immutability policies: these codes are the documented ones, and were never seen from Azure itself.
  it.each<[status: number, code: string, reason: string]>([
    [409, 'BlobImmutableDueToPolicy', 'refused'],
    [409, 'BlobImmutableDueToLegalHold', 'refused'],
    [409, 'BlobIsSealed', 'refused'],
    [409, 'InvalidBlobType', 'refused'],
    [412, 'LeaseIdMissing', 'refused'],
    [404, 'ContainerNotFound', 'not-found'],
    [409, 'ContainerBeingDeleted', 'not-found'],
    [401, 'NoAuthenticationInformation', 'unauthorized'],
    [403, 'AuthenticationFailed', 'unauthorized'],
    [403, 'AuthorizationPermissionMismatch', 'unauthorized'],
    [403, 'AuthorizationFailure', 'unauthorized'],
    [400, 'InvalidHeaderValue', 'unexpected'],
    [501, 'NotImplemented', 'unexpected'],
  ])('with %i %s is %s', async (status, code, reason) => {
    expect((await appendTo({ status, code })).result).toEqual({ status: 'failed', reason });
  });

  it.each<[status: number, code: string, reason: string]>([
    [503, 'ServerBusy', 'throttled'],
    [500, 'InternalError', 'unreachable'],
    [500, 'OperationTimedOut', 'unreachable'],
  ])('with %i %s is tried again, and then %s', async (status, code, reason) => {
    expect(await appendTo({ status, code })).toEqual({ result: { status: 'failed', reason }, asked: 3 });
  });

  it('is full after 50,000 blocks, and moved where the blob ends elsewhere or is not there', async () => {
    expect((await appendTo({ status: 409, code: 'BlockCountExceedsLimit' })).result).toEqual({
      status: 'full',
    });
    expect((await appendTo({ status: 404, code: 'BlobNotFound' })).result).toEqual({
      status: 'moved',
      length: 0,
    });
    await using server = await startScriptedBlobs(({ method }) =>
      method === 'HEAD'
        ? { status: 200, headers: { 'content-length': '77', 'x-ms-blob-type': 'AppendBlob' } }
        : { status: 412, code: 'AppendPositionConditionNotMet' },
    );
    const blobs = openAppendBlobs(containerAt(server.port));
    expect(await blobs.append('x', bytes, 5, patience)).toEqual({ status: 'moved', length: 77 });
  });
});

describe('an answer that does not come', () => {
  it('is waited for no longer than was said, with all tries', async () => {
    const began = performance.now();
    expect((await appendTo(null, 300)).result).toEqual({ status: 'failed', reason: 'unreachable' });
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('ends at once for whoever no longer wants it', async () => {
    await using server = await startScriptedBlobs(() => null);
    const leaving = new AbortController();
    const asking = openAppendBlobs(containerAt(server.port)).read('x', 0, 1, leaving.signal);
    leaving.abort();
    expect(await asking).toEqual({ status: 'failed', reason: 'aborted' });
  });
});

describe('what settings say', () => {
  it('is named without its secrets', () => {
    expect(containerAt(1).place).toBe('container anchors (env:STORAGE)');
    expect(openContainer({ containerUrl: 'https://a.blob.core.windows.net/c' }).place).toBe(
      'a.blob.core.windows.net/c',
    );
    const address = new Secret('--trail', () => 'https://a.blob.core.windows.net/c?sv=1&sig=marker');
    expect(openContainer({ address }).place).toBe('a.blob.core.windows.net/c');
    expect(openContainer({ address: new Secret('--trail', () => 'marker') }).place).not.toMatch(/marker/);
  });

  it('is a failure with a name when the secret is no connection string, or cannot be read, and later may be', async () => {
    let text: string | null = null;
    const connectionString = new Secret('file:storage', () => {
      if (text === null) throw new Error('marker');
      return text;
    });
    const container = openContainer({ connectionString, container: 'c' });
    expect(await container.check(patience)).toEqual({ status: 'failed', reason: 'secret-unreadable' });
    text = 'marker';
    expect(await container.check(patience)).toEqual({
      status: 'failed',
      reason: 'connection-string-invalid',
    });
    await using server = await startScriptedBlobs(() => ({ status: 403, code: 'AuthenticationFailed' }));
    const endpoint = `DefaultEndpointsProtocol=http;BlobEndpoint=http://127.0.0.1:${server.port}/account`;
    text = `${endpoint};AccountName=account;AccountKey=${marker};`;
    expect(await container.check(patience)).toEqual({ status: 'failed', reason: 'unauthorized' });
    // A key that was changed in its file counts from the next request on.
    text = `${endpoint};AccountName=other;AccountKey=b3RoZXI=;`;
    await container.check(patience);
    const [first, second] = server.asked.map(({ authorization }) => authorization?.split(':')[0]);
    expect([first, second]).toEqual(['SharedKey account', 'SharedKey other']);
  });
});

describe('an identity', () => {
  const variables = ['AZURE_POD_IDENTITY_AUTHORITY_HOST', 'AZURE_TOKEN_CREDENTIALS'];
  afterAll(() => {
    for (const name of variables) delete process.env[name];
  });

  it('signs in with a token of this machine, and sends it nowhere but over TLS', async () => {
    await using imds = await startImdsEmulator({
      vms: [{ name: 'web1' }],
      identity: { tokenLifetimeMs: 3_600_000 },
    });
    process.env['AZURE_POD_IDENTITY_AUTHORITY_HOST'] = imds.endpointOf('web1');
    // Nothing else is asked: no other program of this machine, and nobody outside.
    process.env['AZURE_TOKEN_CREDENTIALS'] = 'ManagedIdentityCredential';
    const certificate = issueCertificate();
    using _trusting = trust([certificate.cert]);
    const extent = {
      'content-length': '7',
      'x-ms-blob-type': 'AppendBlob',
      'x-ms-blob-committed-block-count': '3',
    };
    await using server = await startScriptedBlobs(() => ({ status: 200, headers: extent }), certificate);
    const address = `https://localhost:${server.port}/anchors`;
    const blobs = openAppendBlobs(openContainer({ containerUrl: address }));
    expect(await blobs.properties('x', patience)).toEqual({ status: 'known', length: 7, blocks: 3 });
    const [, token = ''] = server.asked[0]?.authorization?.split(' ') ?? [];
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    expect(claims.aud).toBe('https://storage.azure.com');
    const plain = openAppendBlobs(openContainer({ containerUrl: address.replace('https:', 'http:') }));
    expect(await plain.properties('x', patience)).toMatchObject({ status: 'failed' });
    expect(server.asked).toHaveLength(1);
  });

  it('is not asked for where the address carries a signature', async () => {
    await using server = await startScriptedBlobs(() => ({ status: 404, code: 'BlobNotFound' }));
    const address = new Secret(
      '--trail',
      () => `http://127.0.0.1:${server.port}/account/c?sv=2026-01-01&sig=marker`,
    );
    const blobs = openAppendBlobs(openContainer({ address }));
    expect(await blobs.read('x', 0, 1, patience)).toEqual({ status: 'missing' });
    expect(server.asked[0]).toMatchObject({ line: expect.stringContaining('sig=marker') });
    expect(server.asked[0]?.authorization).toBeUndefined();
  });
});
