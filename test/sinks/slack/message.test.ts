// What stands in a Slack message: the words of the notice in Slack's form, within Slack's limits, whatever the record.
import type { MessageAttachment } from '@slack/types';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Notice, type NoticeFact, noticeOf } from '../../../src/core/notice.ts';
import { type SlackMessage, slackMessageOf, slackReplyOf } from '../../../src/sinks/slack/message.ts';
import { notationTexts } from '../../support/chat-notation.ts';
import { mangledRecords } from '../../support/mangled-records.ts';
import { lives } from '../../support/notices.ts';
import { sampleAgentRecord } from '../../support/records.ts';
import { brokenLimits, type CheckedMessage } from '../../support/slack-limits.ts';
import { readMrkdwn } from '../../support/slack-reader.ts';
import { lastRecord } from '../../support/story.ts';

type Writable<Value> = Value extends object
  ? { -readonly [Key in keyof Value]: Writable<Value[Key]> }
  : Value;

/** As Slack's own types have it: the compiler holds the message against them. */
const inSlackTypes = (message: SlackMessage): CheckedMessage & { attachments: MessageAttachment[] } =>
  message as Writable<SlackMessage>;

const portal = 'https://portal.azure.com/#resource/subscriptions/1111/virtualMachines/0/overview';
const eventId = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';

const scheduled: Notice = {
  state: 'scheduled',
  tone: 'announced',
  headline: 'Maintenance scheduled: Freeze (about 5 s) on WestNO_0, not before 2026-11-10 22:26:58 UTC',
  title: 'Maintenance scheduled: WestNO_0',
  what: 'Freeze (about 5 s)',
  facts: [
    { title: 'VM', value: 'WestNO_0', link: portal },
    { title: 'Impact', value: 'Freeze, about 5 s' },
    { title: 'Not before', value: '2026-11-10 22:26:58 UTC', at: 1_794_349_618_000 },
    { title: 'Started by', value: 'Azure platform' },
  ],
  description: 'The machine is paused because of a live migration.',
  remarks: ['It starts by itself.', 'Nobody approved it.'],
  portalUrl: portal,
  eventId,
};

const mrkdwn = (text: string) => ({ type: 'mrkdwn', text, verbatim: true });

