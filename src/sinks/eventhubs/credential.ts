// Gives the tokens of the VM's managed identity to the Event Hubs SDK, made safe for it.
import type { TokenCredential } from '@azure/event-hubs';
import type { ManagedIdentity } from '../http/managed-identity.ts';

/** Whom tokens for Event Hubs are for. */
export const hubAudience = 'https://eventhubs.azure.net/';

const lifetimeMsMin = 10 * 60_000;

/**
 * A credential as the SDK wants it.
 * The SDK renews a token two minutes before the end of the first one it got: for a shorter one it asks without a
 * pause and without an end (measured: 69 requests in 3 s). Instance metadata may hand out a token that is nearly
 * over, and has no better one then; it still opens a connection, so it is used, and the SDK told that it lasts.
 * Our connections do not live long enough to need the renewal.
 */
export const hubCredential = (identity: ManagedIdentity): TokenCredential => ({
  getToken: async (_scopes, options) => {
    const { text: token, expiresAt } = await identity.token(signalOf(options?.abortSignal));
    return { token, expiresOnTimestamp: Math.max(expiresAt, Date.now() + lifetimeMsMin) };
  },
});

/** The SDK's signals are signals of Node; it gives none while it renews a token. */
const signalOf = (given: unknown): AbortSignal =>
  given instanceof AbortSignal ? given : new AbortController().signal;
