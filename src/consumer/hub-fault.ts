// Names what went wrong between this program and the hub, from what errors call themselves and never from their texts.
import { SecretUnreadable } from '../config/secret.ts';
import { codesOf, networkReason } from '../sinks/http/network-fault.ts';

/** A closed list: an SDK's own text may quote a connection string. */
export type HubFault =
  | 'unauthorized'
  | 'not-found'
  | 'throttled'
  | 'quota-exceeded'
  | 'taken-over'
  | 'credential-unavailable'
  | 'secret-unreadable'
  | 'connection-string-invalid'
  | 'position-refused'
  | 'history-changed'
  | 'connection-refused'
  | 'connection-reset'
  | 'host-unreachable'
  | 'name-not-found'
  | 'timeout'
  | 'tls'
  | 'tls-name-mismatch'
  | 'tls-expired'
  | 'tls-untrusted'
  | 'tls-client-certificate'
  | 'proxy-unreachable'
  | 'proxy-authentication'
  | 'proxy-refused'
  | 'proxy-invalid'
  | 'unexpected';

// What @azure/event-hubs 6, @azure/core-amqp 4 and @azure/identity 4 call their errors.
const faults: Readonly<Record<string, HubFault>> = {
  UnauthorizedError: 'unauthorized',
  MessagingEntityNotFoundError: 'not-found',
  MessagingEntityDisabledError: 'not-found',
  ServerBusyError: 'throttled',
  QuotaExceededError: 'quota-exceeded',
  ReceiverDisconnectedError: 'taken-over',
  CredentialUnavailableError: 'credential-unavailable',
  AuthenticationError: 'credential-unavailable',
  AuthenticationRequiredError: 'credential-unavailable',
  AggregateAuthenticationError: 'credential-unavailable',
  ArgumentError: 'position-refused',
  ArgumentOutOfRangeError: 'position-refused',
  OperationTimeoutError: 'timeout',
  ServiceUnavailableError: 'timeout',
  TimeoutError: 'timeout',
  AbortError: 'timeout',
  ConnectionLostError: 'connection-reset',
  ConnectionForcedError: 'connection-reset',
  DetachForcedError: 'connection-reset',
  InvalidConnectionString: 'connection-string-invalid',
  HistoryChanged: 'history-changed',
  HubRewound: 'position-refused',
};

/** The hub gives another event than the trail has under the same number. */
export class HistoryChanged extends Error {
  override readonly name = 'HistoryChanged';
}

/** The hub holds less of a partition than it once gave. */
export class HubRewound extends Error {
  override readonly name = 'HubRewound';
}

/** Whether a partition waits for a person, while the others are read. */
export const isRefusal = (fault: HubFault | null): boolean =>
  fault === 'position-refused' || fault === 'history-changed';

/** What an error that nobody foresaw calls itself, for whoever looks into it. */
export const namesOf = (error: unknown): string =>
  codesOf(error)
    .filter((code) => /^[\w.-]{1,64}$/.test(code))
    .join(' ');

/** The first fault that an error, its parts or its cause can be told by. */
export function hubFaultOf(error: unknown): HubFault {
  if (error instanceof SecretUnreadable) return 'secret-unreadable';
  for (const code of codesOf(error)) {
    const known = faults[code] ?? (networkReason(code) as HubFault | null);
    if (known !== null && known !== undefined) return known;
  }
  return 'unexpected';
}