describe('a message', () => {
  it('has the headline as its text, and all the rest in one coloured attachment', () => {
    const due =
      '<!date^1794349618^{date_short_pretty} at {time_secs}|2026-11-10 22:26:58 UTC> (your time)\n2026-11-10 22:26:58 UTC';
    expect(slackMessageOf(scheduled, null)).toEqual({
      text: ':large_yellow_circle: Maintenance scheduled: Freeze (about 5 s) on WestNO_0, not before 2026-11-10 22:26:58 UTC',
      unfurl_links: false,
      unfurl_media: false,
      attachments: [
        {
          color: '#ECB22E',
          fallback: 'Maintenance scheduled: WestNO_0',
          blocks: [
            {
              type: 'section',
              fields: [
                mrkdwn(`*VM*\n<${portal}|WestNO_0>`),
                mrkdwn('*Impact*\nFreeze, about 5 s'),
                mrkdwn(`*Not before*\n${due}`),
                mrkdwn('*Started by*\nAzure platform'),
              ],
            },
            {
              type: 'section',
              text: { type: 'plain_text', text: scheduled.description, emoji: false },
            },
            {
              type: 'context',
              elements: [mrkdwn(`Event \`${eventId}\` - It starts by itself. Nobody approved it.`)],
            },
          ],
        },
      ],
    });
  });

  it('leaves out what there is nothing to say about, and the attachment when nothing is left', () => {
    const bare = { ...scheduled, facts: [], description: null, remarks: [], eventId: null };
    expect(slackMessageOf(bare, null).attachments).toEqual([]);
    const [attachment] = slackMessageOf({ ...bare, eventId }, null).attachments;
    expect(attachment?.blocks.map(({ type }) => type)).toEqual(['context']);
  });

  it.each([
    ['scheduled', '#ECB22E', ':large_yellow_circle: Maintenance scheduled'],
    ['started', '#1D9BD1', ':large_blue_circle: Maintenance in progress'],
    ['completed, as it is gone', '#2EB67D', ':large_green_circle: Maintenance completed'],
    ['canceled, as it is gone', '#868686', ':white_circle: Maintenance canceled'],
    ['updated', '#ECB22E', ':large_yellow_circle: Maintenance updated'],
  ] as const)(
    'about an event that is %s has the colour %s, and says the same in words',
    (life, color, text) => {
      const message = slackMessageOf(noticeOf(lastRecord(lives[life])), null);
      expect(message.attachments[0]?.color).toBe(color);
      expect(message.text.startsWith(text)).toBe(true);
    },
  );

  it('about what destroys something is red', () => {
    const message = slackMessageOf({ ...scheduled, tone: 'alarming' }, null);
    expect([message.attachments[0]?.color, message.text.split(' ')[0]]).toEqual(['#E01E5A', ':red_circle:']);
  });

  it('wakes whom it is told to, and nobody else', () => {
    const read = (mention: string | null) => [
      readMrkdwn(slackMessageOf(scheduled, mention).text).mentions,
      readMrkdwn(slackReplyOf(scheduled, mention)).mentions,
    ];
    expect([read(null), read('<!here> <@U12>')]).toEqual([
      [[], []],
      [
        ['!here', '@U12'],
        ['!here', '@U12'],
      ],
    ]);
  });

  it('has a reply that stands alone, with what is inferred', () => {
    expect(slackReplyOf(scheduled, null)).toBe(
      `:large_yellow_circle: ${scheduled.headline}\nIt starts by itself. Nobody approved it.`,
    );
  });

  it('shows a time that no calendar has as the text that it came with', () => {
    const facts = [Number.NaN, Infinity, 1e300].map((at) => ({ title: 'Not before', value: 'soon', at }));
    const [attachment] = slackMessageOf({ ...scheduled, facts }, null).attachments;
    expect(attachment?.blocks[0]).toMatchObject({ fields: Array(3).fill(mrkdwn('*Not before*\nsoon')) });
  });

  it('says that it was shortened, and how much is missing', () => {
    const facts = Array.from({ length: 33 }, (_, index) => ({ title: `Fact ${index}`, value: 'v' }));
    const message = slackMessageOf({ ...scheduled, facts, description: 'x '.repeat(5_000) }, null);
    const blocks = message.attachments[0]?.blocks ?? [];
    expect(blocks.map(({ type }) => type)).toEqual(['section', 'section', 'context', 'section', 'context']);
    expect(blocks[2]).toMatchObject({ elements: [mrkdwn('… and 13 more (shortened)')] });
    expect(blocks[3]).toMatchObject({ text: { text: expect.stringMatching(/… \(shortened\)$/) } });
    expect(brokenLimits(inSlackTypes(message))).toEqual([]);
  });

  it('gives up facts before all blocks together hold more than Slack takes', () => {
    const link = `https://x.test/${'a'.repeat(550)}`;
    const facts = Array.from({ length: 20 }, () => ({ title: 'Fact', value: 'v'.repeat(300), link }));
    const message = slackMessageOf({ ...scheduled, facts, description: 'x'.repeat(5_000) }, null);
    expect(brokenLimits(inSlackTypes(message))).toEqual([]);
    expect(message.attachments[0]?.blocks[1]).toMatchObject({
      elements: [mrkdwn('… and 15 more (shortened)')],
    });
  });
});

const facts: Arbitrary<NoticeFact> = fc.record(
  {
    title: notationTexts(),
    value: notationTexts(),
    at: fc.oneof(fc.double(), fc.constant(1_794_349_618_000)),
    link: fc.oneof(
      notationTexts(),
      notationTexts().map((text) => `https://x.test/#${text}`),
    ),
  },
  { requiredKeys: ['title', 'value'] },
);

