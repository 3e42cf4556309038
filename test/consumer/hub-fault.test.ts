// Names of faults: told by what an error calls itself, however deep it is wrapped, and never by its text.
import { expect, test } from 'vitest';
import { SecretUnreadable } from '../../src/config/secret.ts';
import { hubFaultOf, namesOf } from '../../src/consumer/hub-fault.ts';

const coded = (code: string) => Object.assign(new Error('SharedAccessKey=marker'), { code });
const named = (name: string) => Object.assign(new Error('SharedAccessKey=marker'), { name });

test.each([
  [coded('UnauthorizedError'), 'unauthorized'],
  [coded('MessagingEntityNotFoundError'), 'not-found'],
  [coded('ServerBusyError'), 'throttled'],
  [coded('QuotaExceededError'), 'quota-exceeded'],
  [coded('ReceiverDisconnectedError'), 'taken-over'],
  [coded('ArgumentOutOfRangeError'), 'position-refused'],
  [coded('ECONNREFUSED'), 'connection-refused'],
  [coded('ENOTFOUND'), 'name-not-found'],
  [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls-untrusted'],
  [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls'],
  [named('CredentialUnavailableError'), 'credential-unavailable'],
  [named('AggregateAuthenticationError'), 'credential-unavailable'],
  [named('AbortError'), 'timeout'],
  [new AggregateError([coded('ServiceUnavailableError'), coded('ECONNREFUSED')]), 'timeout'],
  [new Error('outer', { cause: coded('ECONNRESET') }), 'connection-reset'],
  [new SecretUnreadable('the secret at file:x cannot be read'), 'secret-unreadable'],
  [new Error('SharedAccessKey=marker'), 'unexpected'],
  ['a text', 'unexpected'],
  [undefined, 'unexpected'],
])('%# is told by its name', (error, fault) => {
  expect(hubFaultOf(error)).toBe(fault);
});

test('an error that nobody foresaw is named without its text', () => {
  expect(namesOf(new RangeError('SharedAccessKey=marker'))).toBe('RangeError');
  expect(namesOf(coded('Endpoint=sb://marker;SharedAccessKey=marker'))).toBe('');
});
