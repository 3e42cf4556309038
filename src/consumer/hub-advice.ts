// Explains to a person why the consumer does not get at its hub, and what to do about it.
import { adviceOf } from '../core/advice.ts';
import type { DeliveryReason } from '../core/delivery.ts';
import type { HubFault } from './hub-fault.ts';

/** What reading a hub needs other words for than sending to it, and what only a reader meets. */
const ofReader: Readonly<Partial<Record<HubFault, string>>> = {
  unauthorized:
    'the hub does not accept who we are; check the key, or give the identity the role "Azure Event Hubs Data Receiver" on the hub or its namespace; a new role takes some minutes',
  'not-found':
    'the namespace has no hub of that name, or the hub no such consumer group; check `hub.eventHubName` and `hub.consumerGroup`',
  'credential-unavailable':
    'no token could be had; check that this machine has an identity, and `hub.clientId` when it has several',
  'taken-over':
    'another reader with a higher owner level reads this partition; give each consumer a consumer group of its own',
  'connection-string-invalid': 'the connection string cannot be read; copy it anew from the portal',
  'position-refused':
    'the hub holds less than it once gave: it was put back or failed over; what it holds now is not read, as its numbers stand in the trail already: read it out by hand, then make the hub anew or give the consumer another one',
  'history-changed':
    'the hub gives another event than the trail has under the same number: it was put back or failed over, and has gone on since; nothing of it is stored: read it out by hand, then make the hub anew or give the consumer another one',
  unexpected: 'nobody foresaw this; the log of the consumer names the error',
};

/** One sentence without its full stop: what happened, and what to do. */
export const hubAdviceOf = (fault: HubFault): string =>
  ofReader[fault] ?? adviceOf(fault as DeliveryReason, 'eventhubs');
