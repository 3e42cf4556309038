// Names why a copy does not go on: a closed list, with a sentence for each.
import type { FilesReason } from './files.ts';

export type ArchiveFault =
  | FilesReason
  /** What is there is the copy of another trail. */
  | 'another-trail'
  /** What is there is no copy of a trail, or was changed where it goes on. */
  | 'copy-damaged'
  /** The last entry of the copy is not the one that the trail has at this place. */
  | 'copy-differs'
  /** The trail lacks an entry where one should be. */
  | 'trail-damaged'
  | 'trail-unreadable';

export interface CopyFailure {
  readonly status: 'failed';
  readonly reason: ArchiveFault;
  /** The file or the stream; null when it is about all of it. */
  readonly at: string | null;
}

export const copyFailed = (reason: ArchiveFault, at: string | null = null): CopyFailure => ({
  status: 'failed',
  reason,
  at,
});

/** What only a person can mend; everything else passes, and nothing is lost meanwhile. */
export const needsPerson: ReadonlySet<ArchiveFault> = new Set<ArchiveFault>([
  'another-trail',
  'connection-string-invalid',
  'copy-damaged',
  'copy-differs',
  'credential-unavailable',
  'disk-full',
  'not-found',
  'read-only',
  'refused',
  'secret-unreadable',
  'trail-damaged',
  'unauthorized',
]);

/** What to do about it. */
export const archiveAdvice: Readonly<Record<ArchiveFault, string>> = {
  aborted: 'it goes on with the next start',
  'another-trail': 'give this trail a place of its own for its copy',
  'connection-string-invalid': 'give the connection string of a storage account',
  'copy-damaged': 'keep what is there, and let seb audit verify name what was changed',
  'copy-differs': 'compare the copy with the trail: seb audit verify on both',
  'credential-unavailable': 'give this machine a managed identity, or a connection string',
  'disk-full': 'make room; the copy goes on by itself',
  locked: 'another program is writing there; it goes on by itself',
  'not-found': 'make the container, or correct its name or the path',
  'read-only': 'let the consumer write there',
  refused: 'see the policy of the container: it must allow additions to append blobs',
  'secret-unreadable': 'see whether the secret can be read by the consumer',
  throttled: 'it goes on by itself',
  'trail-damaged': 'seb audit verify names what is missing in the trail',
  'trail-unreadable': 'it goes on when the trail can be read again',
  unauthorized: 'give the identity the right to write there, and this machine the way through the firewall',
  unexpected: 'see the log of the storage account or of the system; it is tried again',
  unreachable: 'it goes on by itself',
};
