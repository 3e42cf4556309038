// What a failure of PostgreSQL means for the trail, and in words for a person.
import { SecretUnreadable } from '../../config/secret.ts';
import { failureOf as asideFailureOf } from '../sqlite-failure.ts';
import { TrailUnusable, type UnavailableReason } from '../store.ts';

/** Thrown when no token could be had: the message of the SDK may hold anything. */
export class TokenUnavailable extends Error {}

// https://www.postgresql.org/docs/current/errcodes-appendix.html; a class of two characters stands for all of it.
const reasonOf: Readonly<Record<string, UnavailableReason>> = {
  '08': 'unreachable',
  '25006': 'read-only',
  '25P03': 'locked',
  '28': 'unauthorized',
  '40001': 'locked',
  '40P01': 'locked',
  '42501': 'unauthorized',
  '53100': 'disk-full',
  '53300': 'unreachable',
  '55P03': 'locked',
  '57014': 'locked',
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  XX001: 'damaged',
  XX002: 'damaged',
};

/** The reason behind an error; null for an error that is a bug of ours. */
export function failureOf(error: unknown): UnavailableReason | null {
  // What is compared is put aside in files of SQLite.
  const aside = asideFailureOf(error);
  if (aside !== null) return aside;
  // Also a URL that was exchanged for one that says nothing: there is nobody to sign in as.
  if (isOfSignIn(error) || error instanceof TrailUnusable) return 'unauthorized';
  const state = stateOf(error);
  if (state !== null) return reasonOf[state] ?? reasonOf[state.slice(0, 2)] ?? 'unexpected';
  return isOfConnection(error) ? 'unreachable' : null;
}

const isOfSignIn = (error: unknown): boolean =>
  error instanceof SecretUnreadable || error instanceof TokenUnavailable;

/** The SQLSTATE of what the server said; null when it did not speak. */
export function stateOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

// What `pg` and its pool say without a code when a connection breaks, hangs or cannot be had.
const words =
  /^(?:Connection terminated|Query read timeout|timeout ex|Client has encountered a connection error|Client was closed|The server does not support SSL|There was an error establishing an SSL|Received unexpected)/;

// What Node calls the faults of sockets, names and certificates.
const codes =
  /^(?:E(?!RR_)[A-Z0-9_]+|ERR_(?:TLS|SSL|SOCKET|STREAM)_\w+|\w*(?:CERT|SIGNATURE|ISSUER|CRL|SELF_SIGNED)\w*|HOSTNAME_MISMATCH)$/;

function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  return code === null ? words.test(error.message) : codes.test(code);
}

const wordsFor: Readonly<Record<UnavailableReason, string>> = {
  'disk-full': 'the disk of its server is full',
  locked: 'another transaction held it locked for too long',
  damaged: 'its server says that data are damaged: keep them, and restore the trail from a copy',
  'read-only': 'its server takes no writes: it is a replica, or its storage is nearly full',
  unreachable: 'its server cannot be reached',
  unauthorized:
    'this user may not do that with its tables: who reads needs the role seb_reader, and who writes seb_writer',
  unexpected: 'its server refuses what it is asked',
};

/** Why the trail cannot be used, as the end of a sentence: nothing of the error's own text, which may hold anything. */
export function sentenceFor(error: unknown): string {
  if (error instanceof SecretUnreadable || error instanceof TrailUnusable) return error.message;
  if (error instanceof TokenUnavailable) return 'no token of this machine’s identity could be had';
  if (asideFailureOf(error) !== null)
    return 'what is compared could not be put aside in the folder for temporary files';
  const state = stateOf(error);
  if (state === '3D000') return 'its server has no database of this name';
  if (state?.startsWith('28') === true)
    return `its server refuses this user or the password (SQLSTATE ${state})`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (state === null && /CERT|TLS|SIGNATURE|SSL/.test(code))
    return `its certificate is not accepted (${code})`;
  if (error instanceof Error && error.message.startsWith('The server does not support SSL'))
    return 'its server speaks no TLS; for a server that is not on this machine sslmode=disable must be said';
  const reason = failureOf(error) ?? 'unexpected';
  return state === null ? wordsFor[reason] : `${wordsFor[reason]} (SQLSTATE ${state})`;
}
