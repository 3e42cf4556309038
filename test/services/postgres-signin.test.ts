// How a trail signs in to PostgreSQL: over TLS that is verified, with a password or a token of the machine's identity.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readRights } from '../../src/audit/postgres/rights.ts';
import { openPostgresTrail } from '../../src/audit/postgres/trail.ts';
import { issueCertificate, trust } from '../support/certificate.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { stream } from '../support/trail/world.ts';
import { until } from '../support/until.ts';
import { execute, openDatabase, rowsOf, type TestDatabase } from './support/postgres.ts';
import { type PostgresServer, startPostgres } from './support/postgres-server.ts';
import { settingsFor } from './support/postgres-world.ts';

const certificate = issueCertificate({ names: ['localhost'] });
let [cluster, database, directory]: [PostgresServer?, TestDatabase?, TemporaryDirectory?] = [];
let [url, caFile] = ['', ''];

beforeAll(async () => {
  cluster = await startPostgres({ certificate });
  database = await openDatabase(cluster.address);
  directory = temporaryDirectory();
  caFile = join(directory.path, 'authority.pem');
  writeFileSync(caFile, certificate.cert);
  url = database.url.replace('127.0.0.1', 'localhost');
});

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  directory?.[Symbol.dispose]();
});

const admin = (): string => database?.adminUrl ?? '';

/** How the trail says it is reached, or why it cannot be. */
const reached = async (given: unknown, others: object = {}): Promise<string> => {
  try {
    return (await readRights(settingsFor(given, { ...others }))).detail;
  } catch (error) {
    return String(error);
  }
};

test('the certificate is verified against the authority of caFile, or the usual ones, and by its name', async () => {
  expect(await reached(url, { caFile })).toContain('over TLS');
  for (const mode of ['require', 'verify-ca', 'verify-full']) {
    expect(await reached(`${url}?sslmode=${mode}`), mode).toContain('its certificate is not accepted');
    expect(await reached(`${url}?sslmode=${mode}`, { caFile }), mode).toContain('over TLS');
  }
  {
    using _trusted = trust([certificate.cert]);
    expect(await reached(`${url}?sslmode=require`)).toContain('over TLS');
  }
  const byAddress = url.replace('localhost', '127.0.0.1');
  expect(await reached(byAddress, { caFile })).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  const other = issueCertificate({ names: ['localhost'] });
  const wrong = join(directory?.path ?? '', 'other.pem');
  writeFileSync(wrong, other.cert);
  expect(await reached(url, { caFile: wrong })).toContain('its certificate is not accepted');
});

test('only a server on this machine is spoken to in plain, or one for which it is said', async () => {
  expect(await reached(url)).toContain('plain on this machine');
  expect(await reached(`${url}?sslmode=disable`)).toContain('plain on this machine');
  const folder = encodeURIComponent(cluster?.address.folder ?? '');
  expect(await reached(url.replace('localhost', folder))).toContain('plain on this machine');
  const connections = await rowsOf(url, 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
  expect(connections).toEqual([{ ssl: false }]);
});

test('a token is never sent in plain', async () => {
  const plain = settingsFor('postgres://u@db.example/d?sslmode=disable', { identity: true });
  await expect(openPostgresTrail(plain)).rejects.toThrow('trail.identity needs TLS');
});

/** A metadata service that gives what the test says. */
async function openTokenEndpoint(token: () => string | null) {
  const asked: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    asked.push(searchParams);
    // So near its end that the SDK asks anew for each connection.
    const expires_on = String(Math.floor(Date.now() / 1000) + 60);
    response.setHeader('content-type', 'application/json');
    const given = token();
    if (given === null) response.statusCode = 400;
    response.end(JSON.stringify({ access_token: given, expires_on, expires_in: '60', token_type: 'Bearer' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** As long as those of Entra with many groups. */
const longToken = (letter: string): string => `header.${letter.repeat(3_000)}.signature`;

test('with identity, the password is a token for PostgreSQL of the chosen identity, a new one for each connection', async () => {
  let token: string | null = longToken('a');
  await using endpoint = await openTokenEndpoint(() => token);
  vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', endpoint.url);
  vi.stubEnv('AZURE_TOKEN_CREDENTIALS', 'ManagedIdentityCredential');
  const role = database?.name ?? '';
  const setPassword = (): Promise<void> => execute(admin(), [`ALTER ROLE ${role} PASSWORD '${token}'`]);
  await setPassword();
  const withoutPassword = url.replace(/:[^:/]+@/, '@');
  expect(withoutPassword).not.toContain(`:${role}@`);
  const settings = settingsFor(withoutPassword, { identity: true, clientId: 'chosen', caFile });
  await using trail = await openPostgresTrail(settings);
  expect(await trail.position(stream)).toMatchObject({ status: 'known' });
  expect(endpoint.asked.map((query) => [query.get('resource'), query.get('client_id')])).toContainEqual([
    'https://ossrdbms-aad.database.windows.net',
    'chosen',
  ]);
  token = longToken('b');
  await setPassword();
  await rowsOf(admin(), 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
  await until('a connection with the new token', async () => {
    return (await trail.position(stream)).status === 'known';
  });
  token = 'one that the server does not know';
  await rowsOf(admin(), 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
  await until('the refusal', async () => {
    const result = await trail.position(stream);
    return result.status === 'unavailable' && result.reason === 'unauthorized';
  });
  token = null;
  expect(await reached(withoutPassword, { identity: true, clientId: 'other', caFile })).toContain(
    'no token of this machine’s identity could be had',
  );
  vi.unstubAllEnvs();
});
