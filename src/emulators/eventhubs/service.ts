// What all connections share, and what the emulator knows of each of them.
import type { Clock } from '../../clock.ts';
import type { AmqpConnection, AmqpError, AmqpLink } from './amqp.ts';
import type { Claims } from './claims.ts';
import type { FaultScript } from './faults.ts';
import { type Hub, sameName } from './hub.ts';
import type { Journal } from './journal.ts';
import type { Tokens } from './tokens.ts';

export interface Limits {
  readonly messageBytesMax: number;
  /** A connection without a link to an entity is closed after this; the service: 300,000. */
  readonly connectionIdleMs: number;
  /** A link that publishes nothing is detached after this; the service: 1,800,000. */
  readonly senderIdleMs: number;
}

/** What the emulator counts. */
export interface Counters {
  /** Open now. */
  publishers: number;
  /** Open now. */
  readers: number;
  connectionsAccepted: number;
  transfers: number;
  eventsStored: number;
  eventsDelivered: number;
  managementRequests: number;
}

export interface Service {
  readonly hubs: ReadonlyMap<string, Hub>;
  readonly journal: Journal;
  readonly tokens: Tokens;
  readonly faults: FaultScript;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly counters: Counters;
}

/** @param name in upper or lower case */
export const findHub = (service: Service, name: string): Hub | undefined => service.hubs.get(sameName(name));

/** One client's connection. */
export interface Peer {
  readonly service: Service;
  readonly amqp: AmqpConnection;
  readonly claims: Claims;
  /** Aborts when the connection is gone. */
  readonly gone: AbortSignal;
  /** Kills the socket. */
  drop(): void;
  /** Closes the connection by the rules. */
  close(error: AmqpError): void;
  /** Keeps the connection from being idle until the client has let go of the link; `onEnd` then runs once. */
  hold(link: AmqpLink, onEnd: () => void): void;
  /** Calls `listener` after every flow frame. @returns a function that stops the calls */
  onFlow(listener: () => void): () => void;
}
