// What the relay posts and answers: a card as the Teams sink would have made it, and the truth about what became of it.
// The workflow runs in an interpreter of our own, stricter than the documentation where that is vague; Azure never ran it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { meaningOfStatus } from '../../src/core/answer-table.ts';
import { noticeOf } from '../../src/core/notice.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { cardBody } from '../../src/sinks/teams/card.ts';
import { faultsOf, localTimesIn, shownText, textsIn } from '../support/adaptive-cards.ts';
import { type InboxAnswer, openInbox } from '../support/inbox.ts';
import { hostileTexts } from '../support/mangled-records.ts';
import { announced } from '../support/notices.ts';
import { sampleAgentRecord } from '../support/records.ts';
import { projectRoot } from '../support/source-files.ts';
import { lastRecord } from '../support/story.ts';
import { relayRecords, testRecord } from './relay-records.ts';
import { type Definition, type Run, runWorkflow } from './workflow/run.ts';

const definition = JSON.parse(
  readFileSync(join(projectRoot, 'bicep/relay/workflow.json'), 'utf8'),
) as Definition;

interface Fact {
  readonly title: string;
  readonly value: string;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly color?: string;
  readonly isSubtle?: boolean;
  readonly facts?: readonly Fact[];
}

interface Card {
  readonly body: readonly Block[];
  readonly actions?: readonly { readonly url: string }[];
}

interface Message {
  readonly type: string;
  readonly attachments: readonly { readonly content: Card }[];
}

const cardIn = (message: Message): Card => message.attachments[0]?.content ?? { body: [] };

/** Runs the relay on a record. @param settings of the workflow */
async function relayed(record: unknown, settings = {}, answer: InboxAnswer = { status: 202 }) {
  await using teams = await openInbox({ answer });
  const run = await runWorkflow(definition, record, {
    teamsWorkflowUrl: `${teams.url}/flow?sig=x`,
    ...settings,
  });
  const [request] = teams.requests;
  const body = request?.body ?? Buffer.from('null');
  return { run, body, requests: teams.requests, message: JSON.parse(body.toString()) as Message | null };
}

/** The card that the relay makes of a record. */
async function relayCard(record: BridgeRecord): Promise<Card> {
  const { message } = await relayed(record);
  if (message === null) throw new Error('nothing was posted');
  return cardIn(message);
}

const answerOf = ({ answers }: Run) => answers[0];

/** What a reader of Markdown sees. */
const unescaped = (text: string): string => text.replace(/\\([!-/:-@[-`{-~])/g, '$1');

const sinkCard = (record: BridgeRecord): Card =>
  cardIn(JSON.parse(cardBody(noticeOf(record)).toString()) as Message);

const factsIn = (card: Card): readonly Fact[] => {
  const facts = card.body.find(({ type }) => type === 'FactSet')?.facts ?? [];
  return facts.map(({ title, value }) => ({ title, value: unescaped(value) }));
};

const remarksIn = ({ body }: Card): readonly string[] =>
  body.filter(({ isSubtle }) => isSubtle).map(({ text = '' }) => unescaped(text));

// These take more than expressions can do, or are said in fewer words.
const ownWords = ['Changed', 'Notice given', 'In progress for'];
const isShared = ({ title }: Fact): boolean => !ownWords.includes(title);

describe('the card of the relay', () => {
  it.each(relayRecords())('is a valid card without an empty text: %s', async (_, record) => {
    const card = await relayCard(record);
    expect(faultsOf(card)).toEqual([]);
    expect(textsIn(card).filter((text) => text.trim() === '')).toEqual([]);
  });

  it.each(relayRecords())('says what the card of the Teams sink says: %s', async (_, record) => {
    const [relay, sink] = [await relayCard(record), sinkCard(record)];
    const [head, sinkHead] = [relay.body[0], sink.body[0]];
    expect([unescaped(head?.text ?? ''), head?.color]).toEqual([
      unescaped(sinkHead?.text ?? ''),
      sinkHead?.color,
    ]);
    expect(factsIn(relay).filter(isShared)).toEqual(factsIn(sink).filter(isShared));
    expect(relay.actions).toEqual(sink.actions);
  });

  it.each(relayRecords())('tells the times in the zone of whoever reads it: %s', async (_, record) => {
    const [relay, sink] = [
      (await relayCard(record)).body[1]?.text ?? '',
      sinkCard(record).body[1]?.text ?? '',
    ];
    expect(localTimesIn(relay)).toEqual(localTimesIn(sink));
    if (localTimesIn(sink).length > 0) expect(shownText(unescaped(relay))).toBe(shownText(unescaped(sink)));
  });

  it.each(relayRecords())(
    'ends with the remarks of the Teams sink, but for unknown types: %s',
    async (_, record) => {
      const said = remarksIn(sinkCard(record)).filter(
        (remark) => !remark.startsWith('What an event of type'),
      );
      expect(remarksIn(await relayCard(record))).toEqual(said);
    },
  );
});

interface LooseRecord {
  readonly data: Readonly<Record<'event' | 'observer', Record<string, unknown>>>;
}

describe('a text from outside', () => {
  it.each(hostileTexts)('does no harm and is all there: %s', async (Description) => {
    const event = announced({
      Description,
      EventType: Description || 'Freeze',
      Resources: [Description, 'WestNO_0'],
    });
    const { message, body } = await relayed(lastRecord([{ events: [event] }]));
    if (message === null) throw new Error('nothing was posted');
    expect(faultsOf(cardIn(message))).toEqual([]);
    expect(body.length).toBeLessThanOrEqual(20_000);
    for (const text of textsIn(cardIn(message))) {
      expect(text).not.toMatch(/[\r\n\t\u2028\u202a-\u202e\u2066-\u2069\u200b\ufeff]|<(?=[a-z/!?])/i);
      expect(
        text.replace(/ \{\{DATE\(2026-[-:\dTZ]+,SHORT\)\}\} \{\{TIME\(2026-[-:\dTZ]+\)\}\}/g, ''),
      ).not.toMatch(/\{\{/);
      expect(text).not.toMatch(/(?<!\\)(?:\\\\)*[*`~#[\]_|>](?<!\\.)/);
    }
  });

  it('is read as it was written, backslashes and all', async () => {
    const Description = String.raw`C:\new \*x\* \\[a](b)\\ 100% a_b {c} | 'd' > "e" & f`;
    const { message } = await relayed(lastRecord([{ events: [announced({ Description })] }]));
    const shown = textsIn(message === null ? null : cardIn(message)).map(unescaped);
    expect(shown).toContain(`Azure says: ${Description}`);
  });

  it('makes no card larger than Teams takes, however long all texts are', async () => {
    const long = '維*'.repeat(5_000);
    const record = structuredClone(lastRecord([{ events: [announced()] }])) as unknown as LooseRecord;
    for (const part of [record.data.event, record.data.observer])
      for (const [name, value] of Object.entries(part))
        if (typeof value === 'string' && name !== 'notBefore') part[name] = long;
    record.data.event['resources'] = Array.from({ length: 20 }, () => long);
    const { body } = await relayed(record);
    expect(body.length).toBeGreaterThan(10_000);
    expect(body.length).toBeLessThanOrEqual(20_000);
  });
});

