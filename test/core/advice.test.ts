// Every reason is explained to a person: what happened, and what to do about it.
import { describe, expect, it } from 'vitest';
import { adviceOf } from '../../src/core/advice.ts';
import { type SlackError, slackErrors } from '../../src/core/answer-table.ts';
import type { DeliveryReason } from '../../src/core/delivery.ts';

const types = ['eventhubs', 'webhook', 'slack', 'teams', 'logicapps', 'eventgrid', 'file', 'of-tomorrow'];
const statuses = Array.from({ length: 900 }, (_, index) => index + 100);

describe('advice', () => {
  it.each(types)('has one sentence for every status that %s may answer with', (type) => {
    const advice = statuses.map((status) => adviceOf(`http-${status}`, type));
    expect(advice.filter((text) => !isSentence(text))).toEqual([]);
  });

  it.each(Object.keys(slackErrors) as SlackError[])('has one sentence for the error %s of Slack', (error) => {
    expect(adviceOf(`slack-${error}`, 'slack')).toSatisfy(isSentence);
  });

  it('calls it a bug of ours where Slack finds our message wrong, and nowhere else', () => {
    const blamed = (Object.keys(slackErrors) as SlackError[]).filter((error) =>
      adviceOf(`slack-${error}`, 'slack').includes('bug in the bridge'),
    );
    expect(blamed).toEqual(Object.keys(slackErrors).filter((error) => meaning(error) === 'dead'));
  });

  it.each([
    ['eventhubs', 'unauthorized', 'Azure Event Hubs Data Sender'],
    ['eventgrid', 'http-401', 'EventGrid Data Sender'],
    ['eventgrid', 'http-403', 'EventGrid Data Sender'],
    ['teams', 'http-401', 'let anyone call it'],
    ['teams', 'http-403', 'copy its URL again'],
    ['teams', 'http-404', 'switched off'],
    ['teams', 'http-400', 'Post to a channel'],
    ['logicapps', 'http-401', 'authorization policy'],
    ['logicapps', 'http-404', 'copy the URL of the trigger again'],
    ['eventgrid', 'http-400', 'CloudEventSchemaV1_0'],
    ['eventhubs', 'not-found', 'eventHubName'],
    ['eventhubs', 'timeout', 'transport: websockets'],
  ] as const)(
    'tells %s, for which %s has a meaning of its own, what helps there: %s',
    (type, reason, help) => {
      expect(adviceOf(reason, type)).toContain(help);
    },
  );

  it.each([
    ['http-301', 'login page'],
    ['http-302', 'login page'],
    ['http-404', 'check the URL'],
    ['http-418', 'check the URL'],
    ['http-999', 'check what listens there'],
    ['tls-name-mismatch', 'tls.serverName'],
    ['tls-untrusted', 'tls.caFile'],
    ['proxy-refused', 'the proxy'],
    ['egress-blocked', 'allowHttp: true'],
  ] as [DeliveryReason, string][])('says of %s what helps: %s', (reason, help) => {
    expect(adviceOf(reason, 'webhook')).toContain(help);
  });
});

const meaning = (error: string) => slackErrors[error as SlackError];

/** Words of some length that begin small, because they stand behind a colon, and end without a stop. */
const isSentence = (text: string): boolean => /^[a-zS](?!.*undefined).{20,}[^.]$/s.test(text);
