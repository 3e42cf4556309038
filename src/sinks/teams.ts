// Posts notices to a Microsoft Teams channel through a Power Automate workflow.
import * as z from 'zod';
import { chatPolicy, type Outcome } from '../core/delivery.ts';
import type { BridgeRecord } from '../core/record.ts';
import { type HttpTurn, openHttpExchange } from './http.ts';
import { httpSettings } from './http-settings.ts';
import { affectedFilter, type CheckResult, defineSink, type Sink, type SinkContext } from './sink.ts';
import { outcomeOfWorkflow } from './teams/answer.ts';
import { isRetiredConnector, workflowUrl } from './teams/url.ts';

const settings = z.strictObject({ ...httpSettings, url: workflowUrl });

export const teams = defineSink({
  type: 'teams',
  summary: 'Posts a card to a Microsoft Teams channel through a Power Automate workflow.',
  settings,
  filter: affectedFilter,
  policy: chatPolicy,
  testNoteOf: () =>
    'Power Automate has accepted the message, which does not yet mean that Teams shows it: look into the channel, and if it is not there, into the run history of the flow',
  open: openTeams,
});

// At most 30 a minute. What a workflow takes is published nowhere; the connectors that it replaced took 4 a second and
// 60 in 30 s, from all senders together.
const spacingMs = 2_000;

function openTeams(given: z.output<typeof settings>, { version }: SinkContext): Sink {
  const exchange = openHttpExchange(given, () => given.url.reveal());
  const headers = {
    'content-type': 'application/json',
    // No Authorization, ever: beside the signature in the URL it makes the trigger refuse the message.
    'user-agent': `scheduled-events-bridge/${version}`,
  };
  return {
    send: ({ record }, signal) =>
      exchange.attempt(async ({ url, post }) => {
        if (isRetiredConnector(url)) return retired;
        const card = await cardOf(record);
        const answer = await post({ headers, body: card.whole() });
        const last = answer.status === 413 ? await post({ headers, body: card.shortest() }) : answer;
        return outcomeOfWorkflow(last, Date.now());
      }, signal),
    spacingMs,
    check: async (signal) => {
      const place = await exchange.attempt(placeOutcome, signal);
      const isRetired = place.status === 'unavailable' && place.reason === retired.reason;
      return isRetired ? retiredCheck : await exchange.check(signal);
    },
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

const retired = { status: 'unavailable', reason: 'retired-connector' } as const satisfies Outcome;

const retiredCheck: CheckResult = {
  ok: false,
  detail: `the URL leads nowhere: ${retired.reason}`,
  reason: retired.reason,
};

/** The words are loaded with the first message: an agent starts without having one to send. */
async function cardOf(record: BridgeRecord) {
  const { noticeOf } = await import('../core/notice.ts');
  const { cardBody, shortestBody } = await import('./teams/card.ts');
  const notice = noticeOf(record);
  return { whole: () => cardBody(notice), shortest: () => shortestBody(notice) };
}

/** Looks at the URL and sends nothing. */
const placeOutcome = async ({ url }: HttpTurn): Promise<Outcome> =>
  isRetiredConnector(url) ? retired : { status: 'delivered' };
