// The Slack sink with an incoming webhook: the contract of HTTP sinks, its request, and what Slack's words mean.
import { describe, expect, it } from 'vitest';
import { type SlackError, slackErrors } from '../../../src/core/answer-table.ts';
import { noticeOf } from '../../../src/core/notice.ts';
import type { BridgeRecord } from '../../../src/core/record.ts';
import type { OutgoingRecord } from '../../../src/sinks/sink.ts';
import { slackMessageOf } from '../../../src/sinks/slack/message.ts';
import { type InboxAnswer, openInbox } from '../../support/inbox.ts';
import { outgoing, sampleLife, sampleRecord } from '../../support/records.ts';
import { sinkSettings } from '../../support/sink-kinds.ts';
import { readMrkdwn } from '../../support/slack-reader.ts';
import { keepsTheHttpContract } from '../http-contract.ts';
import { openFromSettings, patience } from '../sink-contract.ts';

const messageOf = ({ record }: OutgoingRecord): string =>
  JSON.stringify(slackMessageOf(noticeOf(record), null));

keepsTheHttpContract({
  type: 'slack',
  receiver: 'slack',
  accepts: { body: 'ok' },
  bodyOf: messageOf,
  readsBody: true,
  // Without content, there is no "ok" in it.
  differs: { 204: { status: 'rejected', reason: 'unexpected-answer' } },
});

/** A channel behind a webhook, and a sink that posts there. */
async function openPair(answer: InboxAnswer = { body: 'ok' }, more: object = {}) {
  const inbox = await openInbox({ answer });
  const url = `${inbox.url}/services/T000/B000/XXXX`;
  const { sink } = openFromSettings({ type: 'slack', url, allowHttp: true, ...more });
  return {
    inbox,
    sink,
    send: (record: BridgeRecord = sampleRecord()) => sink.send(outgoing(record), patience()),
    texts: () => inbox.requests.map(({ body }) => (JSON.parse(body.toString()) as { text: string }).text),
    [Symbol.asyncDispose]: async () => {
      await inbox[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
    },
  };
}

describe('a webhook of Slack', () => {
  it('is sent a message in JSON', async () => {
    await using pair = await openPair();
    expect(await pair.send()).toEqual({ status: 'delivered' });
    expect(pair.inbox.requests[0]).toMatchObject({
      method: 'POST',
      path: '/services/T000/B000/XXXX',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'scheduled-events-bridge/1.0.0',
      },
    });
  });

  it('is sent a message of its own for every phase, one second apart', async () => {
    await using pair = await openPair();
    for (const record of sampleLife()) expect(await pair.send(record)).toEqual({ status: 'delivered' });
    expect(pair.texts().map((text) => text.split(':')[2]?.trim())).toEqual([
      'Maintenance scheduled',
      'Maintenance in progress',
      'Maintenance completed',
    ]);
    expect(pair.sink.spacingMs).toBe(1_000);
  });

  it('wakes whom the settings name for the severity of the record, and otherwise nobody', async () => {
    const mentions = { WARN: '<!here>', ERROR: '<!channel> <@U12>' };
    await using pair = await openPair({ body: 'ok' }, { mentions });
    for (const eventType of ['Freeze', 'Reboot', 'Redeploy']) await pair.send(sampleRecord({ eventType }));
    expect(pair.texts().map((text) => readMrkdwn(text).mentions)).toEqual([
      [],
      ['!here'],
      ['!channel', '@U12'],
    ]);
  });

  it('wakes nobody unless it is told to, whatever the record says', async () => {
    await using pair = await openPair();
    const description = '<!channel> <@U12AB> @here';
    await pair.send(sampleRecord({ eventType: 'Terminate', description, resources: ['<!here>'] }));
    const body = pair.inbox.requests[0]?.body.toString() ?? '';
    expect(body).toContain('&lt;!channel&gt; &lt;@U12AB&gt; @here');
    expect(body).not.toMatch(/<[!@](?!date\^)/);
  });
});

