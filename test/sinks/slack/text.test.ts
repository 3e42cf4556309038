// Texts from outside in Slack's mrkdwn: read back as Slack's clients would read them, they are nothing but text.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeText, dateText, linkText, literalText, mrkdwnText } from '../../../src/sinks/slack/text.ts';
import { notationTexts } from '../../support/chat-notation.ts';
import { readMrkdwn } from '../../support/slack-reader.ts';

const inert = { mentions: [], links: [], dates: [], emojis: [], styled: [], quotations: [] };

describe('mrkdwn', () => {
  it.each([
    ['<!channel> now', '&lt;!channel&gt; now'],
    ['<@U123> & <#C1|ops>', '&lt;@U123&gt; &amp; &lt;#C1|ops&gt;'],
    ['<https://evil.test|portal>', '&lt;https∶//evil.test|portal&gt;'],
    ['&lt;!here&gt;', '&amp;lt;!here&amp;gt;'],
    ['*bold* ~gone~ `code`', '∗bold∗ ∼gone∼ ˋcodeˋ'],
    ['_slanted_', '＿slanted＿'],
    [':tada: at 22:26:58', '∶tada: at 22:26:58'],
    ['> quoted\n> twice', '› quoted &gt; twice'],
    ['```\ncode', 'ˋˋˋ code'],
    ['WestNO_0', 'WestNO_0'],
    ['my_vm_name-01.x', 'my_vm_name-01.x'],
  ])('of %j reads as that, and does nothing', (text, written) => {
    expect(mrkdwnText(text, 500)).toBe(written);
    expect(readMrkdwn(written)).toMatchObject(inert);
  });

  it('of any text links, pings, dates and styles nothing, and keeps its length', () => {
    fc.assert(
      fc.property(notationTexts(), fc.integer({ min: 20, max: 400 }), (text, lengthMax) => {
        const written = mrkdwnText(text, lengthMax);
        expect(readMrkdwn(written)).toMatchObject(inert);
        expect(written.length).toBeLessThanOrEqual(lengthMax);
        expect(written.isWellFormed()).toBe(true);
        expect(written).not.toMatch(/[\r\n\p{Cc}\p{Cf}]/u);
      }),
    );
  });

  it('of a text that was cut says so, and of one that was not says nothing', () => {
    expect(mrkdwnText('&'.repeat(100), 500)).toBe('&amp;'.repeat(100));
    const cut = mrkdwnText('&'.repeat(101), 500);
    expect(cut).toMatch(/^(&amp;)+… \(shortened\)$/);
    expect(cut.length).toBeGreaterThan(440);
  });
});

describe('a code span', () => {
  it('is not left by anything that stands in it', () => {
    fc.assert(
      fc.property(notationTexts(), (text) => {
        const written = codeText(text, 100);
        expect(written.length).toBeLessThanOrEqual(100);
        expect(written.match(/`/g)).toHaveLength(2);
        expect(readMrkdwn(written)).toMatchObject({ mentions: [], links: [], dates: [] });
      }),
    );
  });
});

describe('a literal text', () => {
  it('keeps its lines, but no more than one empty one between two', () => {
    expect(literalText('one\r\ntwo\n\n\n\nthree *<x>*', 500)).toBe('one\ntwo\n\nthree *&lt;x&gt;*');
  });

  it('has no sequence of Slack in it, whatever it was, and keeps its length', () => {
    fc.assert(
      fc.property(notationTexts(), fc.integer({ min: 20, max: 400 }), (text, lengthMax) => {
        const written = literalText(text, lengthMax);
        expect(written).not.toMatch(/[<>]/);
        expect(written.length).toBeLessThanOrEqual(lengthMax);
        expect(written.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('a link', () => {
  it.each([
    ['https://portal.azure.com/#resource/a', 'VM', 'https://portal.azure.com/#resource/a'],
    ['https://x.test/a|b?c=1&d=2', 'VM', 'https://x.test/a%7Cb?c=1&d=2'],
    ['https://x.test/#a|b>c<d e', 'VM', 'https://x.test/#a%7Cb%3Ec%3Cd%20e'],
  ])('to %s leads there, and ends where it should', (url, text, address) => {
    expect(readMrkdwn(linkText(url, text, 100)).links).toEqual([{ url: address, label: text }]);
  });

  it.each([
    'javascript:alert(1)',
    'ftp://x.test',
    'slack://user',
    '',
    'no url',
    `https://x.test/${'a'.repeat(900)}`,
  ])('to %s is none, and its text stays', (url) => {
    expect(linkText(url, 'VM', 100)).toBe('VM');
  });

  it('is one link with a clean label, or none at all, whatever its URL and text', () => {
    const urls = fc.oneof(
      notationTexts(),
      notationTexts().map((text) => `https://x.test/${text}`),
    );
    fc.assert(
      fc.property(urls, notationTexts(), (url, text) => {
        const read = readMrkdwn(linkText(url, text, 100));
        expect(read.mentions).toEqual([]);
        expect(read.links.length).toBeLessThanOrEqual(1);
        expect(read.links[0]?.label ?? '').not.toContain('|');
        expect(read.links[0]?.url ?? 'https:').toMatch(/^https?:/);
      }),
    );
  });
});

it('writes a time for each reader’s own zone, with UTC for where that cannot be shown', () => {
  const written = dateText(1_794_349_618_900, '2026-11-10 22:26:58 UTC');
  expect(written).toBe('<!date^1794349618^{date_short_pretty} at {time_secs}|2026-11-10 22:26:58 UTC>');
  expect(readMrkdwn(written)).toMatchObject({ dates: [1_794_349_618], shown: '2026-11-10 22:26:58 UTC' });
});
