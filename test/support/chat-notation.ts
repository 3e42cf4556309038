// Texts that would do harm if a chat read them as its own notation, drawn at random and put together.
import fc, { type Arbitrary } from 'fast-check';

const pieces = [
  '<!channel>',
  '<!here|here>',
  '<@U012AB3CD>',
  '<#C012AB3CD|ops>',
  '<!subteam^S123|@team>',
  '<https://evil.test|portal.azure.com>',
  '<!date^1794349618^{date}|never>',
  '&lt;!channel&gt;',
  '*bold*',
  '_slanted_',
  '~gone~',
  '`code`',
  '```',
  '> quoted',
  '&gt; quoted',
  ':tada:',
  ':100:',
  'https://evil.test/?a=1&b=2',
  '[text](https://evil.test)',
  '@channel',
  '\n',
  '\r\n',
  '\u2028',
  '\u0000',
  '\u202e',
  '\u200b',
  '\ud800',
  '𝔘',
  '"',
  "'",
  '\\',
  '|',
  '<',
  '>',
  '&',
  '*',
  '_',
  ' ',
  'x'.repeat(3_000),
  '&'.repeat(2_500),
  'ю'.repeat(1_000),
];

/** Any text at all, and texts made of pieces of the notations of chats. */
export const notationTexts = (): Arbitrary<string> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
    { weight: 1, arbitrary: fc.string({ maxLength: 60 }) },
    {
      weight: 4,
      arbitrary: fc
        .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 4 })), { maxLength: 8 })
        .map((list) => list.join('')),
    },
  );
