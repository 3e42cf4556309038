// Speaks to a hub through the Azure SDK. Only ever imported when a delivery needs it: the SDK costs memory.
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { EventHubProducerClient } from '@azure/event-hubs';
import type { Secret } from '../config/secret.ts';
import { messageOf } from './eventhubs-message.ts';
import type { OutgoingRecord } from './sink.ts';

/** How to reach a hub: by connection string, or by name and the VM's managed identity. */
export interface HubAddress {
  readonly eventHubName: string;
  readonly connectionString?: Secret;
  readonly fullyQualifiedNamespace?: string;
  readonly clientId?: string;
  readonly imdsEndpoint: string;
  /** How long each step may take: asking for a token, connecting, signing in, sending. */
  readonly stepTimeoutMs: number;
}

/** A client that connects with its first call. */
export interface HubProducer {
  /** @throws what the SDK throws. A send that `signal` cut off may be stored all the same. */
  send(outgoing: OutgoingRecord, signal: AbortSignal): Promise<void>;
  /** @throws what the SDK throws */
  countPartitions(signal: AbortSignal): Promise<number>;
  /** Says goodbye where somebody listens, and ends the connection in any case; never rejects. */
  close(): Promise<void>;
}

/** Its text says nothing: the SDK's own error quotes the connection string with its key. */
export class ConnectionStringInvalid extends Error {
  override readonly name = 'ConnectionStringInvalid';
}

/**
 * Opens a producer.
 * @throws ConnectionStringInvalid, SecretUnreadable
 */
export async function openProducer(address: HubAddress): Promise<HubProducer> {
  const client = await openClient(address);
  return {
    send: async (outgoing, abortSignal) => {
      const { partitionkey: partitionKey } = outgoing.record;
      await client.sendBatch([messageOf(outgoing)], { partitionKey, abortSignal });
    },
    countPartitions: async (abortSignal) => (await client.getPartitionIds({ abortSignal })).length,
    close: async () => await close(client),
  };
}

// The outbox tries again, so the SDK must not: with its defaults a dropped connection costs 90 seconds. The SDK
// writes into the options it is given, so each client gets its own.
const optionsOf = (timeoutInMs: number) => ({
  retryOptions: { timeoutInMs, retryDelayInMs: 1_000, maxRetries: 0 },
});

async function openClient(address: HubAddress): Promise<EventHubProducerClient> {
  const { connectionString, fullyQualifiedNamespace = '', eventHubName, stepTimeoutMs } = address;
  const options = optionsOf(stepTimeoutMs);
  if (connectionString !== undefined) {
    return fromConnectionString(connectionString.reveal(), eventHubName, options);
  }
  const { openManagedIdentity } = await import('./eventhubs-credential.ts');
  const credential = openManagedIdentity(address, stepTimeoutMs);
  return new EventHubProducerClient(fullyQualifiedNamespace, eventHubName, credential, options);
}

function fromConnectionString(text: string, eventHubName: string, options: ReturnType<typeof optionsOf>) {
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
