// Speaks to a hub through the Azure SDK. Only ever imported when a delivery needs it: the SDK costs memory.
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type EventHubClientOptions, EventHubProducerClient } from '@azure/event-hubs';
import type { Secret } from '../../config/secret.ts';
import type { Outcome } from '../../core/delivery.ts';
import type { ManagedIdentity } from '../http/managed-identity.ts';
import type { OutgoingRecord } from '../sink.ts';
import type { Outcomes } from '../turns.ts';
import { sendInBatches } from './batches.ts';
import { hubCredential } from './credential.ts';
import { watchLoss } from './loss.ts';
import { outcomeOfHubError } from './outcome.ts';
import { type HubSockets, openHubSockets } from './sockets.ts';

/** How to reach a hub: by connection string, or by name and the VM's managed identity. */
export interface HubAddress {
  readonly eventHubName: string;
  readonly connectionString?: Secret;
  readonly fullyQualifiedNamespace?: string;
  readonly identity: ManagedIdentity;
  readonly transport: 'amqp' | 'websockets';
  /** For websockets. */
  readonly proxy?: Secret;
  /** How long each step may take: asking for a token, connecting, signing in, sending. */
  readonly stepTimeoutMs: number;
}

/** A client that connects with its first call. A send that `signal` cut off may be stored all the same. */
export interface HubProducer {
  /** Its connection is gone: it is not to be used any more. */
  readonly lost: boolean;
  /** Sends records in order. @returns the outcomes of those that were tried: at least of the first */
  send(records: readonly OutgoingRecord[], signal: AbortSignal): Promise<Outcomes>;
  /** Signs in as for a send, and sends nothing. @param learn is told how many partitions the hub has */
  check(learn: (partitions: number) => void, signal: AbortSignal): Promise<Outcome>;
  /** Says goodbye where somebody listens, and ends the connection in any case; never rejects. */
  close(): Promise<void>;
}

/** Its text says nothing: the SDK's own error quotes the connection string with its key. */
export class ConnectionStringInvalid extends Error {
  override readonly name = 'ConnectionStringInvalid';
}

/**
 * Opens a producer.
 * @throws ConnectionStringInvalid, SecretUnreadable, and what `openHubSockets` throws
 */
export async function openProducer(address: HubAddress): Promise<HubProducer> {
  const { transport, proxy, stepTimeoutMs } = address;
  const sockets = transport === 'amqp' ? null : await openHubSockets(proxy, stepTimeoutMs);
  const client = openClient(address, optionsOf(stepTimeoutMs, sockets));
  const loss = watchLoss(client);
  const outcomeOf = (error: unknown) => loss.outcomeOf(error) ?? outcomeOfHubError(withFault(error, sockets));
  return {
    get lost() {
      return loss.lost;
    },
    send: async (records, signal) => {
      sockets?.takeFault();
      return await loss.guard((stop) => sendInBatches(client, records, outcomeOf, stop), signal);
    },
    check: async (learn, signal) => {
      sockets?.takeFault();
      try {
        learn(await loss.guard((stop) => tryHub(client, stop), signal));
        return { status: 'delivered' };
      } catch (error) {
        return outcomeOf(error);
      }
    },
    close: async () => {
      await close(client);
      sockets?.terminate();
    },
  };
}

/** Signs in as for a send. @returns how many partitions the hub has */
async function tryHub(client: EventHubProducerClient, abortSignal: AbortSignal): Promise<number> {
  const partitions = await client.getPartitionIds({ abortSignal });
  // Whoever may look at a hub may not always send to it: a batch opens the link that a send would use.
  await client.createBatch({ abortSignal });
  return partitions.length;
}

/** The SDK's error, behind what the websocket failed with: that is nearer to the fault. */
function withFault(error: unknown, sockets: HubSockets | null): unknown {
  const fault = sockets?.takeFault() ?? null;
  return fault === null ? error : new AggregateError([fault, error]);
}

// The outbox tries again, so the SDK must not: with its defaults a dropped connection costs 90 seconds. The SDK
// writes into the options it is given, so each client gets its own.
const optionsOf = (timeoutInMs: number, sockets: HubSockets | null): EventHubClientOptions => ({
  retryOptions: { timeoutInMs, retryDelayInMs: 1_000, maxRetries: 0 },
  ...(sockets === null ? {} : { webSocketOptions: sockets.options }),
});

function openClient(address: HubAddress, options: EventHubClientOptions): EventHubProducerClient {
  const { connectionString, fullyQualifiedNamespace = '', eventHubName, identity } = address;
  if (connectionString === undefined) {
    return new EventHubProducerClient(
      fullyQualifiedNamespace,
      eventHubName,
      hubCredential(identity),
      options,
    );
  }
  const text = connectionString.reveal();
  try {
    return new EventHubProducerClient(text, eventHubName, options);
  } catch {
    throw new ConnectionStringInvalid();
  }
}

// The goodbye goes to a hub that may not be there any more.
const closeTimeoutMs = 1_000;

async function close(client: EventHubProducerClient): Promise<void> {
  const socket = socketOf(client);
  const closed = new AbortController();
  await Promise.race([
    client.close().catch(() => undefined),
    delay(closeTimeoutMs, undefined, { signal: closed.signal }).catch(() => undefined),
  ]);
  closed.abort();
  // Only an error makes the SDK drop the timers of the connection too.
  if (socket?.destroyed === false) socket.on('error', () => undefined).destroy(new Error('closed'));
}

/** The parts of the SDK that lead to its socket; none of them public. */
interface Inside {
  readonly _context?: { readonly connection?: { readonly _connection?: { readonly socket?: Socket } } };
}

/**
 * The SDK's `close` forgets a connection that never came to be open, with its socket (measured: one more for each
 * attempt on a server that accepts and says nothing, and a process that does not end).
 */
const socketOf = (client: EventHubProducerClient): Socket | undefined =>
  (client as unknown as Inside)._context?.connection?._connection?.socket;
