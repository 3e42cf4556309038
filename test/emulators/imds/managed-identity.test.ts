// Tokens: asked for by Azure's own library, and what is refused.
import { ManagedIdentityCredential } from '@azure/identity';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ImdsEmulator, startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
import { ask } from '../../support/imds-client.ts';

const hostVariable = 'AZURE_POD_IDENTITY_AUTHORITY_HOST';
const scope = 'https://eventhubs.azure.net/.default';
const clientId = 'c0ffee00-1111-4222-8333-444455556666';

// Microsoft's library remembers the first address it was given for the life of the process: one emulator for all.
let emulator: ImdsEmulator;

beforeAll(async () => {
  emulator = await startImdsEmulator({
    vms: [{ name: 'web1' }, { name: 'web2' }],
    identity: { tokenLifetimeMs: 3_600_000, clientIds: [clientId] },
  });
  process.env[hostVariable] = emulator.endpointOf('web2');
});

afterAll(async () => {
  delete process.env[hostVariable];
  await emulator[Symbol.asyncDispose]();
});

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

it('gives ManagedIdentityCredential a token of the VM that lives as long as it was told to', async () => {
  const asked = Date.now();
  const { token, expiresOnTimestamp } = await new ManagedIdentityCredential().getToken(scope);
  expect(claimsOf(token)).toMatchObject({
    aud: 'https://eventhubs.azure.net',
    xms_mirid: expect.stringMatching(/virtualMachines\/web2$/),
  });
  expect(expiresOnTimestamp - asked).toBeGreaterThan(3_590_000);
  expect(expiresOnTimestamp - Date.now()).toBeLessThanOrEqual(3_600_000);
});

it('gives a user-assigned identity its own token, and refuses one that the VM does not have', async () => {
  const { token } = await new ManagedIdentityCredential({ clientId }).getToken(scope);
  expect(claimsOf(token).appid).toBe(clientId);
  const stranger = new ManagedIdentityCredential({ clientId: '00000000-1111-4222-8333-444455556666' });
  await expect(stranger.getToken(scope)).rejects.toThrow(/Identity not found/);
});

it('refuses a request without a resource or with an unknown version', async () => {
  const path = `${emulator.url}/metadata/identity/oauth2/token`;
  const noResource = await ask(`${path}?api-version=2018-02-01`);
  expect(noResource.status).toBe(400);
  expect(JSON.parse(noResource.body)).toMatchObject({ error: 'invalid_request' });
  expect((await ask(`${path}?api-version=2000-01-01&resource=x`)).status).toBe(400);
  expect((await ask(`${path}?api-version=2018-02-01&resource=x`, { headers: {} })).status).toBe(400);
});
