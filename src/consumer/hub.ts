// Speaks with one Event Hub through the SDK: describes it, and reads a partition from a given place.
import type {
  CheckpointStore,
  EventHubConsumerClient,
  EventHubConsumerClientOptions,
  EventPosition,
  ReceivedEventData,
  SubscriptionEventHandlers,
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
  /** Reading went wrong. */
  readonly fail: (error: unknown) => void;
  /** Nothing comes any more, unless the SDK begins again by itself. */
  readonly closed: () => void;
}

/** An event and the place that the hub keeps it at; other programs read lag from it. */
export interface ReceivedEvent extends HubEvent {
  readonly offset: string;
}

/** How this consumer takes part in sharing out the partitions, by the SDK's own load balancing. */
export interface Sharing {
  /** What the others know this consumer by. */
  readonly ownerId: string;
  /** Who owns what; it names no position. */
  readonly checkpointStore: CheckpointStore;
  /** By partition: set before the store grants the partition, and read by the SDK right after. */
  readonly startPositions: Readonly<Record<string, EventPosition>>;
  /** How often ownership is renewed and looked at. */
  readonly intervalMs: number;
  /** An owner that was silent for so long has lost what it owned. */
  readonly expiryMs: number;
}

/** What happens to the partitions that this consumer owns. */
export interface ShareHandlers {
  readonly opened: (partition: string) => void;
  /** Gets each batch in order, and is waited for; a throw gives the partition up. */
  readonly take: (partition: string, events: readonly ReceivedEvent[]) => Promise<void>;
  /** A partition that is given up, or taken away; nothing of it comes any more. */
  readonly closed: (partition: string) => Promise<void>;
  /** @param partition null when it is about sharing itself */
  readonly failed: (partition: string | null, error: unknown) => void;
}

/** One connection to the hub: made anew whenever there is doubt about it. */
export interface HubConnection extends AsyncDisposable {
  describe(): Promise<HubDescription>;
  /** The last sequence number that the partition holds; -1 when it holds nothing. */
  lastSequenceNumber(partition: string): Promise<number>;
  /** Starts reading with `lastSequenceNumber` itself, or with the oldest event there is when it is -1. */
  read(partition: string, lastSequenceNumber: number, handlers: ReadHandlers): void;
  /** Starts to take part in reading; only for a connection that was made with `Sharing`. */
  share(handlers: ShareHandlers): void;
}

/** @param sharing null for the only reader of all partitions */
export type ConnectHub = (sharing?: Sharing | null) => Promise<HubConnection>;

/** Each wait is short: a connection that dies in the middle of one is noticed when it ends. */
const waitSeconds = 1;
export const batchLengthMax = 300;
/** Credit that each wait adds on top of what is used up, whether events came or not. */
export const prefetchCount = 300;

// Short enough that a peer that hangs is given up within seconds; the default is 60 s and 30 s between tries.
const retryOptions = { timeoutInMs: 8_000, maxRetries: 2, retryDelayInMs: 500, maxRetryDelayInMs: 2_000 };
const requestMsMax = 8_000;
// The SDK waits for a peer that hangs; whoever stops does not.
const closeMsMax = 2_000;
// Whoever shares also releases what it owns, one request for each partition.
const releaseMsMax = 5_000;

