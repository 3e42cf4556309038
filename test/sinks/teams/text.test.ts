// Texts from outside as Teams' Markdown: nothing in them is taken for markup, a mention, a date or a template.
import { describe, expect, it } from 'vitest';
import { escapeMarkdown } from '../../../src/sinks/teams/text.ts';

describe('a text for Teams', () => {
  it.each([
    [
      'nothing',
      'WestNO_0 (about 5 s), 22:26:58 UTC – “Größe” 1 < 2 > 0 & more',
      'WestNO_0 (about 5 s), 22:26:58 UTC – “Größe” 1 < 2 > 0 & more',
    ],
    ['emphasis', '*a* **b** ~c~ `d`', '\\*a\\* \\*\\*b\\*\\* \\~c\\~ \\`d\\`'],
    ['links and images', '[a](b) ![c](d)', '\\[a\\](b) !\\[c\\](d)'],
    ['headings', '# a', '\\# a'],
    ['backslashes', 'C:\\a\\*', 'C:\\\\a\\\\\\*'],
    ['underscores around a word', '_a_ __b__ (_c)', '\\_a\\_ \\_\\_b\\_\\_ (\\_c)'],
    ['bullets', '- a', '\\- a'],
    ['quotations', '> a', '\\> a'],
    ['numbers of a list', '12. a', '12\\. a'],
    ['other numbers of a list', '1) a', '1\\) a'],
    ['lines', '--- and +', '\\--- and +'],
    ['mentions', '<at>a</at> <AT>', '‹at>a‹/at> ‹AT>'],
    ['mentions in other words', '&lt;at&gt; &#60;at', '\\&lt;at\\&gt; &\\#60;at'],
    ['HTML', '<b>a</b><!-- c --><?x?>', '‹b>a‹/b>‹!-- c -->‹?x?>'],
    ['dates', '{{DATE(2026-11-10T22:26:58Z,SHORT)}}', '{\\{DATE(2026-11-10T22:26:58Z,SHORT)}}'],
    ['templates', '$\u007Ba} @{b} {{{c}}}', '$\\{a} @\\{b} {\\{\\{c}}}'],
  ])('escapes %s', (_, text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
  });

  it.each(['WestNO_0', 'a__b', 'web_01_größe_x', '日本_語'])(
    'leaves the underscores within %s alone, so that the name can be read and copied',
    (name) => {
      expect(escapeMarkdown(name)).toBe(name);
    },
  );
});
