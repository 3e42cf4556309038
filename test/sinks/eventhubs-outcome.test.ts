// What each error of the Event Hubs SDK and of its surroundings comes to.
import { MessagingError } from '@azure/event-hubs';
import { AuthenticationError, CredentialUnavailableError } from '@azure/identity';
import { describe, expect, it } from 'vitest';
import { outcomeOfHubError } from '../../src/sinks/eventhubs-outcome.ts';

/** An error as the SDK throws it. */
function messagingError(code?: string): MessagingError {
  const error = new MessagingError('a text that is not looked at: the messaging entity could not be found');
  if (code !== undefined) error.code = code;
  return error;
}

const table = [
  ['MessageTooLargeError', 'rejected', 'too-large'],
  ['ArgumentError', 'rejected', 'protocol'],
  ['ArgumentOutOfRangeError', 'rejected', 'protocol'],
  ['UnauthorizedError', 'unavailable', 'unauthorized'],
  ['PublisherRevokedError', 'unavailable', 'unauthorized'],
  ['InvalidOperationError', 'unavailable', 'unauthorized'],
  ['MessagingEntityNotFoundError', 'unavailable', 'not-found'],
  ['MessagingEntityDisabledError', 'unavailable', 'not-found'],
  ['ResourceDeletedError', 'unavailable', 'not-found'],
  ['ServiceCommunicationError', 'unavailable', 'not-found'],
  ['SenderBusyError', 'retryable', 'throttled'],
  ['InsufficientCreditError', 'retryable', 'throttled'],
  ['TransferLimitExceededError', 'retryable', 'throttled'],
  ['QuotaExceededError', 'retryable', 'quota-exceeded'],
  ['OperationTimeoutError', 'retryable', 'timeout'],
  ['ServiceUnavailableError', 'retryable', 'timeout'],
  ['ConnectionForcedError', 'retryable', 'connection-reset'],
  ['DetachForcedError', 'retryable', 'connection-reset'],
  ['SendOperationFailedError', 'retryable', 'connection-reset'],
  ['InternalServerError', 'retryable', 'unexpected'],
  ['ECONNREFUSED', 'retryable', 'connection-refused'],
  ['ECONNRESET', 'retryable', 'connection-reset'],
  ['ENOTFOUND', 'retryable', 'name-not-found'],
  ['EAI_AGAIN', 'retryable', 'name-not-found'],
  ['EHOSTUNREACH', 'retryable', 'host-unreachable'],
  ['ETIMEDOUT', 'retryable', 'timeout'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'retryable', 'tls-untrusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'retryable', 'tls-name-mismatch'],
  [undefined, 'retryable', 'unexpected'],
] as const;

describe('an error of the Event Hubs SDK', () => {
  it.each(table)('with the code %s is %s: %s', (code, status, reason) => {
    expect(outcomeOfHubError(messagingError(code))).toEqual({ status, reason });
  });

  it('that says the server is busy pauses the sink for ten seconds', () => {
    const outcome = { status: 'retryable', reason: 'throttled', retryAfterMs: 10_000 };
    expect(outcomeOfHubError(messagingError('ServerBusyError'))).toEqual(outcome);
  });

  it('that holds others means what they mean', () => {
    const inner = new AggregateError([messagingError(), messagingError('UnauthorizedError')]);
    expect(outcomeOfHubError(new AggregateError([inner]))).toMatchObject({ reason: 'unauthorized' });
  });

  it.each([new CredentialUnavailableError('x'), new AuthenticationError(400, 'x')])(
    'of the identity SDK is worth another try: %s',
    (error) => {
      expect(outcomeOfHubError(error)).toEqual({ status: 'retryable', reason: 'credential-unavailable' });
    },
  );

  it.each([null, undefined, 'text', 7, {}, { code: 7 }, new TypeError('x')])(
    'that nobody foresaw is worth another try: %s',
    (error) => {
      expect(outcomeOfHubError(error)).toEqual({ status: 'retryable', reason: 'unexpected' });
    },
  );

  it('may contain itself', () => {
    const error: { errors: unknown[] } = { errors: [] };
    error.errors.push(error, error);
    expect(outcomeOfHubError(error)).toEqual({ status: 'retryable', reason: 'unexpected' });
  });
});
