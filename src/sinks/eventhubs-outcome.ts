// What an error of the Event Hubs SDK means for a delivery.
import { SecretUnreadable } from '../config/secret.ts';
import type { Outcome } from '../core/delivery.ts';
import { codesOf, networkReason } from './network-fault.ts';

// What Azure asks a throttled client to wait for ("please wait 10 seconds and try again").
const busyPauseMs = 10_000;

const notFound: Outcome = { status: 'unavailable', reason: 'not-found' };
const unauthorized: Outcome = { status: 'unavailable', reason: 'unauthorized' };
const rejected: Outcome = { status: 'rejected', reason: 'protocol' };
const noCredential: Outcome = { status: 'retryable', reason: 'credential-unavailable' };
const timeout: Outcome = { status: 'retryable', reason: 'timeout' };
const reset: Outcome = { status: 'retryable', reason: 'connection-reset' };
const throttled: Outcome = { status: 'retryable', reason: 'throttled' };

// Codes of @azure/core-amqp, names of @azure/identity and of rhea-promise.
const outcomes: Readonly<Record<string, Outcome>> = {
  MessageTooLargeError: { status: 'rejected', reason: 'too-large' },
  ArgumentError: rejected,
  ArgumentOutOfRangeError: rejected,
  UnauthorizedError: unauthorized,
  PublisherRevokedError: unauthorized,
  // `amqp:not-allowed`: a firewall of the namespace, or a hub that takes no events.
  InvalidOperationError: unauthorized,
  MessagingEntityNotFoundError: notFound,
  MessagingEntityDisabledError: notFound,
  ResourceDeletedError: notFound,
  // `amqp:not-found` without the usual sentence.
  ServiceCommunicationError: notFound,
  ServerBusyError: { ...throttled, retryAfterMs: busyPauseMs } as Outcome,
  SenderBusyError: throttled,
  InsufficientCreditError: throttled,
  TransferLimitExceededError: throttled,
  QuotaExceededError: { status: 'retryable', reason: 'quota-exceeded' },
  OperationTimeoutError: timeout,
  ServiceUnavailableError: timeout,
  AbortError: timeout,
  ConnectionForcedError: reset,
  DetachForcedError: reset,
  SendOperationFailedError: reset,
  CredentialUnavailableError: noCredential,
  AuthenticationError: noCredential,
  AuthenticationRequiredError: noCredential,
  ConnectionStringInvalid: { status: 'unavailable', reason: 'invalid-connection-string' },
};

/** The outcome of an attempt that threw; an error that nobody knows is worth another try. */
export function outcomeOfHubError(error: unknown): Outcome {
  if (error instanceof SecretUnreadable) return { status: 'unavailable', reason: 'secret-unreadable' };
  for (const code of codesOf(error)) {
    const known = outcomes[code];
    if (known !== undefined) return known;
    const reason = networkReason(code);
    if (reason !== null) return { status: 'retryable', reason };
  }
  return { status: 'retryable', reason: 'unexpected' };
}
