// Tokens of this machine's identity, as passwords of Azure Database for PostgreSQL. Only ever loaded when needed.
import { DefaultAzureCredential } from '@azure/identity';

// https://learn.microsoft.com/azure/postgresql/security/security-entra-configure
const scope = 'https://ossrdbms-aad.database.windows.net/.default';

/** Gives a token for each new connection; the SDK keeps one until it is nearly over. */
export type FetchToken = (signal: AbortSignal) => Promise<string>;

/** @param clientId of a user-assigned managed identity; the machine's own identity when not given */
export function openTokens(clientId: string | undefined): FetchToken {
  const chosen = clientId === undefined ? {} : { managedIdentityClientId: clientId };
  const credential = new DefaultAzureCredential(chosen);
  return async (abortSignal) => (await credential.getToken(scope, { abortSignal })).token;
}