describe('the relay answers', () => {
  const scheduled = lastRecord([{ events: [announced()] }]);

  it('200 once Teams took the card, which came as JSON and without any Authorization', async () => {
    const { run, requests } = await relayed(scheduled);
    expect(answerOf(run)).toMatchObject({ status: 200, body: { status: 'posted' } });
    expect(run.status).toBe('Succeeded');
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/flow?sig=x' });
    expect(requests[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(requests[0]?.headers).not.toHaveProperty('authorization');
  });

  const refusals = [
    [400, 422, 'dead'],
    [413, 422, 'dead'],
    [401, 503, 'retry'],
    [403, 503, 'retry'],
    [404, 503, 'retry'],
    [429, 429, 'retry'],
    [500, 503, 'retry'],
    [502, 503, 'retry'],
  ] as const;

  it.each(refusals)(
    'a %i of Teams with a %i, which the bridge takes for %s, and fails the run',
    async (status, told, meaning) => {
      const { run } = await relayed(scheduled, {}, { status, headers: { 'retry-after': '7' } });
      expect(answerOf(run)).toMatchObject({ status: told, headers: { 'Retry-After': '7' } });
      expect(run.answers).toHaveLength(1);
      expect(run.status).toBe('Failed');
      expect(meaningOfStatus(told, 'logicapps')).toBe(meaning);
    },
  );

  it('503 when Teams cannot be reached, and asks for a minute', async () => {
    const { run } = await relayed(scheduled, {}, { fault: 'reset' });
    expect(answerOf(run)).toMatchObject({ status: 503, headers: { 'Retry-After': '60' } });
    expect(run.status).toBe('Failed');
  });
});

describe('the relay posts', () => {
  const scheduled = lastRecord([{ events: [announced()] }]);
  const posts = async (record: unknown, settings: object) => {
    const { run, requests } = await relayed(record, settings);
    expect(answerOf(run)).toMatchObject({ status: 200 });
    return requests.length === 1;
  };

  it.each([
    [{}, true],
    [{ transitions: ['scheduled'] }, true],
    [{ transitions: ['started', 'completed'] }, false],
    [{ eventTypes: ['freeze'] }, true],
    [{ eventTypes: ['reboot', 'terminate'] }, false],
    [{ minimumSeverityNumber: scheduled.severitynumber }, true],
    [{ minimumSeverityNumber: scheduled.severitynumber + 1 }, false],
    [{ transitions: ['scheduled'], eventTypes: ['reboot'] }, false],
  ])('an event with %j: %s', async (settings, expected) => {
    expect(await posts(scheduled, settings)).toBe(expected);
  });

  it('a trial whatever it is set to, and nothing of what agents say of themselves', async () => {
    expect(await posts(testRecord, { transitions: ['started'], minimumSeverityNumber: 17 })).toBe(true);
    expect(await posts(sampleAgentRecord(), {})).toBe(false);
    expect(await posts({ ...scheduled, type: 'io.github.scheduled-events-bridge.event.moved.v2' }, {})).toBe(
      false,
    );
  });
});
