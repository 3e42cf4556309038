// Names what went wrong between this program and blob storage, from codes and never from the texts of errors.
import { SecretUnreadable } from '../config/secret.ts';

/** A closed list: an SDK's own text may quote an address with a signature in it. */
export type BlobReason =
  /** No answer, or none in time. */
  | 'unreachable'
  /** The account is busy; later it is not. */
  | 'throttled'
  /** The key, the signature or the identity may not do this, or the firewall keeps this machine out. */
  | 'unauthorized'
  /** This machine has no identity that could sign in. */
  | 'credential-unavailable'
  | 'secret-unreadable'
  | 'connection-string-invalid'
  /** There is no such account or container. */
  | 'not-found'
  /** An immutability policy or a legal hold forbids it, or the blob is of another kind or sealed. */
  | 'refused'
  /** Whoever asked no longer wants to know. */
  | 'aborted'
  | 'unexpected';

/** An operation that did not come about. */
export interface BlobFailure {
  readonly status: 'failed';
  readonly reason: BlobReason;
}

export const failed = (reason: BlobReason): BlobFailure => ({ status: 'failed', reason });

/** What the service calls the fault: https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes. */
const reasons: Readonly<Record<string, BlobReason>> = {
  AccountBeingCreated: 'unreachable',
  AccountIsDisabled: 'unauthorized',
  BlobImmutableDueToLegalHold: 'refused',
  BlobImmutableDueToPolicy: 'refused',
  BlobIsSealed: 'refused',
  BlobOperationNotSupported: 'refused',
  ContainerBeingDeleted: 'not-found',
  ContainerDisabled: 'unauthorized',
  ContainerHasLegalHold: 'refused',
  ContainerImmutabilityPolicyLocked: 'refused',
  ContainerNotFound: 'not-found',
  FeatureVersionMismatch: 'refused',
  InvalidBlobType: 'refused',
  LeaseIdMissing: 'refused',
  OperationTimedOut: 'unreachable',
  ResourceNotFound: 'not-found',
  ServerBusy: 'throttled',
  // What Node, the SDK's own pipeline and @azure/identity 4 call theirs.
  AggregateAuthenticationError: 'credential-unavailable',
  AuthenticationError: 'credential-unavailable',
  AuthenticationRequiredError: 'credential-unavailable',
  CredentialUnavailableError: 'credential-unavailable',
  EAI_AGAIN: 'unreachable',
  ECONNREFUSED: 'unreachable',
  ECONNRESET: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'unreachable',
  EPIPE: 'unreachable',
  ETIMEDOUT: 'unreachable',
  PARSE_ERROR: 'unreachable',
  REQUEST_SEND_ERROR: 'unreachable',
};

const byStatus: Readonly<Record<number, BlobReason>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'not-found',
  408: 'unreachable',
  429: 'throttled',
  500: 'unreachable',
  502: 'unreachable',
  503: 'throttled',
  504: 'unreachable',
};

type Known = Readonly<Record<string, unknown>>;
const known = (value: unknown): Known =>
  typeof value === 'object' && value !== null ? (value as Known) : {};

/** The service's own code of an answer that is a fault; an answer to HEAD has it in a header only. */
export function codeOf(error: unknown): string | null {
  const { code, details } = known(error);
  const said = known(details)['errorCode'] ?? code;
  return typeof said === 'string' ? said : null;
}

/** The status of an answer that is a fault; null when there was no answer. */
export function statusOf(error: unknown): number | null {
  const { statusCode } = known(error);
  return typeof statusCode === 'number' ? statusCode : null;
}

/** @param signal of whoever asked: what it ended is no fault of the service */
export function reasonOf(error: unknown, signal?: AbortSignal): BlobReason {
  if (error instanceof SecretUnreadable) return 'secret-unreadable';
  if (signal?.aborted === true) return 'aborted';
  const { name } = known(error);
  if (name === 'AbortError' || name === 'TimeoutError') return 'unreachable';
  const byCode = reasons[codeOf(error) ?? ''] ?? reasons[String(name)];
  return byCode ?? byStatus[statusOf(error) ?? 0] ?? 'unexpected';
}
