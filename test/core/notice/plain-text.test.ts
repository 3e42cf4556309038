// Texts from outside on one line, with nothing in them that cannot be seen, and no longer than asked for.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText, shortened, shortenedMark } from '../../../src/core/notice/plain-text.ts';

describe('a plain text', () => {
  it.each([
    [
      'line breaks and tabs',
      ' one\r\n\r\ntwo\tthree\u2028four\u2029five\u0085six ',
      'one two three four five six',
    ],
    ['odd spaces', 'one\u00A0two\u3000\u2009three', 'one two three'],
    ['control characters', 'a\u0000b\u001B[31mc\u007Fd', 'a b [31mc d'],
    ['changes of direction', '\u202Egpj.exe\u202C \u2066x\u2069\u061C', 'gpj.exe x'],
    ['zero-width characters', 'a\u200Bb\u200Cc\u200Dd\uFEFFe\u2060f\u00ADg', 'abcdefg'],
    ['letters that show nothing', 'a\u3164b\u{E0041}c\uFE0Fd\u034Fe', 'abcde'],
    ['halves of pairs', 'a\uD800b\uDC00', 'a\uFFFDb\uFFFD'],
    ['nothing that shows', ' \u200B\n', ''],
  ])('knows no %s', (_, text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  it('keeps what a person wrote', () => {
    const text = '<!channel> *Größe*: 5 µs — “quoted” 日本語 😀 e\u0301';
    expect(plainText(text)).toBe(text);
  });

  it('stays as it is when it is made plain again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plainText(plainText(text))).toBe(plainText(text));
      }),
    );
  });
});

describe('a shortened text', () => {
  it('is the text itself where that fits', () => {
    expect(shortened('x'.repeat(40), 40)).toBe('x'.repeat(40));
  });

  it('says that it was cut', () => {
    expect(shortened('one two three four five six seven', 21)).toBe('one two… (shortened)');
  });

  it('does not end in half a character', () => {
    expect(shortened('😀'.repeat(20), 16)).toBe(`😀${shortenedMark}`);
  });

  it('is never longer than asked for, and well-formed', () => {
    const lengths = fc.integer({ min: shortenedMark.length, max: 60 });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), lengths, (text, lengthMax) => {
        const short = shortened(text, lengthMax);
        expect(short.length).toBeLessThanOrEqual(lengthMax);
        expect(short.isWellFormed()).toBe(true);
        expect(short === text || short.endsWith(shortenedMark)).toBe(true);
      }),
    );
  });
});
