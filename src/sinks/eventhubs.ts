// Sends records to an Azure event hub, in order, one at a time.
import * as z from 'zod';
import { duration } from '../config/duration.ts';
import { secret } from '../config/secret.ts';
import { dataPolicy, type Outcome } from '../core/delivery.ts';
import { aborted, openDeadline } from './deadline.ts';
import type { HubProducer } from './eventhubs-client.ts';
import { openHubConnection } from './eventhubs-connection.ts';
import { outcomeOfHubError } from './eventhubs-outcome.ts';
import { openLane } from './lane.ts';
import { defineSink, type Sink, type SinkContext, streamFilter } from './sink.ts';

const settings = z
  .strictObject({
    fullyQualifiedNamespace: z
      .string()
      .regex(/^[A-Za-z0-9.-]+(:\d+)?$/, 'Expected a host such as ns.servicebus.windows.net')
      .exactOptional()
      .describe('Host of the namespace; the VM’s managed identity signs in.'),
    connectionString: secret()
      .exactOptional()
      .describe('Connection string, in place of `fullyQualifiedNamespace` and managed identity.'),
    eventHubName: z.string().min(1).describe('Name of the hub.'),
    clientId: z
      .string()
      .min(1)
      .exactOptional()
      .describe('Client id of a user-assigned managed identity; the VM’s own identity when not given.'),
    idleTimeout: duration({ default: '30s', min: '1s', max: '4m' }).describe(
      'How long the connection stays open after a delivery.',
    ),
    timeout: duration({ default: '20s', min: '1s', max: '2m' }).describe(
      'Time allowed for one attempt as a whole, connecting and signing in included.',
    ),
  })
  .refine(
    (given) => (given.fullyQualifiedNamespace === undefined) !== (given.connectionString === undefined),
    'Give either fullyQualifiedNamespace or connectionString',
  );

export const eventhubs = defineSink({
  type: 'eventhubs',
  summary: 'Sends each record to an Azure event hub.',
  settings,
  filter: streamFilter,
  policy: dataPolicy,
  open: openEventHubs,
});

// Long enough for a slow link, short enough that several steps fit into an attempt.
const stepTimeoutMsMax = 8_000;
// Once the program wants to end, an attempt that has just begun may still come to its own end; one that has had
// its time is cut off soon.
const attemptMsMin = 3_000;
const graceMs = 500;

type Work = (producer: HubProducer, stop: AbortSignal) => Promise<unknown>;

function openEventHubs(given: z.output<typeof settings>, { imdsEndpoint }: SinkContext): Sink {
  const { timeout: timeoutMs, idleTimeout: idleMs, eventHubName } = given;
  // An attempt ends itself in time; the lane only has to outlast it.
  const lane = openLane(timeoutMs + 1_000);
  const end = new AbortController();
  let begunAt = 0;
  const connection = openHubConnection(async () => {
    const { openProducer } = await import('./eventhubs-client.ts');
    return await openProducer({
      ...given,
      imdsEndpoint,
      stepTimeoutMs: Math.min(stepTimeoutMsMax, timeoutMs),
    });
  }, idleMs);

  const attempt = async (work: Work): Promise<Outcome> => {
    using deadline = openDeadline(timeoutMs, end.signal);
    begunAt = performance.now();
    const outcome = await connection
      .use((producer) => outcomeOf(work(producer, deadline.signal)))
      .catch((error: unknown) => outcomeOfHubError(error));
    return end.signal.aborted && outcome.status === 'retryable' ? aborted : outcome;
  };

  return {
    send: (outgoing, signal) => {
      const work: Work = (producer, stop) => producer.send(outgoing, stop);
      return lane.run(outgoing.record.id, () => attempt(work), signal);
    },
    check: async (signal) => {
      let partitions = 0;
      const work: Work = async (producer, stop) => {
        partitions = await producer.countPartitions(stop);
      };
      const outcome = await lane.run('', () => attempt(work), signal);
      if (outcome.status === 'delivered')
        return { ok: true, detail: `${eventHubName} has ${partitions} partitions` };
      return { ok: false, detail: `${eventHubName} cannot be reached: ${outcome.reason}` };
    },
    [Symbol.asyncDispose]: async () => {
      // The SDK does not wait for a send when it closes, and one that is cut off may be stored all the same.
      const leftMs = begunAt + attemptMsMin - performance.now();
      const timer = setTimeout(() => end.abort(), Math.max(leftMs, graceMs));
      await lane[Symbol.asyncDispose]();
      clearTimeout(timer);
      await connection[Symbol.asyncDispose]();
    },
  };
}

async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    await work;
    return { status: 'delivered' };
  } catch (error) {
    return outcomeOfHubError(error);
  }
}
