// Writes texts from outside in Slack's mrkdwn so that they stay text: nothing in them styles, links, pings or dates.
import { plainText, shortened, shortenedMark } from '../../core/notice/plain-text.ts';

// Slack reads these three, and only these, as characters of its own notation.
// Source: docs.slack.dev, "Formatting message text", escaping text.
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character] ?? '');

// Slack has no way to write a mark that is none, so each is replaced by a character that looks like it. An underscore
// within a word styles nothing, and names of VMs are full of them: it stays as it is.
const lookalikes: readonly (readonly [RegExp, string])[] = [
  [/\*/g, '∗'],
  [/~/g, '∼'],
  [/`/g, 'ˋ'],
  [/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '＿'],
  // A name of an emoji, or a URL that a client would turn into a link; but not the minutes of a time.
  [/:(?!\d\d:)(?=[\w+'-]+:|\/\/)/g, '∶'],
  // Begins a quotation, even when it is escaped.
  [/^>/, '›'],
];

const unstyled = (text: string): string =>
  lookalikes.reduce((written, [mark, lookalike]) => written.replace(mark, lookalike), text);

const mrkdwn = (text: string): string => escaped(unstyled(text));

/**
 * As much of the text as fits, with a mark where it was cut.
 * @param write must not make a text shorter
 */
function fitted(text: string, lengthMax: number, write: (text: string) => string): string {
  const whole = write(shortened(text, lengthMax));
  if (whole.length <= lengthMax) return whole;
  let fits = shortenedMark.length;
  let tooLong = lengthMax;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (write(shortened(text, middle)).length <= lengthMax) fits = middle;
    else tooLong = middle;
  }
  return write(shortened(text, fits));
}

/** One line of mrkdwn that reads as the text does. @param lengthMax in UTF-16 units as written, at least 20 */
export const mrkdwnText = (text: string, lengthMax: number): string =>
  fitted(plainText(text), lengthMax, mrkdwn);

/** The text for a `plain_text` object, which styles nothing: line breaks stay. @param lengthMax as in mrkdwnText */
export function literalText(text: string, lengthMax: number): string {
  const lines = text.split(/\r\n?|[\n\u2028\u2029]/).map(plainText);
  const block = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return fitted(block, lengthMax, escaped);
}

/** A code span. @param lengthMax as in mrkdwnText */
export const codeText = (text: string, lengthMax: number): string =>
  `\`${fitted(plainText(text).replaceAll('`', 'ˋ'), lengthMax - 2, escaped)}\``;

// A URL that is longer leads nowhere we know of, and Slack counts it as text.
const linkLengthMax = 600;

/** The text as a link; the text alone where the URL is none that a person should follow. */
export function linkText(url: string, text: string, lengthMax: number): string {
  const label = mrkdwnText(text, lengthMax);
  const target = URL.parse(url);
  if (target === null || !/^https?:$/.test(target.protocol)) return label;
  // Would end the link early; brackets are written so by the parser itself.
  const address = escaped(target.href.replaceAll('|', '%7C'));
  return address.length > linkLengthMax ? label : `<${address}|${label.replaceAll('|', '¦')}>`;
}

/**
 * A time in each reader's own zone; where Slack cannot show that, in UTC.
 * @param at epoch ms
 * @param utc the same time, such as `2026-11-10 22:26:58 UTC`
 */
export const dateText = (at: number, utc: string): string =>
  `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} at {time_secs}|${utc}>`;
