// What each error of the Event Hubs SDK and of its surroundings comes to.
import { MessagingError } from '@azure/event-hubs';
import { describe, expect, it } from 'vitest';
import { outcomeOfHubError } from '../../../src/sinks/eventhubs/outcome.ts';

/** An error as the SDK throws it. */
function messagingError(code?: string): MessagingError {
  const error = new MessagingError('a text that is not looked at: the messaging entity could not be found');
  if (code !== undefined) error.code = code;
  return error;
}

// From the reference's table of answers: `passing` is probed often for 15 minutes, `suspend` every 15 minutes.
const table = `
  MessageTooLargeError           dead     too-large
  ArgumentError                  dead     protocol
  ArgumentOutOfRangeError        dead     protocol
  UnauthorizedError              passing  unauthorized
  PublisherRevokedError          passing  unauthorized
  InvalidOperationError          passing  unauthorized
  MessagingEntityNotFoundError   suspend  not-found
  ResourceDeletedError           suspend  not-found
  ServiceCommunicationError      suspend  not-found
  MessagingEntityDisabledError   suspend  hub-disabled
  ConnectionStringInvalid        suspend  invalid-connection-string
  ServerBusyError                pause    throttled
  SenderBusyError                retry    throttled
  InsufficientCreditError        retry    throttled
  TransferLimitExceededError     retry    throttled
  QuotaExceededError             retry    quota-exceeded
  OperationTimeoutError          retry    timeout
  ServiceUnavailableError        retry    timeout
  AbortError                     retry    timeout
  ConnectionForcedError          retry    connection-reset
  DetachForcedError              retry    connection-reset
  SendOperationFailedError       retry    connection-reset
  ERR_TOKEN_UNAVAILABLE          retry    credential-unavailable
  ECONNREFUSED                   retry    connection-refused
  ECONNRESET                     retry    connection-reset
  ENOTFOUND                      retry    name-not-found
  EAI_AGAIN                      retry    name-not-found
  EHOSTUNREACH                   retry    host-unreachable
  ETIMEDOUT                      retry    timeout
  SELF_SIGNED_CERT_IN_CHAIN      later    tls-untrusted
  ERR_TLS_CERT_ALTNAME_INVALID   later    tls-name-mismatch
  ERR_PROXY_AUTHENTICATION       retry    proxy-authentication
  ERR_PROXY_INVALID              suspend  proxy-invalid
  InternalServerError            retry    unexpected
`;

const meanings: Readonly<Record<string, object>> = {
  dead: { status: 'rejected' },
  passing: { status: 'unavailable', passing: true },
  suspend: { status: 'unavailable' },
  retry: { status: 'retryable' },
  later: { status: 'retryable', delayMsMin: 300_000 },
  pause: { status: 'retryable', retryAfterMs: 10_000 },
};

const rows = table
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

describe('an error of the Event Hubs SDK', () => {
  it.each(rows)('with the code %s: %s, %s', (code = '', meaning = '', reason) => {
    expect(outcomeOfHubError(messagingError(code))).toEqual({ ...meanings[meaning], reason });
  });

  it('that says how long the server is busy pauses the sink for so long', () => {
    const busy = Object.assign(messagingError('ServerBusyError'), {
      message: 'Please wait 25 seconds and …',
    });
    expect(outcomeOfHubError(busy)).toMatchObject({ reason: 'throttled', retryAfterMs: 25_000 });
  });

  it('that holds others means what they mean', () => {
    const inner = new AggregateError([messagingError(), messagingError('UnauthorizedError')]);
    expect(outcomeOfHubError(new AggregateError([inner]))).toMatchObject({ reason: 'unauthorized' });
  });

  it('that says nothing is worth another try', () => {
    expect(outcomeOfHubError(messagingError())).toEqual({ status: 'retryable', reason: 'unexpected' });
  });

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
