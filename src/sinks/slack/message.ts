// Gives a notice the form of a Slack message: the headline as its text, the rest in one coloured attachment.
import type { Notice, NoticeFact, NoticeTone } from '../../core/notice.ts';
import { codeText, dateText, linkText, literalText, mrkdwnText } from './text.ts';

/** A text that Slack reads as its own notation. `verbatim`: it makes nothing of names and URLs by itself. */
export interface SlackMrkdwn {
  readonly type: 'mrkdwn';
  readonly text: string;
  readonly verbatim: true;
}

/** A text that stays what it is. */
export interface SlackLiteral {
  readonly type: 'plain_text';
  readonly text: string;
  readonly emoji: false;
}

export type SlackBlock =
  | { readonly type: 'section'; readonly fields: readonly SlackMrkdwn[] }
  | { readonly type: 'section'; readonly text: SlackLiteral }
  | { readonly type: 'context'; readonly elements: readonly SlackMrkdwn[] };

export interface SlackAttachment {
  readonly color: string;
  /** What stands for the blocks where they cannot be shown. */
  readonly fallback: string;
  readonly blocks: readonly SlackBlock[];
}

/** A message as webhooks and the Web API take it. */
export interface SlackMessage {
  readonly text: string;
  readonly unfurl_links: false;
  readonly unfurl_media: false;
  readonly attachments: readonly SlackAttachment[];
}

// Blocks have no colour; the attachment around them has. The circle says the same where no attachment is shown.
const looks: Readonly<Record<NoticeTone, { readonly color: string; readonly emoji: string }>> = {
  announced: { color: '#ECB22E', emoji: ':large_yellow_circle:' },
  alarming: { color: '#E01E5A', emoji: ':red_circle:' },
  ongoing: { color: '#1D9BD1', emoji: ':large_blue_circle:' },
  good: { color: '#2EB67D', emoji: ':large_green_circle:' },
  quiet: { color: '#868686', emoji: ':white_circle:' },
};

// Slack allows a section 10 fields of 2,000 and a text of 3,000 characters, and cuts a message's text at 40,000. All
// blocks together may hold some 12,000 (slackapi/bolt-js, issues 2509 and 2867), which it documents nowhere: with
// these limits a message stays well below.
const headlineLengthMax = 1_000;
const fallbackLengthMax = 300;
const titleLengthMax = 80;
const valueLengthMax = 300;
const listLengthMax = 1_200;
const fieldsMax = 20;
const fieldsOfSectionMax = 10;
const fieldsLengthMax = 5_000;
const descriptionLengthMax = 2_000;
const contextLengthMax = 1_000;
const eventIdLengthMax = 150;

// Slack takes no empty text.
const nothing = '–';

/**
 * The whole message.
 * @param mention whom it wakes, in Slack's notation; null = nobody
 */
export function slackMessageOf(notice: Notice, mention: string | null): SlackMessage {
  const blocks = [...factBlocks(notice.facts), ...descriptionBlocks(notice), ...contextBlocks(notice)];
  const { color } = looks[notice.tone];
  const fallback = mrkdwnText(notice.title, fallbackLengthMax) || nothing;
  return {
    text: headlineOf(notice, mention),
    unfurl_links: false,
    unfurl_media: false,
    // None at all takes away those of the message that is updated.
    attachments: blocks.length === 0 ? [] : [{ color, fallback, blocks }],
  };
}

/**
 * What is said in the thread of the message when things change: an update of the message itself wakes nobody. A deed
 * is said nowhere else, and brings what somebody wrote.
 */
export function slackReplyOf(notice: Notice, mention: string | null): string {
  const { state, remarks, description, speaker = 'Azure' } = notice;
  const words = state === 'deed' && description !== null ? `${speaker} says: ${description}` : '';
  const lines = [
    headlineOf(notice, mention),
    mrkdwnText(words, contextLengthMax),
    mrkdwnText(remarks.join(' '), contextLengthMax),
  ];
  return lines.filter((line) => line !== '').join('\n');
}

function headlineOf({ tone, headline }: Notice, mention: string | null): string {
  const text = `${looks[tone].emoji} ${mrkdwnText(headline, headlineLengthMax)}`;
  return mention === null ? text : `${mention} ${text}`;
}

function factBlocks(facts: readonly NoticeFact[]): SlackBlock[] {
  const fields: SlackMrkdwn[] = [];
  let length = 0;
  for (const fact of facts) {
    const text = fieldOf(fact);
    length += text.length;
    if (fields.length === fieldsMax || length > fieldsLengthMax) break;
    fields.push(mrkdwnOf(text));
  }
  const left = facts.length - fields.length;
  if (left === 0) return sectionsOf(fields);
  return [...sectionsOf(fields), { type: 'context', elements: [mrkdwnOf(`… and ${left} more (shortened)`)] }];
}

const sectionsOf = (fields: readonly SlackMrkdwn[]): SlackBlock[] =>
  Array.from({ length: Math.ceil(fields.length / fieldsOfSectionMax) }, (_, index) => ({
    type: 'section',
    fields: fields.slice(index * fieldsOfSectionMax, (index + 1) * fieldsOfSectionMax),
  }));

const fieldOf = (fact: NoticeFact): string =>
  `*${mrkdwnText(fact.title, titleLengthMax) || nothing}*\n${valueText(fact)}`;

function valueText({ value, at, link, long }: NoticeFact): string {
  const text = mrkdwnText(value, long ? listLengthMax : valueLengthMax) || nothing;
  if (link !== undefined && text !== nothing) return linkText(link, value, valueLengthMax);
  const utc = at === undefined ? null : utcOf(at);
  return at === undefined || utc === null ? text : `${dateText(at, utc)} (your time)\n${text}`;
}

/** Null for a time that no calendar has. */
function utcOf(at: number): string | null {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return null;
  return date.toISOString().replace(/^(.*)T(.*)\.\d+Z$/, '$1 $2 UTC');
}

function descriptionBlocks({ description, speaker }: Notice): SlackBlock[] {
  const words = speaker === undefined ? description : `${speaker} says: ${description}`;
  const text = description === null ? '' : literalText(words ?? '', descriptionLengthMax);
  return text === '' ? [] : [{ type: 'section', text: { type: 'plain_text', text, emoji: false } }];
}

function contextBlocks({ eventId, remarks }: Notice): SlackBlock[] {
  const event = eventId === null ? [] : [`Event ${codeText(eventId || nothing, eventIdLengthMax)}`];
  const remark = mrkdwnText(remarks.join(' '), contextLengthMax);
  const text = [...event, ...(remark === '' ? [] : [remark])].join(' - ');
  return text === '' ? [] : [{ type: 'context', elements: [mrkdwnOf(text)] }];
}

const mrkdwnOf = (text: string): SlackMrkdwn => ({ type: 'mrkdwn', text, verbatim: true });
