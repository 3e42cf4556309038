// Tokens of the VM's managed identity, made safe for the Event Hubs SDK. Only ever imported when needed.
import { Agent } from 'node:http';
import { type AccessToken, ManagedIdentityCredential, type TokenCredential } from '@azure/identity';
import { imdsAddress } from '../config/agent.ts';

export interface ManagedIdentityPlace {
  /** Of a user-assigned identity; the VM's own identity unless given. */
  readonly clientId?: string;
  readonly imdsEndpoint: string;
}

/** No token could be had in time, or none that is still good. */
class TokenUnavailable extends Error {
  override readonly name = 'CredentialUnavailableError';
}

/**
 * Opens the credential; it asks for a token when one is needed.
 * @param timeoutMs how long one token may take
 */
export function openManagedIdentity(place: ManagedIdentityPlace, timeoutMs: number): TokenCredential {
  const { clientId, imdsEndpoint } = place;
  // The one way to tell the SDK of another place than Azure's own: without it, an emulator would never be asked.
  // It remembers the first place it was told of for as long as the process lives.
  if (imdsEndpoint !== imdsAddress) process.env['AZURE_POD_IDENTITY_AUTHORITY_HOST'] = imdsEndpoint;
  const credential = new ManagedIdentityCredential({
    ...(clientId === undefined ? {} : { clientId }),
    // The outbox tries again; the SDK's own tries would last for minutes, and a send would wait for them.
    retryOptions: { maxRetries: 0 },
    // An agent of its own keeps the request for a token off any proxy that the environment names.
    agent: new Agent(),
  });
  return { getToken: async (scopes) => lasting(await inTime(credential.getToken(scopes), timeoutMs)) };
}

async function inTime(asking: Promise<AccessToken>, timeoutMs: number): Promise<AccessToken> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TokenUnavailable()), timeoutMs);
  try {
    return await Promise.race([asking, late]);
  } finally {
    clearTimeout(timer);
  }
}

const lifetimeMsMin = 10 * 60_000;

/**
 * The Event Hubs SDK renews a token two minutes before the end of the first one it got: for a shorter one it asks
 * without a pause and without an end (measured: 69 requests in 3 s). Instance metadata may hand out a token
 * that is nearly over, and has no better one then; it still opens a connection, so it is used, and the SDK told
 * that it lasts. Our connections do not live long enough to need the renewal.
 */
function lasting(token: AccessToken): AccessToken {
  const now = Date.now();
  if (token.expiresOnTimestamp <= now) throw new TokenUnavailable();
  return { ...token, expiresOnTimestamp: Math.max(token.expiresOnTimestamp, now + lifetimeMsMin) };
}
