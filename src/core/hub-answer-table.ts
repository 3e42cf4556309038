// What the answers of Event Hubs mean for a delivery: the column beside those of HTTP receivers in `answer-table`.
import type { Meaning } from './answer-table.ts';
import type { DeliveryReason } from './delivery.ts';

/** Why the hub did not take a record, and what becomes of the attempt. */
export type HubAnswer = readonly [Meaning, DeliveryReason];

// By what errors call themselves: the AMQP conditions as @azure/core-amqp 4 names them, and rhea-promise 3.
// What has another name, such as a fault of the network or of TLS, means what it means for every receiver.
const answers: Readonly<Record<string, HubAnswer>> = {
  // The record is at fault, or the batch that it came in: that is sent record by record before this is believed.
  MessageTooLargeError: ['dead', 'too-large'],
  ArgumentError: ['dead', 'protocol'],
  ArgumentOutOfRangeError: ['dead', 'protocol'],
  // Who we are: a key or a role that was changed takes effect within minutes.
  UnauthorizedError: ['passing', 'unauthorized'],
  PublisherRevokedError: ['passing', 'unauthorized'],
  // `amqp:not-allowed`: a rule of the namespace's firewall, or a hub that takes no events.
  InvalidOperationError: ['passing', 'unauthorized'],
  // Where to.
  MessagingEntityNotFoundError: ['suspend', 'not-found'],
  ResourceDeletedError: ['suspend', 'not-found'],
  // `amqp:not-found` without the usual sentence.
  ServiceCommunicationError: ['suspend', 'not-found'],
  MessagingEntityDisabledError: ['suspend', 'hub-disabled'],
  ConnectionStringInvalid: ['suspend', 'invalid-connection-string'],
  // The hub is busy, or full.
  ServerBusyError: ['retry', 'throttled'],
  SenderBusyError: ['retry', 'throttled'],
  InsufficientCreditError: ['retry', 'throttled'],
  TransferLimitExceededError: ['retry', 'throttled'],
  QuotaExceededError: ['retry', 'quota-exceeded'],
  // Whether the hub took the record is not known: readers drop a repeat by its id.
  OperationTimeoutError: ['retry', 'timeout'],
  ServiceUnavailableError: ['retry', 'timeout'],
  AbortError: ['retry', 'timeout'],
  ConnectionForcedError: ['retry', 'connection-reset'],
  DetachForcedError: ['retry', 'connection-reset'],
  SendOperationFailedError: ['retry', 'connection-reset'],
  // Something between us and the hub answers with HTTP.
  WebSocketRefused: ['retry', 'protocol'],
};

/** What an error that calls itself so means; null for one that is not about the hub. */
export const meaningOfHubError = (code: string): HubAnswer | null => answers[code] ?? null;

/** What Azure asks a throttled client to wait for ("please wait 10 seconds and try again"). */
export const busyPauseMs = 10_000;
