// Tokens for blob storage from whatever identity this machine has. Only ever imported when needed.
import { DefaultAzureCredential, type TokenCredential } from '@azure/identity';

/** @param clientId of a user-assigned managed identity; the machine's own identity when not given */
export const openStorageCredential = (clientId: string | undefined): TokenCredential =>
  new DefaultAzureCredential(clientId === undefined ? {} : { managedIdentityClientId: clientId });
