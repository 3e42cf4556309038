// POSTs records to a URL of your own, one CloudEvent, or one body of your own making, per request.
import { dataPolicy, type Outcome } from '../core/delivery.ts';
import { type HttpAnswer, outcomeOfAnswer } from './http/answer.ts';
import { type HttpTurn, openHttpExchange } from './http.ts';
import { affectedFilter, defineSink, type OutgoingRecord, type Sink, type SinkContext } from './sink.ts';
import { commonHeaders, openContents, signingKeys, webhookHeaders } from './webhook/content.ts';
import { noHandshake, openHandshake } from './webhook/handshake.ts';
import { type WebhookSettings, webhookSettings } from './webhook/settings.ts';

export const webhook = defineSink({
  type: 'webhook',
  summary: 'POSTs each record as a CloudEvent to a URL.',
  settings: webhookSettings,
  filter: affectedFilter,
  policy: dataPolicy,
  testNoteOf: ({ template }) =>
    template === undefined
      ? null
      : 'the sink took the test record, in the form of its template, which cannot say that it is a test: tell whoever reads it',
  open: openWebhook,
});

const notFilledIn: Outcome = { status: 'rejected', reason: 'template' };
const noKey: Outcome = { status: 'unavailable', reason: 'invalid-secret' };

function openWebhook(settings: WebhookSettings, { version }: SinkContext): Sink {
  const exchange = openHttpExchange(settings, () => settings.url.reveal());
  const contentOf = openContents(settings);
  const handshake = handshakeOf(settings);

  const deliver = async (turn: HttpTurn, { record, bytes }: OutgoingRecord): Promise<Outcome> => {
    const content = contentOf({ record, bytes });
    if (content === null) return notFilledIn;
    const keys = signingKeys(settings);
    if (keys === null) return noKey;
    const common = commonHeaders(settings, version);
    const refusal = await handshake.ask(turn, common);
    if (refusal !== null) return refusal;
    const headers = {
      ...common,
      ...handshake.headers,
      ...content.headers,
      ...idempotencyKey(settings, record.id),
      ...webhookHeaders(record, content.body, keys, Date.now()),
    };
    return outcomeOf(await turn.post({ headers, body: content.body }), settings);
  };

  return {
    get spacingMs() {
      return handshake.spacingMs;
    },
    send: async (outgoing, signal) => {
      const outcome = await exchange.attempt((turn) => deliver(turn, outgoing), signal);
      if (outcome.status === 'unavailable') handshake.forget();
      return outcome;
    },
    check: (signal) => exchange.check(signal),
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

const handshakeOf = ({ handshake, handshakeOrigin, handshakeRate }: WebhookSettings) =>
  handshake === 'none' ? noHandshake : openHandshake(handshakeOrigin, handshakeRate);

const idempotencyKey = ({ idempotencyKeyHeader: name }: WebhookSettings, id: string) =>
  name === undefined ? {} : { [name]: id };

function outcomeOf(answer: HttpAnswer, { treat409AsDelivered }: WebhookSettings): Outcome {
  if (treat409AsDelivered && answer.status === 409) return { status: 'delivered' };
  return outcomeOfAnswer(answer, Date.now());
}