/** Notices that no code of ours would make. */
const notices: Arbitrary<Notice> = fc.record({
  state: fc.constantFrom('scheduled', 'started', 'test', 'other'),
  tone: fc.constantFrom('announced', 'alarming', 'ongoing', 'good', 'quiet'),
  headline: notationTexts(),
  title: notationTexts(),
  what: notationTexts(),
  facts: fc.array(facts, { maxLength: 70 }),
  description: fc.option(notationTexts()),
  remarks: fc.array(notationTexts(), { maxLength: 5 }),
  portalUrl: fc.constant(null),
  eventId: fc.option(notationTexts()),
});

/** Every notice that a record may come to, and many that none can. */
const anyNotices = fc.oneof(notices, mangledRecords().map(noticeOf));

function mrkdwnTexts({ text, attachments }: SlackMessage): string[] {
  const blocks = attachments.flatMap((attachment) => attachment.blocks);
  const inside = blocks.flatMap((block) => {
    if ('fields' in block) return block.fields.map((field) => field.text);
    return 'elements' in block ? block.elements.map((element) => element.text) : [];
  });
  return [text, ...attachments.map(({ fallback }) => fallback), ...inside];
}

describe('a message about anything at all', () => {
  it('keeps within every limit of Block Kit', () => {
    fc.assert(
      fc.property(anyNotices, (notice) => {
        expect(brokenLimits(inSlackTypes(slackMessageOf(notice, '<!here>')))).toEqual([]);
        expect(brokenLimits({ text: slackReplyOf(notice, '<!here>') })).toEqual([]);
      }),
    );
  });

  it('wakes nobody, styles nothing but its own titles, and links to nothing but what it means to', () => {
    const own = /^(\*[^*\n]+\*|`[^`\n]+`)$/;
    fc.assert(
      fc.property(anyNotices, (notice) => {
        for (const text of [...mrkdwnTexts(slackMessageOf(notice, null)), slackReplyOf(notice, null)]) {
          const read = readMrkdwn(text);
          expect([read.mentions, read.quotations]).toEqual([[], []]);
          expect(read.styled.length).toBeLessThanOrEqual(1);
          expect(read.styled.filter((run) => !own.test(run))).toEqual([]);
          expect(read.emojis.length).toBeLessThanOrEqual(1);
          expect(read.links.filter(({ url }) => !/^https?:\/\//.test(url))).toEqual([]);
          expect(read.links.length + read.dates.length).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it('is found out by the checker of limits when it breaks one', () => {
    const long = (length: number) => 'x'.repeat(length);
    const section = (text: string) => ({
      type: 'section' as const,
      text: { type: 'plain_text' as const, text },
    });
    const fields = Array.from({ length: 11 }, () => ({ type: 'mrkdwn' as const, text: long(2_001) }));
    expect([
      brokenLimits({ text: long(4_001) }).length,
      brokenLimits({ text: 'x', blocks: Array(51).fill(section('x')) }).length,
      brokenLimits({ text: 'x', blocks: [section(long(3_001))] }).length,
      brokenLimits({ text: 'x', blocks: [section('')] }).length,
      brokenLimits({ text: 'x', blocks: [{ type: 'section', fields }] }).length,
      brokenLimits({ text: 'x', blocks: [{ type: 'context', elements: fields }] }).length,
      brokenLimits({ text: 'x', attachments: [{ color: 'red', fallback: 'x', blocks: [section('x')] }] })
        .length,
      brokenLimits({ text: '' }).length,
    ]).toEqual([1, 1, 1, 1, 13, 2, 1, 1]);
  });
});

it('says of a record that is not about an event what it is about', () => {
  const message = slackMessageOf(noticeOf(sampleAgentRecord()), null);
  expect(message.attachments[0]?.color).toBe('#868686');
  expect(brokenLimits(inSlackTypes(message))).toEqual([]);
});
