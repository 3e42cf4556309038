// Tells a Slack channel about maintenance in plain words: through an incoming webhook, or as a bot.
import type { Secret } from '../config/secret.ts';
import { chatPolicy, type Outcome } from '../core/delivery.ts';
import type { BridgeRecord } from '../core/record.ts';
import { type HttpTurn, openHttpExchange } from './http.ts';
import { affectedFilter, type CheckResult, defineSink, type Sink, type SinkContext } from './sink.ts';
import type { SlackCall, SlackDesk } from './slack/bot.ts';
import { type SlackSettings, slackSettings } from './slack/settings.ts';
import { openSlackThreads } from './slack/thread.ts';

export const slack = defineSink({
  type: 'slack',
  summary: 'Tells a Slack channel in plain words, through an incoming webhook or as a bot.',
  settings: slackSettings,
  filter: affectedFilter,
  policy: chatPolicy,
  open: openSlack,
});

// Slack takes one message per second and channel. Source: docs.slack.dev, "Rate limits".
const spacingMs = 1_000;

function openSlack(given: SlackSettings, context: SinkContext): Sink {
  const { url, token, channel } = given;
  if (url !== undefined) return openWebhook(given, url, context);
  if (token !== undefined && channel !== undefined) return openBot(given, { token, channel }, context);
  throw new Error('the settings of a Slack sink name a webhook or a bot');
}

const headersOf = ({ version }: SinkContext) => ({
  'content-type': 'application/json; charset=utf-8',
  'user-agent': `scheduled-events-bridge/${version}`,
});

const bodyOf = (value: object): Buffer => Buffer.from(JSON.stringify(value), 'utf8');

const mentionIn = ({ mentions }: SlackSettings, { severitytext }: BridgeRecord): string | null =>
  mentions[severitytext] ?? null;

function openWebhook(given: SlackSettings, url: Secret, context: SinkContext): Sink {
  const exchange = openHttpExchange(given, () => url.reveal());
  return {
    spacingMs,
    send: ({ record }, signal) =>
      exchange.attempt(async ({ post }) => {
        const { postToWebhook } = await import('./slack/webhook.ts');
        return await postToWebhook(record, mentionIn(given, record), (message) =>
          post({ headers: headersOf(context), body: bodyOf(message) }),
        );
      }, signal),
    check: (signal) => exchange.check(signal),
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

interface Bot {
  readonly token: Secret;
  readonly channel: string;
}

function openBot(given: SlackSettings, { token, channel }: Bot, context: SinkContext): Sink {
  const exchange = openHttpExchange(given, () => given.apiUrl);
  const threads = openSlackThreads(context.memory, channel);
  const mentionOf = (record: BridgeRecord) => mentionIn(given, record);
  const callIn =
    ({ url, post }: HttpTurn): SlackCall =>
    async (method, body) => {
      const { verdictOf } = await import('./slack/answer.ts');
      const secret = token.reveal();
      const headers = { ...headersOf(context), authorization: `Bearer ${secret}` };
      const answer = await post({ url: methodUrl(url, method), headers, body: bodyOf(body) });
      // Of what is answered, names are shown and ids are kept: a gateway may quote the token among them.
      return verdictOf({ ...answer, body: answer.body.replaceAll(secret, '…') }, Date.now());
    };
  return {
    spacingMs,
    send: (outgoing, signal) =>
      exchange.attempt(async (turn) => {
        const { postAsBot } = await import('./slack/bot.ts');
        const desk: SlackDesk = { call: callIn(turn), threads, channel, mentionOf };
        return await postAsBot(outgoing, desk);
      }, signal),
    check: async (signal) => {
      let found: CheckResult | null = null;
      const outcome = await exchange.attempt(async (turn) => {
        const { greetAsBot } = await import('./slack/bot.ts');
        const greeting = await greetAsBot(callIn(turn));
        if ('status' in greeting) return greeting;
        found = greeting;
        return { status: 'delivered' };
      }, signal);
      return found ?? refusal(outcome);
    },
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

/** The URL of a method below that of the Web API. */
function methodUrl(api: URL, method: string): URL {
  const url = new URL(api);
  url.pathname = `${api.pathname.replace(/\/$/, '')}/${method}`;
  return url;
}

function refusal(outcome: Outcome): CheckResult {
  const reason = 'reason' in outcome ? outcome.reason : 'unexpected';
  return { ok: false, detail: `Slack does not confirm the token: ${reason}`, reason };
}
