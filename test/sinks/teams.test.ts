// The Teams sink: the contract of HTTP sinks, its request, and what the answers of Power Automate mean.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noticeOf } from '../../src/core/notice.ts';
import { cardBody, shortestBody } from '../../src/sinks/teams/card.ts';
import { type InboxAnswer, openInbox } from '../support/inbox.ts';
import { outgoing, sampleRecord } from '../support/records.ts';
import { sinkSettings, sinkTypes } from '../support/sink-kinds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { keepsTheHttpContract } from './http-contract.ts';
import { openFromSettings, patience } from './sink-contract.ts';

keepsTheHttpContract({
  type: 'teams',
  receiver: 'teams',
  accepts: { status: 202 },
  triesTwice: [413],
  bodyOf: ({ record }) => cardBody(noticeOf(record)).toString(),
});

const path =
  '/powerautomate/automations/direct/workflows/0f/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=s1g-_';

/** A workflow that answers as given, and a sink that posts to it. */
async function openPair(...answers: readonly InboxAnswer[]) {
  const workflow = await openInbox();
  workflow.answer(...answers);
  const { sink } = openFromSettings({ type: 'teams', url: workflow.url + path, allowHttp: true });
  return {
    workflow,
    sink,
    send: (record = sampleRecord()) => sink.send(outgoing(record), patience()),
    [Symbol.asyncDispose]: async () => {
      await sink[Symbol.asyncDispose]();
      await workflow[Symbol.asyncDispose]();
    },
  };
}

it('POSTs the card as JSON to the very path and query of its URL, without any Authorization', async () => {
  await using pair = await openPair({ status: 202 });
  const record = sampleRecord();
  expect(await pair.send(record)).toEqual({ status: 'delivered' });
  const [request] = pair.workflow.requests;
  expect(request).toMatchObject({
    method: 'POST',
    path,
    body: cardBody(noticeOf(record)),
    headers: { 'content-type': 'application/json', 'user-agent': 'scheduled-events-bridge/1.0.0' },
  });
  expect(request?.headers).not.toHaveProperty('authorization');
});

describe('a card that is too large for Teams after all', () => {
  it('is followed at once by the shortest one', async () => {
    await using pair = await openPair({ status: 413 }, { status: 202 });
    const record = sampleRecord();
    expect(await pair.send(record)).toEqual({ status: 'delivered' });
    const notice = noticeOf(record);
    const bodies = pair.workflow.requests.map(({ body }) => body.toString());
    expect(bodies).toEqual([String(cardBody(notice)), String(shortestBody(notice))]);
  });

  it('is rejected when that one is too large as well', async () => {
    await using pair = await openPair({ status: 413 });
    expect(await pair.send()).toEqual({ status: 'rejected', reason: 'http-413' });
    expect(pair.workflow.requests).toHaveLength(2);
  });

  it('is judged by the answer to the second one, whatever that is', async () => {
    await using pair = await openPair({ status: 413 }, { status: 429, headers: { 'retry-after': '9' } });
    expect(await pair.send()).toEqual({ status: 'retryable', reason: 'http-429', retryAfterMs: 9_000 });
  });
});

describe('a flow that is switched off', () => {
  const disabled = { status: 'unavailable', reason: 'trigger-disabled', passing: true };
  const saying = (code: unknown) => JSON.stringify({ error: { code, message: `of ${path}` } });

  it.each([400, 403, 404, 409])('suspends the sink when it says so with a %i', async (status) => {
    await using pair = await openPair({ status, body: saying('WorkflowTriggerIsNotEnabled') });
    expect(await pair.send()).toEqual(disabled);
  });

  it('may say so in other words, and ask for a wait', async () => {
    const headers = { 'retry-after': '30' };
    await using pair = await openPair({ status: 400, headers, body: saying('WorkflowDisabled') });
    expect(await pair.send()).toEqual({ ...disabled, retryAfterMs: 30_000 });
  });

  it.each([
    saying('TriggerInputSchemaMismatch'),
    saying(7),
    saying(null),
    '{"error":"WorkflowTriggerIsNotEnabled"}',
    'WorkflowTriggerIsNotEnabled',
    'null',
    '[]',
    '',
  ])('is not believed in when a 400 says: %s', async (body) => {
    await using pair = await openPair({ status: 400, body });
    expect(await pair.send()).toEqual({ status: 'rejected', reason: 'http-400' });
  });

  it('is not believed in when the message was accepted', async () => {
    await using pair = await openPair({ status: 202, body: saying('WorkflowTriggerIsNotEnabled') });
    expect(await pair.send()).toEqual({ status: 'delivered' });
  });
});

const connectors = [
  'https://webhook.office.com/webhookb2/1',
  'https://contoso.webhook.office.com/webhookb2/1@2/IncomingWebhook/3/4',
  'https://CONTOSO.Webhook.Office.com./webhookb2/1',
  'https://outlook.office.com/webhook/1/IncomingWebhook/2',
  'https://outlook.office365.com/Webhook/1',
];

const workflows = [
  'https://0f.12.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/1/triggers/manual/paths/invoke?sig=x',
  'https://prod-12.norwayeast.logic.azure.com:443/workflows/1/triggers/manual/paths/invoke?sig=x',
  'https://outlook.office.com/api/v2.0/me',
  'https://webhook.office.com.example.org/webhookb2/1',
  'https://notwebhook.office.com/webhookb2/1',
];

describe('the URL of an Office 365 connector', () => {
  const parse = (url: unknown) => sinkSettings.safeParse({ type: 'teams', url });

  it.each(connectors)('is refused in the configuration, with what to do instead: %s', (url) => {
    const issues = parse(url).error?.issues.map(({ path: at, message }) => ({ at: at.join('.'), message }));
    expect(issues).toEqual([
      { at: 'url', message: expect.stringContaining('add the workflow "Post to a channel') },
    ]);
    expect(issues?.[0]?.message).not.toContain('webhookb2');
  });

  it.each(workflows)('is told from others: %s', (url) => {
    expect(parse(url).success).toBe(true);
  });

  it('suspends the sink when it turns up in a file, and a check says what to do', async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, 'url');
    writeFileSync(file, connectors[1] ?? '');
    const { sink } = openFromSettings({ type: 'teams', url: { file } });
    await using _ = sink;
    const outcome = await sink.send(outgoing(sampleRecord()), patience());
    expect(outcome).toEqual({ status: 'unavailable', reason: 'retired-connector' });
    expect(await sink.check(patience())).toMatchObject({ ok: false, reason: 'retired-connector' });
  });

  it('is not looked for in what is no URL or not there', () => {
    expect([parse('   ').success, parse('nonsense').success, parse({ env: 'NOT_THERE' }).success]).toEqual([
      true,
      true,
      true,
    ]);
  });
});

it('leaves two seconds between messages, and says what a 202 does not mean', async () => {
  await using pair = await openPair({ status: 202 });
  expect(pair.sink.spacingMs).toBe(2_000);
  expect(sinkTypes.get('teams')?.testNoteOf?.({})).toMatch(
    /accepted.*not yet mean that Teams shows it.*run history/,
  );
});
