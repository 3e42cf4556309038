// The unmodified Event Hubs SDK, set up so that a test need not wait for minutes.
import {
  EventHubBufferedProducerClient,
  EventHubConsumerClient,
  type EventHubConsumerClientOptions,
  EventHubProducerClient,
  type EventPosition,
  earliestEventPosition,
  type ReceivedEventData,
  type RetryOptions,
  type SubscribeOptions,
} from '@azure/event-hubs';
import type { EventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { until } from './until.ts';

/** Where a hub is. */
export type HubAddress = Pick<EventHubsEmulator, 'connectionString' | 'eventHubName'>;

/** A client that closes when it goes out of scope. */
export interface Closing<Client> extends AsyncDisposable {
  readonly client: Client;
}

const closing = <Client extends { close(): Promise<void> }>(client: Client): Closing<Client> => ({
  client,
  [Symbol.asyncDispose]: () => client.close(),
});

/** The SDK writes into the options it is given, so every client gets its own. */
const patience = (retryOptions: RetryOptions = {}): RetryOptions => ({
  timeoutInMs: 15_000,
  retryDelayInMs: 100,
  maxRetries: 2,
  ...retryOptions,
});

/** @param retryOptions what differs from 15 s per attempt and two more attempts after 100 ms each */
export const producerFor = (
  { connectionString, eventHubName }: HubAddress,
  retryOptions?: RetryOptions,
): Closing<EventHubProducerClient> =>
  closing(
    new EventHubProducerClient(connectionString, eventHubName, { retryOptions: patience(retryOptions) }),
  );

/** @param onFailure gets the errors of events that could not be sent */
export const bufferedProducerFor = (
  { connectionString, eventHubName }: HubAddress,
  onFailure: (error: Error) => void,
): Closing<EventHubBufferedProducerClient> =>
  closing(
    new EventHubBufferedProducerClient(connectionString, eventHubName, {
      maxWaitTimeInMs: 100,
      retryOptions: patience(),
      onSendEventsErrorHandler: async ({ error }) => onFailure(error),
    }),
  );

export const consumerFor = (
  { connectionString, eventHubName }: HubAddress,
  group = '$Default',
  options: EventHubConsumerClientOptions = {},
): Closing<EventHubConsumerClient> =>
  closing(
    new EventHubConsumerClient(group, connectionString, eventHubName, {
      retryOptions: patience(),
      ...options,
    }),
  );

export interface Reception extends AsyncDisposable {
  readonly events: readonly ReceivedEventData[];
  readonly errors: readonly Error[];
}

/** @param partition all of them when left out */
export type ReceptionOptions = SubscribeOptions & { readonly partition?: string; readonly group?: string };

/** Receives until disposed, from the earliest event on unless told otherwise. */
export function startReception(address: HubAddress, options: ReceptionOptions = {}): Reception {
  const { partition, group, ...subscribeOptions } = options;
  const { client } = consumerFor(address, group);
  const events: ReceivedEventData[] = [];
  const errors: Error[] = [];
  const handlers = {
    processEvents: async (received: ReceivedEventData[]) => void events.push(...received),
    processError: async (error: Error) => void errors.push(error),
  };
  const settings = {
    startPosition: earliestEventPosition,
    maxBatchSize: 500,
    maxWaitTimeInSeconds: 1,
    ...subscribeOptions,
  };
  const subscription =
    partition === undefined
      ? client.subscribe(handlers, settings)
      : client.subscribe(partition, handlers, settings);
  return {
    events,
    errors,
    async [Symbol.asyncDispose]() {
      await subscription.close();
      await client.close();
    },
  };
}

/** The bodies that a reader of one partition gets first from a position on. */
export async function bodiesFrom(
  address: HubAddress,
  partition: string,
  startPosition: EventPosition,
  count: number,
): Promise<readonly unknown[]> {
  await using reception = startReception(address, { partition, startPosition });
  await until(`${count} events from ${JSON.stringify(startPosition)}`, () => {
    const [error] = reception.errors;
    if (error !== undefined) throw error;
    return reception.events.length >= count;
  });
  return reception.events.map(({ body }) => body as unknown);
}

/** Sends one batch of numbers, from 0 on. */
export async function sendNumbers(address: HubAddress, count: number): Promise<void> {
  await using producer = producerFor(address);
  const batch = await producer.client.createBatch();
  for (let body = 0; body < count; body++) batch.tryAdd({ body });
  await producer.client.sendBatch(batch);
}
