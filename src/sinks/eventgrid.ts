// Publishes records to an Azure Event Grid custom topic, as many in one request as are due.
import * as z from 'zod';
import { secret } from '../config/secret.ts';
import { dataPolicy, type Outcome } from '../core/delivery.ts';
import { outcomeOfAnswer } from './http/answer.ts';
import { checkSigned, clientIdSetting, openBearer, signWith } from './http/bearer.ts';
import { type HttpTurn, openHttpExchange } from './http.ts';
import { connectionSettings } from './http-settings.ts';
import { affectedFilter, defineSink, type OutgoingRecord, type Sink, type SinkContext } from './sink.ts';

const settings = z
  .strictObject({
    endpoint: z
      .string()
      .regex(/^https?:\/\/[^\s/?#@]+([/?][^\s#]*)?$/, 'Expected the https endpoint of a topic')
      .describe('Endpoint of the topic, such as `https://NAME.REGION-1.eventgrid.azure.net/api/events`.'),
    auth: z
      .enum(['key', 'managedIdentity'])
      .default('key')
      .describe('`key`: an access key of the topic. `managedIdentity`: the VM’s identity signs in.'),
    key: secret().exactOptional().describe('Access key of the topic.'),
    clientId: clientIdSetting,
    ...connectionSettings,
  })
  .refine(
    ({ auth, key }) => (auth === 'key') === (key !== undefined),
    'Give either key or auth: managedIdentity',
  )
  .refine(
    ({ auth, clientId }) => auth === 'managedIdentity' || clientId === undefined,
    'clientId goes with auth: managedIdentity',
  );

type Settings = z.output<typeof settings>;

export const eventgrid = defineSink({
  type: 'eventgrid',
  summary: 'Publishes records to an Azure Event Grid custom topic with the CloudEvents schema.',
  settings,
  filter: affectedFilter,
  policy: dataPolicy,
  open: openEventGrid,
});

// The service takes a request of up to 1 MB; the brackets and commas fit into the rest.
const batchMax = { records: 100, bytes: 900 * 1024 } as const;

type Publish = (batch: readonly OutgoingRecord[]) => Promise<Outcome>;

function openEventGrid(given: Settings, { imdsEndpoint, version }: SinkContext): Sink {
  const { endpoint, key, clientId } = given;
  const exchange = openHttpExchange(given, () => endpoint);
  const sign =
    key === undefined
      ? openBearer({ imdsEndpoint, clientId, audience: 'https://eventgrid.azure.net' }, given.timeout)
      : signWith(() => ({ 'aeg-sas-key': key.reveal() }));

  const publishing = async (turn: HttpTurn): Promise<Publish> => {
    const { url, post } = turn;
    const { headers, judge } = await sign(turn);
    const common = {
      'content-type': 'application/cloudevents-batch+json; charset=utf-8',
      'user-agent': `scheduled-events-bridge/${version}`,
      ...headers,
    };
    return async (batch) => {
      const answer = await post({ url: topicOf(url), headers: common, body: bodyOf(batch) });
      return judge(outcomeOfAnswer(answer, Date.now(), 'eventgrid'));
    };
  };

  const sendMany = async (batch: readonly OutgoingRecord[], signal: AbortSignal) => {
    const progress: Progress = { settled: [], inHand: batch.length };
    const last = await exchange.attempt(
      async (turn) => await publishAll(batch, await publishing(turn), progress),
      signal,
    );
    return [...progress.settled, ...Array<Outcome>(progress.inHand).fill(last)];
  };

  return {
    send: async (outgoing, signal) => firstOf(await sendMany([outgoing], signal)),
    sendMany,
    batchMax,
    check: (signal) => checkSigned(exchange, sign, signal),
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

/** How far an attempt has come, should its time be up in the middle. */
interface Progress {
  readonly settled: Outcome[];
  /** How many records the request in hand carries. */
  inHand: number;
}

/**
 * Publishes a batch. The service takes or refuses it as a whole: where one bad record may be the reason, each record
 * is sent by itself, so that it does not sink the others.
 * @returns the outcome of the records in hand, which are the last ones that were tried
 */
async function publishAll(
  batch: readonly OutgoingRecord[],
  publish: Publish,
  progress: Progress,
): Promise<Outcome> {
  let outcome = await publish(batch);
  if (batch.length === 1 || !isSplit(outcome)) return outcome;
  progress.inHand = 1;
  for (const outgoing of batch) {
    outcome = await publish([outgoing]);
    if (progress.settled.length === batch.length - 1 || !isSettled(outcome)) break;
    progress.settled.push(outcome);
  }
  return outcome;
}

const isSplit = (outcome: Outcome): boolean =>
  outcome.status === 'rejected' && (outcome.reason === 'http-400' || outcome.reason === 'http-413');

/** Whether the outcome is the record's own, so that the next record may go on. */
const isSettled = ({ status }: Outcome): boolean => status === 'delivered' || status === 'rejected';

function firstOf<Value>(values: readonly Value[]): Value {
  const [value] = values;
  if (value === undefined) throw new Error('a record that was tried has an outcome');
  return value;
}

function topicOf(endpoint: URL): URL {
  const topic = new URL(endpoint);
  if (topic.pathname === '/') topic.pathname = '/api/events';
  if (!topic.searchParams.has('api-version')) topic.searchParams.set('api-version', '2018-01-01');
  return topic;
}

/** A JSON array of the records, whose bytes stay as they are. */
const bodyOf = (batch: readonly OutgoingRecord[]): Buffer =>
  Buffer.concat([
    Buffer.from('['),
    ...batch.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [Buffer.from(','), bytes])),
    Buffer.from(']'),
  ]);
