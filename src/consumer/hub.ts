// Speaks with one Event Hub through the SDK: describes it, and reads a partition from a given place.
import type {
  EventHubConsumerClient,
  EventPosition,
  ReceivedEventData,
  TokenCredential,
} from '@azure/event-hubs';
import type { HubEvent } from '../core/leaf.ts';
import { type HubSockets, openHubSockets } from '../sinks/eventhubs/sockets.ts';
import { bodyBytes } from './body-bytes.ts';
import type { ConsumerSettings } from './settings.ts';

/** What a hub says about itself. */
export interface HubDescription {
  readonly namespace: string;
  readonly name: string;
  /** Epoch ms; another value means another hub under the same name. */
  readonly createdAt: number;
  readonly partitions: readonly string[];
}

export interface ReadHandlers {
  /** Gets each batch in order, and is waited for; an empty one when nothing came for a while. */
  readonly take: (events: readonly HubEvent[]) => Promise<void>;
  /** Reading went wrong; the subscription is of no use from now on. */
  readonly fail: (error: unknown) => void;
}

/** One connection to the hub: made anew whenever there is doubt about it. */
export interface HubConnection extends AsyncDisposable {
  describe(): Promise<HubDescription>;
  /** The last sequence number that the partition holds; -1 when it holds nothing. */
  lastSequenceNumber(partition: string): Promise<number>;
  /** Starts reading behind `lastSequenceNumber`, or with the oldest event there is when it is -1. */
  read(partition: string, lastSequenceNumber: number, handlers: ReadHandlers): void;
}

export type ConnectHub = () => Promise<HubConnection>;

/** Each wait is short: a connection that dies in the middle of one is noticed when it ends. */
export const waitSeconds = 1;
export const batchLengthMax = 300;
/** Credit that each wait adds on top of what is used up, whether events came or not. */
export const prefetchCount = 300;

// Short enough that a peer that hangs is given up within seconds; the default is 60 s and 30 s between tries.
const retryOptions = { timeoutInMs: 8_000, maxRetries: 2, retryDelayInMs: 500, maxRetryDelayInMs: 2_000 };
const requestMsMax = 8_000;
// The SDK waits for a peer that hangs; whoever stops does not.
const closeMsMax = 2_000;

/** How to reach the hub of these settings; nothing is loaded or opened before the first call. */
export function hubConnector(settings: ConsumerSettings['hub']): ConnectHub {
  let credential: TokenCredential | undefined;
  return async () => {
    const { connectionString, fullyQualifiedNamespace, eventHubName, clientId, consumerGroup } = settings;
    const { EventHubConsumerClient } = await import('@azure/event-hubs');
    const sockets = settings.transport === 'amqp' ? null : await openHubSockets(settings.proxy, requestMsMax);
    // The SDK fills in what it is given, so each client gets a copy.
    const options = {
      retryOptions: { ...retryOptions },
      ...(sockets && { webSocketOptions: sockets.options }),
    };
    if (connectionString !== undefined) {
      const secret = connectionString.reveal();
      return connectionOver(
        readable(() =>
          eventHubName === undefined
            ? new EventHubConsumerClient(consumerGroup, secret, options)
            : new EventHubConsumerClient(consumerGroup, secret, eventHubName, options),
        ),
        sockets,
      );
    }
    // One credential for all connections: it keeps the token, and asks for the next one in time.
    credential ??= (await import('./hub-credential.ts')).openCredential(clientId);
    const place = [fullyQualifiedNamespace ?? '', eventHubName ?? ''] as const;
    return connectionOver(new EventHubConsumerClient(consumerGroup, ...place, credential, options), sockets);
  };
}

/** A connection string that the SDK cannot read; its own error would quote the string. */
export class InvalidConnectionString extends Error {
  override readonly name = 'InvalidConnectionString';
}

function readable<Client>(make: () => Client): Client {
  try {
    return make();
  } catch {
    throw new InvalidConnectionString();
  }
}

function connectionOver(client: EventHubConsumerClient, sockets: HubSockets | null): HubConnection {
  const limit = () => ({ abortSignal: AbortSignal.timeout(requestMsMax) });
  let closed = false;
  return {
    describe: async () => {
      const asked = client.getEventHubProperties(limit());
      // What the websocket failed with is nearer to the fault than what the SDK makes of it.
      const { name, createdOn, partitionIds } = await asked.catch((error: unknown) => {
        throw new AggregateError([sockets?.takeFault(), error]);
      });
      const [namespace, createdAt] = [client.fullyQualifiedNamespace, createdOn.getTime()];
      if (!Number.isFinite(createdAt)) throw new Error('the hub does not say when it was made');
      return { namespace, name, createdAt, partitions: partitionIds };
    },
    lastSequenceNumber: async (partition) => {
      const { isEmpty, lastEnqueuedSequenceNumber } = await client.getPartitionProperties(partition, limit());
      return isEmpty ? -1 : lastEnqueuedSequenceNumber;
    },
    read: (partition, last, { take, fail }) => {
      const handlers = {
        processEvents: async (events: ReceivedEventData[]) => {
          // A pump that outlives its connection calls without a pause, and nothing else ever runs: this ends it.
          if (closed) throw new Error('closed');
          await take(events.map(hubEventOf));
        },
        processError: async (error: unknown) => fail(error),
        processClose: async () => fail(new Error('closed')),
      };
      client.subscribe(partition, handlers, subscribeOptions(last));
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      const closing = client.close().catch(() => undefined);
      await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, closeMsMax).unref())]);
      sockets?.terminate();
    },
  };
}

// Without a start position the SDK begins at the end and leaves out all that was sent before.
const earliest: EventPosition = { offset: '-1' };

const subscribeOptions = (last: number) => ({
  startPosition: last < 0 ? earliest : { sequenceNumber: last, isInclusive: false },
  maxBatchSize: batchLengthMax,
  maxWaitTimeInSeconds: waitSeconds,
  prefetchCount,
  // Parsed and written anew, bytes would not be the bytes that were sent.
  skipParsingBodyAsJson: true,
});

function hubEventOf(event: ReceivedEventData): HubEvent {
  const enqueuedMs = event.enqueuedTimeUtc.getTime();
  return { sequenceNumber: event.sequenceNumber, enqueuedMs, body: bodyBytes(event.body) };
}
