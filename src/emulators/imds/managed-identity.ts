// Answers /metadata/identity/oauth2/token: tokens that look like a managed identity's and open nothing.
import { type Answer, type ImdsRequest, jsonAnswer, versionUnknown } from './answer.ts';
import { instanceApiVersions, shows } from './api-version.ts';
import { guidOf } from './vm.ts';

export const tokenPath = '/metadata/identity/oauth2/token';

export interface ManagedIdentityOptions {
  /** How long a token is good for. */
  readonly tokenLifetimeMs: number;
  /** User-assigned identities by client id; undefined = any client id is one of the VM's. */
  readonly clientIds?: readonly string[];
}

const tenantId = guidOf('tenant');
/** The category came with this version of IMDS. */
const apiVersions = instanceApiVersions.filter((apiVersion) => shows(apiVersion, '2018-02-01'));

/**
 * Answers a GET.
 * @param now epoch ms: when the token begins to be good
 */
export function issueToken({ query, vm }: ImdsRequest, options: ManagedIdentityOptions, now: number): Answer {
  if (!apiVersions.includes(query.get('api-version') ?? '')) return versionUnknown;
  const resource = query.get('resource');
  if (!resource) return refusal("Required query variable 'resource' is missing");
  const clientId = query.get('client_id') ?? guidOf(`identity of ${vm.name}`);
  const known =
    options.clientIds === undefined || !query.has('client_id') || options.clientIds.includes(clientId);
  if (!known) return refusal('Identity not found');
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = Math.floor((now + options.tokenLifetimeMs) / 1000);
  const claims = {
    aud: resource,
    iss: `https://sts.windows.net/${tenantId}/`,
    appid: clientId,
    tid: tenantId,
  };
  return jsonAnswer(200, {
    access_token: unsignedJwt({
      ...claims,
      iat: issuedAt,
      nbf: issuedAt,
      exp: expiresAt,
      xms_mirid: vm.resourceId,
    }),
    client_id: clientId,
    expires_in: String(expiresAt - issuedAt),
    expires_on: String(expiresAt),
    ext_expires_in: String(expiresAt - issuedAt),
    not_before: String(issuedAt),
    resource,
    token_type: 'Bearer',
  });
}

const refusal = (description: string): Answer =>
  jsonAnswer(400, { error: 'invalid_request', error_description: description });

/** Has the three parts that clients take apart; the signature says what it is. */
function unsignedJwt(claims: object): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${encode({ typ: 'JWT', alg: 'none' })}.${encode(claims)}.${Buffer.from('emulated').toString('base64url')}`;
}
