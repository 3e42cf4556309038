// How webhooks are signed: against the libraries and the vectors of Standard Webhooks, not against ourselves.
import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readSigningKey, signaturesOf } from '../../../src/sinks/webhook/signature.ts';
import vectors from '../../fixtures/webhooks/signed-requests.json' with { type: 'json' };
import type { InboxRequest } from '../../support/inbox.ts';
import { outgoing, sampleRecord } from '../../support/records.ts';
import { sinkSettings } from '../../support/sink-kinds.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openPair } from '../http-subject.ts';
import { patience } from '../sink-contract.ts';

const symmetric = (bytes = 32): string => `whsec_${randomBytes(bytes).toString('base64')}`;

/** A new key pair, as Standard Webhooks write it and as node:crypto wants it. */
function asymmetric() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const publicHalf = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    seed: `whsk_${seed.toString('base64')}`,
    pair: `whsk_${Buffer.concat([seed, publicHalf]).toString('base64')}`,
    publicKey,
  };
}

/** The key of a `whpk_…`: what precedes its 32 bytes in a SubjectPublicKeyInfo is the same for all of them. */
const publicKeyOf = (text: string) =>
  createPublicKey({
    key: Buffer.concat([
      Buffer.from('302a300506032b6570032100', 'hex'),
      Buffer.from(text.slice('whpk_'.length), 'base64'),
    ]),
    format: 'der',
    type: 'spki',
  });

const header = (request: InboxRequest | undefined, name: string): string =>
  String(request?.headers[`webhook-${name}`]);

/** What a receiver checks: id, timestamp and the body as it came. */
const signedBy = (request: InboxRequest | undefined): Buffer =>
  Buffer.concat([
    Buffer.from(`${header(request, 'id')}.${header(request, 'timestamp')}.`),
    request?.body ?? Buffer.alloc(0),
  ]);

/** What arrives for a record that is sent with these settings. */
async function sentWith(settings: object, record = sampleRecord()): Promise<InboxRequest> {
  await using pair = await openPair({ type: 'webhook', settings: { ...settings } });
  expect(await pair.sink.send(outgoing(record), patience())).toEqual({ status: 'delivered' });
  const [request] = pair.inbox.requests;
  if (request === undefined) throw new Error('nothing came');
  return request;
}

const verified = (secret: string, request: InboxRequest): unknown =>
  new Webhook(secret).verify(request.body, request.headers as Record<string, string>);

afterEach(() => {
  vi.useRealTimers();
});

describe('the vectors of Standard Webhooks', () => {
  it.each(vectors.requests)('are met by both keys for $id', ({ id, timestamp, body, signatures }) => {
    const keys = vectors.secrets.map((secret) => readSigningKey(secret)).filter((key) => key !== null);
    expect(signaturesOf(keys, { id, timestamp, body: Buffer.from(body) })).toBe(signatures);
  });

  it('are met by an ed25519 key', () => {
    const key = readSigningKey('whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=');
    const content = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: Buffer.from('{"test": 2432232314}'),
    };
    expect(signaturesOf(key === null ? [] : [key], content)).toBe(
      'v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag==',
    );
  });

  it('sign the same content with ed25519 as with HMAC', () => {
    const [first] = vectors.requests;
    const signed = Buffer.from(`${first?.id}.${first?.timestamp}.${first?.body}`);
    const signature = Buffer.from(vectors.ed25519Signature.slice('v1a,'.length), 'base64');
    expect(verify(null, signed, publicKeyOf(vectors.publicKey), signature)).toBe(true);
  });
});