/** How to reach the hub of these settings; nothing is loaded or opened before the first call. */
export function hubConnector(settings: ConsumerSettings['hub']): ConnectHub {
  let credential: TokenCredential | undefined;
  return async (sharing = null) => {
    const { connectionString, fullyQualifiedNamespace, eventHubName, clientId, consumerGroup } = settings;
    const { EventHubConsumerClient } = await import('@azure/event-hubs');
    const sockets = settings.transport === 'amqp' ? null : await openHubSockets(settings.proxy, requestMsMax);
    // The SDK tells a store from options by what they can do: null-ish leaves it out.
    const shared: [CheckpointStore] | [] = sharing === null ? [] : [sharing.checkpointStore];
    const rest = [...shared, clientOptions(sockets, sharing)] as [CheckpointStore];
    if (connectionString !== undefined) {
      const secret = connectionString.reveal();
      const client = readable(() =>
        eventHubName === undefined
          ? new EventHubConsumerClient(consumerGroup, secret, ...rest)
          : new EventHubConsumerClient(consumerGroup, secret, eventHubName, ...rest),
      );
      return connectionOver(client, sockets, sharing);
    }
    // One credential for all connections: it keeps the token, and asks for the next one in time.
    credential ??= (await import('./hub-credential.ts')).openCredential(clientId);
    const place = [fullyQualifiedNamespace ?? '', eventHubName ?? ''] as const;
    return connectionOver(
      new EventHubConsumerClient(consumerGroup, ...place, credential, ...rest),
      sockets,
      sharing,
    );
  };
}

/** The SDK fills in what it is given, so each client gets a copy. */
const clientOptions = (
  sockets: HubSockets | null,
  sharing: Sharing | null,
): EventHubConsumerClientOptions => ({
  retryOptions: { ...retryOptions },
  ...(sockets && { webSocketOptions: sockets.options }),
  ...(sharing && {
    identifier: sharing.ownerId,
    loadBalancingOptions: {
      // All that is due at once: the other strategy takes one partition in each round.
      strategy: 'greedy',
      updateIntervalInMs: sharing.intervalMs,
      partitionOwnershipExpirationIntervalInMs: sharing.expiryMs,
    },
  }),
});

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

function connectionOver(
  client: EventHubConsumerClient,
  sockets: HubSockets | null,
  sharing: Sharing | null,
): HubConnection {
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
    read: (partition, last, { take, fail, closed: ended }) => {
      const handlers = {
        processEvents: async (events: ReceivedEventData[]) => {
          // A pump that outlives its connection calls without a pause, and nothing else ever runs: this ends it.
          if (closed) throw new Error('closed');
          await take(events.map(receivedEventOf));
        },
        processError: async (error: unknown) => fail(error),
        processClose: async () => ended(),
      };
      client.subscribe(partition, handlers, { ...readOptions, startPosition: positionAt(last) });
    },
    share: (handlers) => {
      const options = { ...readOptions, startPosition: sharing?.startPositions ?? {} };
      client.subscribe(
        subscriptionOf(handlers, () => closed),
        options,
      );
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      const closing = client.close().catch(() => undefined);
      const limitMs = sharing === null ? closeMsMax : releaseMsMax;
      await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, limitMs).unref())]);
      sockets?.terminate();
    },
  };
}

const subscriptionOf = (
  { opened, take, closed, failed }: ShareHandlers,
  isClosed: () => boolean,
): SubscriptionEventHandlers => ({
  processInitialize: async ({ partitionId }) => opened(partitionId),
  processEvents: async (events, { partitionId }) => {
    if (isClosed()) throw new Error('closed');
    await take(partitionId, events.map(receivedEventOf));
  },
  processError: async (error, { partitionId }) => failed(partitionId === '' ? null : partitionId, error),
  processClose: async (_reason, { partitionId }) => closed(partitionId),
});

// Without a start position the SDK begins at the end and leaves out all that was sent before.
const earliest: EventPosition = { offset: '-1' };

/**
 * Where reading begins: with the last event that the trail has, so that it can be compared with what the hub gives.
 * @param last its sequence number; -1 to begin with the oldest
 */
export const positionAt = (last: number): EventPosition =>
  last < 0 ? earliest : { sequenceNumber: last, isInclusive: true };

const readOptions = {
  maxBatchSize: batchLengthMax,
  maxWaitTimeInSeconds: waitSeconds,
  prefetchCount,
  // Parsed and written anew, bytes would not be the bytes that were sent.
  skipParsingBodyAsJson: true,
};

function receivedEventOf(event: ReceivedEventData): ReceivedEvent {
  const { sequenceNumber, offset } = event;
  return { sequenceNumber, offset, enqueuedMs: event.enqueuedTimeUtc.getTime(), body: bodyBytes(event.body) };
}