describe('what Slack answers a webhook', () => {
  const words = { dead: 'rejected', suspend: 'unavailable', retry: 'retryable' } as const;

  it.each(Object.entries(slackErrors))(
    'with the word %s means %s, whatever the status',
    async (error, meaning) => {
      const expected = { status: words[meaning], reason: `slack-${error as SlackError}` };
      await using pair = await openPair();
      for (const status of [200, 400, 404, 500]) {
        pair.inbox.answer({ status, body: `${error}\n` });
        expect(await pair.send()).toEqual(expected);
      }
      pair.inbox.answer({ body: JSON.stringify({ ok: false, error }) });
      expect(await pair.send()).toEqual(expected);
    },
  );

  it.each([
    [429, { 'retry-after': '3' }, { retry_after: 5, error: 'rate_limited' }, 'slack-rate_limited', 5_000],
    [429, { 'retry-after': '9' }, { retry_after: 5, error: 'ratelimited' }, 'slack-ratelimited', 9_000],
    [429, {}, { retry_after: 1.5 }, 'http-429', 1_500],
    [503, { 'retry-after': '2' }, { retry_after: 'soon' }, 'http-503', 2_000],
    [429, {}, { retry_after: -1 }, 'http-429', undefined],
  ])(
    'with %i and %j and %j asks for the longer wait',
    async (status, headers, body, reason, retryAfterMs) => {
      await using pair = await openPair();
      pair.inbox.answer({ status, headers, body: JSON.stringify(body) });
      const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
      expect(await pair.send()).toEqual({ status: 'retryable', reason, ...wait });
    },
  );

  it.each([
    [200, 'okay', { status: 'rejected', reason: 'unexpected-answer' }],
    [200, '', { status: 'rejected', reason: 'unexpected-answer' }],
    [200, '<html>Sign in</html>', { status: 'rejected', reason: 'unexpected-answer' }],
    [200, '{"ok":true}', { status: 'rejected', reason: 'unexpected-answer' }],
    [200, 'toString', { status: 'rejected', reason: 'unexpected-answer' }],
    [200, ' ok\n', { status: 'delivered' }],
    [404, '<html>Not found</html>', { status: 'unavailable', reason: 'http-404' }],
    [400, 'sig-5ecre7', { status: 'rejected', reason: 'http-400' }],
    [500, 'ok', { status: 'retryable', reason: 'http-500' }],
  ])('with %i and %j is no word of Slack: %j', async (status, body, outcome) => {
    await using pair = await openPair({ status, body });
    expect(await pair.send()).toEqual(outcome);
  });
});

describe('the settings of a Slack sink', () => {
  const url = 'https://hooks.slack.com/services/T/B/X';
  const bot = { token: 'xoxb-1', channel: 'C1' };
  const either = 'Give either url (an incoming webhook), or token and channel (a bot)';

  it.each([
    [{}],
    [{ url, ...bot }],
    [{ url, token: 'xoxb-1' }],
    [{ url, channel: 'C1' }],
    [{ token: 'xoxb-1' }],
    [{ channel: 'C1' }],
  ])('name a webhook or a bot: not %j', (given) => {
    const parsed = sinkSettings.safeParse({ type: 'slack', ...given });
    expect(parsed.error?.issues.map(({ message }) => message)).toEqual([either]);
  });

  it.each([[{ url }], [bot], [{ url, mentions: { ERROR: '<!channel> <@W01> <!subteam^S012AB>' } }]])(
    'may be %j',
    (given) => {
      expect(sinkSettings.safeParse({ type: 'slack', ...given }).success).toBe(true);
    },
  );

  it.each([
    '@here',
    '<!date^1^x|y>',
    '<https://evil.test|x>',
    '<!here> all',
    '<!here>\n<!channel>',
    '',
    '<@u1>',
  ])('take no mention that Slack would not understand, such as %j', (mention) => {
    const parsed = sinkSettings.safeParse({ type: 'slack', url, mentions: { WARN: mention } });
    expect(parsed.error?.issues[0]?.path).toEqual(['mentions', 'WARN']);
  });

  it('ask for events of the VM itself, as every chat does', () => {
    const parsed = sinkSettings.parse({ type: 'slack', url });
    expect(parsed.filter).toMatchObject({ observer: 'affected', records: ['event'] });
  });
});
