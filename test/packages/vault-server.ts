// Stands in for the token endpoint of the metadata service and for a Key Vault whose door opens at the second knock.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

// What each of them wants to see: https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
// and https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret/get-secret.
const [key = '', cert = '', name = '', value = '', clientId = ''] = process.argv.slice(2);
const token = 'a-token';
let knocks = 0;

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const asked = ({ url = '/' }: IncomingMessage): URL => new URL(url, 'http://localhost');

const metadata = createServer((request, response) => {
  const { pathname, searchParams } = asked(request);
  const good =
    pathname === '/metadata/identity/oauth2/token' &&
    request.headers.metadata === 'true' &&
    searchParams.get('api-version') === '2018-02-01' &&
    searchParams.get('resource') === 'https://vault.azure.net' &&
    searchParams.get('client_id') === clientId;
  json(
    response,
    good ? 200 : 400,
    good ? { access_token: token, token_type: 'Bearer' } : { error: 'invalid_request' },
  );
});

const vault = createSecureServer(
  { key: readFileSync(key), cert: readFileSync(cert) },
  (request, response) => {
    const { pathname, searchParams } = asked(request);
    knocks += 1;
    if (knocks === 1 || request.headers.authorization !== `Bearer ${token}`)
      json(response, 403, { error: {} });
    else if (pathname !== `/secrets/${name}` || searchParams.get('api-version') === null)
      json(response, 404, {});
    else json(response, 200, { value });
  },
);

metadata.listen(0, '127.0.0.1', () => {
  vault.listen(0, '127.0.0.1', () => {
    const [first, second] = [metadata, vault].map((server) => (server.address() as AddressInfo).port);
    console.log(
      JSON.stringify({ metadata: `http://127.0.0.1:${first}`, vault: `https://127.0.0.1:${second}` }),
    );
  });
});
