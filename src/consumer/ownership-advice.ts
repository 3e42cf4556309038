// Explains to a person why it is not known who reads which partition, and what to do about it.
import type { BlobReason } from '../blobs/fault.ts';

const sentences: Readonly<Record<BlobReason, string>> = {
  unreachable:
    'blob storage does not answer; what is read is read on, but nobody takes over from a consumer that ends meanwhile',
  throttled: 'the storage account is busy; it is tried again',
  unauthorized:
    'blob storage does not accept who we are; give the identity the role "Storage Blob Data Contributor" on the container, or check the key and the firewall of the account',
  'credential-unavailable':
    'no token could be had for blob storage; check that this machine has an identity, and `checkpoints.clientId` when it has several',
  'secret-unreadable': 'the secret in `checkpoints.connectionString` cannot be read',
  'connection-string-invalid':
    '`checkpoints.connectionString` cannot be read as one; copy it anew from the portal',
  'not-found': 'there is no such container; make it, or mend the name in `checkpoints`',
  refused:
    'a policy on the container forbids changes; ownership needs a container of its own without immutability',
  aborted: 'the consumer stops',
  unexpected: 'nobody foresaw this; look into the storage account',
};

/** One sentence without its full stop: what happened, and what to do. */
export const ownershipAdviceOf = (reason: BlobReason): string => sentences[reason];