describe('a signed webhook', () => {
  it.each([
    ['structured', {}],
    ['binary', { mode: 'binary' }],
    ['template', { template: { text: 'ü {{ data.event.eventType }}' } }],
  ])('verifies with the library over the very body of a %s request', async (_, settings) => {
    const secret = symmetric();
    const request = await sentWith({ ...settings, secrets: [secret] });
    expect(verified(secret, request)).toEqual(JSON.parse(request.body.toString()));
  });

  it('is refused by the library when a byte of it has changed', async () => {
    const secret = symmetric();
    const request = await sentWith({ secrets: [secret] });
    const body = Buffer.from(request.body.toString().replace('Freeze', 'Reboot'));
    expect(() => verified(secret, { ...request, body })).toThrow('No matching signature');
  });

  it('verifies with each of several secrets, so that they can be rotated', async () => {
    const secrets = [symmetric(24), symmetric(64), symmetric().slice('whsec_'.length)];
    const request = await sentWith({ secrets });
    expect(header(request, 'signature').split(' ')).toHaveLength(3);
    for (const secret of secrets) expect(() => verified(secret, request)).not.toThrow();
    expect(() => verified(symmetric(), request)).toThrow('No matching signature');
  });

  it.each(['seed', 'pair'] as const)('verifies with the public key of an ed25519 %s', async (form) => {
    const keys = asymmetric();
    const secret = symmetric();
    const request = await sentWith({ secrets: [secret, keys[form]] });
    const [, v1a = ''] = header(request, 'signature').split(' ');
    const signature = Buffer.from(v1a.slice('v1a,'.length), 'base64');
    expect(v1a).toMatch(/^v1a,/);
    expect(verify(null, signedBy(request), keys.publicKey, signature)).toBe(true);
    expect(() => verified(secret, request)).not.toThrow();
  });

  it('names the record, and the second of each attempt', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_794_348_692_999 });
    const secret = symmetric();
    await using pair = await openPair({ type: 'webhook', settings: { secrets: [secret] } });
    const record = sampleRecord();
    await pair.sink.send(outgoing(record), patience());
    vi.setSystemTime(1_794_348_700_000);
    await pair.sink.send(outgoing(record), patience());
    const [first, second] = pair.inbox.requests;
    expect([header(first, 'id'), header(second, 'id')]).toEqual([record.id, record.id]);
    expect([header(first, 'timestamp'), header(second, 'timestamp')]).toEqual(['1794348692', '1794348700']);
    expect(header(second, 'signature')).not.toBe(header(first, 'signature'));
    expect(second && verified(secret, second)).toEqual(record);
  });

  it('carries no signature when there is no secret', async () => {
    const { headers } = await sentWith({});
    expect(headers).not.toHaveProperty('webhook-signature');
  });

  it('is signed with what the file of a secret holds now', async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'secret');
    writeFileSync(file, `${symmetric()}\n`);
    await using pair = await openPair({ type: 'webhook', settings: { secrets: [{ file }] } });
    await pair.send();
    const secret = symmetric();
    writeFileSync(file, `${secret}\n`);
    await pair.send();
    const [before, after] = pair.inbox.requests;
    expect(() => before && verified(secret, before)).toThrow('No matching signature');
    expect(() => after && verified(secret, after)).not.toThrow();
  });
});

const marker = 'bm90LWEta2V5';
const { seed } = asymmetric();
const stranger = asymmetric().pair;
// The seed of one pair before the public key of another.
const mixed = Buffer.concat([
  Buffer.from(seed.slice('whsk_'.length), 'base64'),
  Buffer.from(stranger.slice('whsk_'.length), 'base64').subarray(32),
]);

describe('a secret that cannot be a key', () => {
  const bad = [
    ['no base64', `whsec_${marker} ${marker}`],
    ['too short', `whsec_${randomBytes(23).toString('base64')}`],
    ['too long', `whsec_${randomBytes(65).toString('base64')}`],
    ['a public key', seed.replace('whsk_', 'whpk_')],
    ['unpadded base64', symmetric().replace('=', '')],
    ['a pair with a byte too many', `whsk_${randomBytes(65).toString('base64')}`],
    ['half a seed', `whsk_${randomBytes(16).toString('base64')}`],
    ['a pair of two strangers', `whsk_${mixed.toString('base64')}`],
    ['a prefix alone', 'whsec_'],
  ] as const;

  it('is refused with the settings when it stands there as white space', () => {
    const given = { type: 'webhook', url: 'https://x.test', secrets: ['  '] };
    expect(sinkSettings.safeParse(given).error?.issues).toMatchObject([{ path: ['secrets', 0] }]);
  });

  it.each(bad)('suspends the sink when it is %s, and is not told', async (_, secret) => {
    process.env['WEBHOOK_TEST_SECRET'] = secret;
    const secrets = [symmetric(), { env: 'WEBHOOK_TEST_SECRET' }];
    await using webhook = await openPair({ type: 'webhook', settings: { secrets } });
    expect(await webhook.send()).toEqual({ status: 'unavailable', reason: 'invalid-secret' });
    expect(webhook.inbox.requests).toHaveLength(0);
  });

  it.each(bad)('is refused with the settings when it stands there as %s, and is not quoted', (_, secret) => {
    const given = { type: 'webhook', url: 'https://x.test', secrets: [symmetric(), secret] };
    const issues = sinkSettings.safeParse(given).error?.issues ?? [];
    expect(issues.map(({ path }) => path)).toEqual([['secrets', 1]]);
    expect(issues[0]?.message).toMatch(/^Expected whsec_ and 24 to 64 bytes/);
    expect(JSON.stringify(issues)).not.toContain(secret.slice('whsec_'.length) || 'nothing to quote');
  });

  it('suspends the sink while its file is not there', async () => {
    await using webhook = await openPair({
      type: 'webhook',
      settings: { secrets: [{ file: '/nowhere/at/all' }] },
    });
    expect(await webhook.send()).toEqual({ status: 'unavailable', reason: 'secret-unreadable' });
  });
});
