// Gives a notice the form of an Adaptive Card, in the envelope of a Teams workflow and small enough for Teams.

import { shortened } from '../../core/notice/plain-text.ts';
import { isoSeconds } from '../../core/notice/time-text.ts';
import type { Notice, NoticeFact, NoticeTone } from '../../core/notice.ts';
import { escapeMarkdown } from './text.ts';

// Teams takes 28 KiB, counted after it has put its own parts around the card: 24,453 bytes have been too many.
// Source: github.com/MicrosoftDocs/msteams-docs, issue 11274.
const bodyBytesMax = 20_000;

/** The body of the POST: at most 20,000 bytes. A card from which something had to be left out says so. */
export function cardBody(notice: Notice): Buffer {
  for (const version of versionsOf(notice)) {
    const body = encode(elementsOf(version), version.notice.portalUrl);
    if (body.length <= bodyBytesMax) return body;
  }
  return shortestBody(notice);
}

const headlineLengthMax = 500;

/** The body of a card of two lines: the first line of the notice, and that the rest was left out. */
export const shortestBody = (notice: Notice): Buffer =>
  encode(
    [
      heading(shortened(notice.headline, headlineLengthMax), notice.tone),
      shortenedLine(['all but this line']),
    ],
    null,
  );

/** A notice of which something may have been left out. */
interface Version {
  readonly notice: Notice;
  readonly missing: readonly string[];
}

const descriptionLengthMax = 2_000;
const descriptionLengthSmall = 300;
const factsMin = 3;

/** The notice, longest first: what a reader can do without goes first. */
function* versionsOf(notice: Notice): Generator<Version> {
  const { description, facts } = notice;
  if (description !== null) {
    yield { notice: { ...notice, description: shortened(description, descriptionLengthMax) }, missing: [] };
    const small = shortened(description, descriptionLengthSmall);
    yield { notice: { ...notice, description: small }, missing: ['part of the description'] };
  }
  const bare = { ...notice, description: null };
  const missing = description === null ? [] : ['the description'];
  yield { notice: bare, missing };
  for (let count = facts.length - 1; count >= factsMin; count -= 1) {
    yield { notice: { ...bare, facts: facts.slice(0, count) }, missing: [...missing, 'some facts'] };
  }
}

interface TextBlock {
  readonly type: 'TextBlock';
  readonly text: string;
  readonly wrap: true;
  readonly [style: string]: unknown;
}

interface FactSet {
  readonly type: 'FactSet';
  readonly facts: readonly { readonly title: string; readonly value: string }[];
}

type Element = TextBlock | FactSet;

function elementsOf({ notice, missing }: Version): readonly Element[] {
  const { title, tone, facts, description, speaker = 'Azure', remarks, eventId } = notice;
  const rows = eventId === null ? facts : [...facts, { title: 'Event ID', value: eventId }];
  return [
    heading(title, tone),
    textBlock(leadOf(notice), { spacing: 'Small' }),
    {
      type: 'FactSet',
      facts: rows.map((row) => ({ title: escapeMarkdown(row.title), value: escapeMarkdown(row.value) })),
    },
    ...(description === null
      ? []
      : [textBlock(`${escapeMarkdown(speaker)} says: ${escapeMarkdown(description)}`)]),
    ...remarks.map((remark) => textBlock(escapeMarkdown(remark), { isSubtle: true })),
    ...(missing.length === 0 ? [] : [shortenedLine(missing)]),
  ];
}

/** What it is about and when, in the time zone of whoever reads it; in UTC where there is no time to show. */
function leadOf({ what, headline, facts }: Notice): string {
  const times = facts.flatMap(localTimeOf);
  return times.length === 0
    ? escapeMarkdown(headline)
    : `${[escapeMarkdown(what), ...times].join(', ')} (your time)`;
}

function localTimeOf({ title, at }: NoticeFact): readonly string[] {
  if (at === undefined) return [];
  const time = isoSeconds(at);
  const words = escapeMarkdown(title.charAt(0).toLowerCase() + title.slice(1));
  // No space within the brackets: a strict reader would show the text as it stands here.
  return [`${words} {{DATE(${time},SHORT)}} {{TIME(${time})}}`];
}

const colors: Readonly<Record<NoticeTone, string>> = {
  announced: 'Warning',
  alarming: 'Attention',
  ongoing: 'Accent',
  good: 'Good',
  quiet: 'Default',
};

const heading = (text: string, tone: NoticeTone): TextBlock =>
  textBlock(escapeMarkdown(text), { weight: 'Bolder', size: 'Medium', color: colors[tone] });

const shortenedLine = (missing: readonly string[]): TextBlock =>
  textBlock(`Shortened to fit into Teams: ${missing.join(' and ')} left out.`, { isSubtle: true });

/** @param text as Markdown */
const textBlock = (text: string, style: Readonly<Record<string, unknown>> = {}): TextBlock => ({
  type: 'TextBlock',
  text,
  ...style,
  // Phones cut off what does not wrap.
  wrap: true,
});

/** Source: learn.microsoft.com, "Create incoming webhooks with Workflows for Microsoft Teams". */
function encode(body: readonly Element[], portalUrl: string | null): Buffer {
  const open = { type: 'Action.OpenUrl', title: 'Open in Azure portal', url: portalUrl };
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    // The highest version that Teams shows on desktops, on the web and on phones.
    version: '1.4',
    msteams: { width: 'Full' },
    body,
    ...(portalUrl === null ? {} : { actions: [open] }),
  };
  const attachment = {
    contentType: 'application/vnd.microsoft.card.adaptive',
    contentUrl: null,
    content: card,
  };
  return Buffer.from(JSON.stringify({ type: 'message', attachments: [attachment] }), 'utf8');
}
