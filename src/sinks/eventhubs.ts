// Sends records to an Azure event hub, in order, as many at once as are due for one partition.
import * as z from 'zod';
import { duration } from '../config/duration.ts';
import { secret } from '../config/secret.ts';
import { dataPolicy, type Outcome } from '../core/delivery.ts';
import { aborted, openDeadline } from './deadline.ts';
import type { HubProducer } from './eventhubs/client.ts';
import { openHubConnection } from './eventhubs/connection.ts';
import { hubAudience } from './eventhubs/credential.ts';
import { outcomeOfHubError } from './eventhubs/outcome.ts';
import { clientIdSetting } from './http/bearer.ts';
import { openManagedIdentity } from './http/managed-identity.ts';
import { defineSink, type OutgoingRecord, type Sink, type SinkContext, streamFilter } from './sink.ts';
import { type Outcomes, openBatchTurns } from './turns.ts';

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
    clientId: clientIdSetting,
    transport: z
      .enum(['amqp', 'websockets'])
      .default('amqp')
      .describe('`amqp`: port 5671. `websockets`: port 443, for networks that let nothing but HTTPS out.'),
    proxy: secret()
      .exactOptional()
      .describe(
        'Proxy for websockets, such as `http://USER:PASSWORD@HOST:PORT`; AMQP itself goes through none.',
      ),
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
  )
  .refine(
    ({ connectionString, clientId }) => connectionString === undefined || clientId === undefined,
    'clientId goes with fullyQualifiedNamespace: a connectionString signs in by itself',
  )
  .refine(
    ({ transport, proxy }) => transport === 'websockets' || proxy === undefined,
    'AMQP goes through no proxy: give transport: websockets as well, or leave proxy out',
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
// Few enough for one attempt even where each goes to a partition of its own; the hub takes 1 MiB in one message.
const batchMax = { records: 200, bytes: 900 * 1024 } as const;

type Settings = z.output<typeof settings>;
type Work = (producer: HubProducer, stop: AbortSignal) => Promise<Outcomes>;

function openEventHubs(given: Settings, context: SinkContext): Sink {
  const { timeout: timeoutMs, eventHubName } = given;
  // An attempt ends itself in time; the turn only has to outlast it.
  const turns = openBatchTurns(timeoutMs + 1_000);
  const end = new AbortController();
  const { attempt, ...hub } = openAttempts(given, context, end.signal);

  const send = (batch: readonly OutgoingRecord[], signal: AbortSignal) => {
    const work: Work = (producer, stop) => producer.send(batch, stop);
    return turns.run(batch.map(({ record }) => record.id).join(), () => attempt(work), signal);
  };

  return {
    send: async (outgoing, signal) => (await send([outgoing], signal))[0] ?? aborted,
    sendMany: send,
    batchMax,
    check: async (signal) => {
      let partitions = 0;
      const learn = (count: number) => {
        partitions = count;
      };
      const work: Work = async (producer, stop) => [await producer.check(learn, stop)];
      const [outcome = aborted] = await turns.run('', () => attempt(work), signal);
      if (outcome.status === 'delivered')
        return { ok: true, detail: `${eventHubName} has ${partitions} partitions` };
      const { reason } = outcome;
      return { ok: false, detail: `${eventHubName} cannot be sent to: ${reason}`, reason };
    },
    [Symbol.asyncDispose]: async () => {
      // The SDK does not wait for a send when it closes, and one that is cut off may be stored all the same.
      const leftMs = hub.begunAt() + attemptMsMin - performance.now();
      const timer = setTimeout(() => end.abort(), Math.max(leftMs, graceMs));
      await turns[Symbol.asyncDispose]();
      clearTimeout(timer);
      await hub.close();
    },
  };
}

/** Makes the attempts, one at a time, over one connection. @param end cuts off the one under way */
function openAttempts(given: Settings, { imdsEndpoint }: SinkContext, end: AbortSignal) {
  const { timeout: timeoutMs, clientId, idleTimeout: idleMs } = given;
  const stepTimeoutMs = Math.min(stepTimeoutMsMax, timeoutMs);
  const place = { imdsEndpoint, clientId, audience: hubAudience, timeoutMs: stepTimeoutMs };
  const identity = openManagedIdentity(place);
  let begunAt = 0;
  const connection = openHubConnection(async () => {
    const { openProducer } = await import('./eventhubs/client.ts');
    return await openProducer({ ...given, identity, stepTimeoutMs });
  }, idleMs);

  return {
    begunAt: () => begunAt,
    attempt: async (work: Work): Promise<Outcomes> => {
      using deadline = openDeadline(timeoutMs, end);
      begunAt = performance.now();
      const outcomes = await connection
        .use((producer) => work(producer, deadline.signal))
        .catch((error: unknown) => [outcomeOfHubError(error)]);
      // A token that was refused may be older than the role that it needs.
      if (outcomes.some(isUnauthorized)) identity.forget();
      return end.aborted ? outcomes.map(asEnded) : outcomes;
    },
    close: async () => await connection[Symbol.asyncDispose](),
  };
}

const isUnauthorized = (outcome: Outcome): boolean =>
  outcome.status === 'unavailable' && outcome.reason === 'unauthorized';

/** What we cut off ourselves says nothing about the hub. */
const asEnded = (outcome: Outcome): Outcome => (outcome.status === 'retryable' ? aborted : outcome);
