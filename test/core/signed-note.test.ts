// Whether notes are those of C2SP and Go's sumdb/note, and only what a known key signed is believed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isKeyName, signerKeyText, signerOf } from '../../src/core/note-key.ts';
import {
  openNote,
  parseSignerKey,
  parseVerifierKey,
  type SignerKey,
  signNote,
  textOfNote,
  type VerifierKey,
} from '../../src/core/signed-note.ts';

// The keys and the note of the documentation of golang.org/x/mod/sumdb/note.
const go = {
  signer: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  verifier: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  secondVerifier: 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  line: '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
  secondLine:
    '— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n',
};
// The example of https://c2sp.org/signed-note.
const c2sp = {
  verifier: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
  note: 'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
};

function verifier(text: string): VerifierKey {
  const parsed = parseVerifierKey(text);
  if (parsed.status !== 'parsed') throw new Error(parsed.status);
  return parsed.key;
}

const signer = (name: string, fill: number): SignerKey => signerOf(name, Buffer.alloc(32, fill));
const [one, two, three] = [signer('a.example/one', 1), signer('a.example/two', 2), signer('a.example/3', 3)];
const keysOf = (...signers: readonly SignerKey[]): VerifierKey[] => signers.map((each) => each.verifier);
const text = 'some text\nof two lines\n';

describe('the examples of others', () => {
  it('signs what sumdb/note signs, byte for byte', () => {
    const parsed = parseSignerKey(go.signer);
    if (parsed.status !== 'parsed') throw new Error(parsed.status);
    expect(parsed.key.verifier.text).toBe(go.verifier);
    expect(signNote(go.text, [parsed.key])).toBe(`${go.text}\n${go.line}`);
  });

  it('opens a note of sumdb/note with two signatures, by either key or both', () => {
    const note = `${go.text}\n${go.line}${go.secondLine}`;
    const keys = [verifier(go.verifier), verifier(go.secondVerifier)];
    expect(openNote(note, keys)).toEqual({ status: 'verified', text: go.text, keys });
    for (const key of keys)
      expect(openNote(note, [key])).toEqual({ status: 'verified', text: go.text, keys: [key] });
  });

  it('opens the example of the specification', () => {
    const key = verifier(c2sp.verifier);
    expect(openNote(c2sp.note, [key])).toEqual({
      status: 'verified',
      text: 'This is an example message.\n',
      keys: [key],
    });
  });
});

describe('opening a note', () => {
  it('passes over signatures of keys that are not known, and says when there are no others', () => {
    const note = signNote(text, [one, two]);
    expect(openNote(note, keysOf(two, three))).toEqual({ status: 'verified', text, keys: keysOf(two) });
    expect(openNote(note, keysOf(three))).toEqual({ status: 'unknown-keys' });
    expect(openNote(note, [])).toEqual({ status: 'unknown-keys' });
  });

  it('does not know a key by its name or its id alone', () => {
    const namesake = signer(one.verifier.name, 9);
    expect(openNote(signNote(text, [namesake]), keysOf(one))).toEqual({ status: 'unknown-keys' });
    const renamed = signNote(text, [one]).replace('a.example/one', 'a.example/other');
    expect(openNote(renamed, keysOf(one))).toEqual({ status: 'unknown-keys' });
  });

  it('rejects a note in which one known key did not sign, whoever else did, in any order', () => {
    const good = signNote(text, [one, two]);
    const forged = signNote('another text\n', [two]).split('\n\n')[1];
    const lines = good.split('\n\n')[1]?.split('\n') ?? [];
    const wrong = [`${text}\n${lines[0]}\n${forged}`, `${text}\n${forged}${lines[0]}\n`, `${good}${forged}`];
    for (const note of wrong) expect(openNote(note, keysOf(one, two))).toEqual({ status: 'wrong-signature' });
    expect(openNote(`${text}\n${lines[0]}\n${forged}`, keysOf(one)).status).toBe('verified');
  });

  it('is lost with any bit of a note that one key signed', () => {
    const bytes = Buffer.from(signNote(text, [one]), 'utf8');
    const passed: number[] = [];
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      if (openNote(changed.toString('utf8'), keysOf(one)).status === 'verified') passed.push(bit);
    }
    expect(passed).toEqual([]);
  });

  it('takes text with empty lines, and what looks like a signature in it, as text', () => {
    const odd = 'a\n\n— nobody at all\n\nb\n';
    expect(openNote(signNote(odd, [one]), keysOf(one))).toEqual({
      status: 'verified',
      text: odd,
      keys: keysOf(one),
    });
  });

  it('tells a note that nobody signed from what is no note', () => {
    expect(openNote(text, keysOf(one))).toEqual({ status: 'unsigned' });
    expect(openNote(`${text}\n`, keysOf(one))).toEqual({ status: 'unsigned' });
    const note = signNote(text, [one]);
    const wrong = [
      '',
      'no newline',
      note.slice(0, -1),
      note.replace('\n\n', '\n'),
      note.replace('text', 'te\u0001xt'),
      note.replace('text', 'te\rxt'),
      note.replace('text', 'te\ud800xt'),
      `${note}no signature\n`,
      note.replace('— ', '- '),
      note.replace('a.example/one ', 'a.example/one  '),
      note.replace('a.example/one ', 'a.example+one '),
      note.replace('a.example/one ', ''),
      note.replace(/ [^ ]+\n$/, ' AAAA\n'),
      note.replace(/=?\n$/, '*\n'),
    ];
    expect(wrong.map((each) => openNote(each, keysOf(one)).status)).toEqual(
      wrong.map((each) => (each === note.replace('— ', '- ') ? 'unsigned' : 'malformed')),
    );
  });

  it('has limits: 100 signatures, and a million characters', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => signer(`k${index}`, index));
    expect(openNote(signNote(text, many(100)), keysOf(...many(1))).status).toBe('verified');
    expect(() => signNote(text, many(101))).toThrow(RangeError);
    const line = signNote(text, many(1)).split('\n\n')[1] ?? '';
    expect(openNote(`${text}\n${line.repeat(101)}`, keysOf(...many(1)))).toEqual({ status: 'malformed' });
    expect(openNote(signNote(`${'x'.repeat(1_000_000)}\n`, [one]), keysOf(one))).toEqual({
      status: 'malformed',
    });
  });

  it('gives an answer whatever it is given', () => {
    const parts = fc.constantFrom(
      '\n',
      '\n\n',
      '— ',
      'a.example/one',
      ' ',
      'AAAAAAAA',
      signNote(text, [one]),
      text,
    );
    const anything = fc.array(fc.oneof(parts, fc.string({ unit: 'binary' })), { maxLength: 8 });
    fc.assert(
      fc.property(anything, (pieces) => {
        const note = pieces.join('');
        const opened = openNote(note, keysOf(one));
        if (opened.status === 'verified') expect(opened.text).toBe(textOfNote(note));
      }),
    );
  });
});

describe('signing a note', () => {
  it('opens again, whatever the text, with every key that signed', () => {
    const line = fc.string({ unit: 'grapheme' }).map((each) => each.replaceAll(/\p{Cc}/gu, ''));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
        const written = `${lines.join('\n')}\n`;
        const opened = openNote(signNote(written, [one, two]), keysOf(two, one));
        expect(opened).toEqual({ status: 'verified', text: written, keys: keysOf(one, two) });
      }),
      { numRuns: 50 },
    );
  });

  it.each(['', 'no newline', 'a\tb\n', 'a\u0000\n', '\udfff\n'])(
    'refuses a text that no note can have: %j',
    (wrong) => {
      expect(() => signNote(wrong, [one])).toThrow(RangeError);
    },
  );

  it('refuses to leave a note unsigned', () => {
    expect(() => signNote(text, [])).toThrow(RangeError);
  });
});

describe('keys', () => {
  it('are read again as they were written', () => {
    const seed = Buffer.alloc(32, 7);
    const parsed = parseSignerKey(signerKeyText('audit.example.com/fleet', seed));
    if (parsed.status !== 'parsed') throw new Error(parsed.status);
    expect(parsed.key.verifier.text).toBe(signerOf('audit.example.com/fleet', seed).verifier.text);
    expect(verifier(parsed.key.verifier.text)).toMatchObject({ name: 'audit.example.com/fleet' });
  });

  it('are refused when any part is missing or any character is another one', () => {
    const accepted: string[] = [];
    for (const [key, parse] of [
      [go.verifier, parseVerifierKey],
      [go.signer, parseSignerKey],
    ] as const) {
      for (let from = 0; from <= key.length; from += 1) {
        for (let to = from + 1; to <= key.length; to += 1) {
          const part = key.slice(from, to);
          if (part !== key && parse(part).status === 'parsed') accepted.push(part);
        }
        const next = String.fromCharCode(key.charCodeAt(from) + 1);
        const changed = key.slice(0, from) + next + key.slice(from + 1);
        if (from < key.length && parse(changed).status === 'parsed') accepted.push(changed);
      }
    }
    expect(accepted).toEqual([]);
  });

  it('say why they are refused', () => {
    // The two that sumdb/note tests with: ids that fit, but too many bytes, and an algorithm that does not exist.
    const long = 'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==';
    const foreign = 'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
    expect(parseVerifierKey(long)).toEqual({ status: 'malformed' });
    expect(parseVerifierKey(foreign)).toEqual({ status: 'other-algorithm' });
    expect(parseVerifierKey(go.verifier.replace('Peter', 'Paul'))).toEqual({ status: 'wrong-id' });
    expect(parseVerifierKey(go.verifier.replace('c74f20a3', 'C74F20A3'))).toEqual({ status: 'malformed' });
    expect(parseVerifierKey(go.signer)).toEqual({ status: 'malformed' });
    expect(parseSignerKey(go.verifier)).toEqual({ status: 'malformed' });
    expect(parseSignerKey(go.signer.replace('Peter', 'Paul'))).toEqual({ status: 'wrong-id' });
  });

  it.each([
    '',
    'a b',
    'a+b',
    'a\u00a0b',
    'a\u2003b',
    'a\u0085b',
    'a\nb',
    'a\u007fb',
    '\ud800',
    'x'.repeat(257),
  ])('cannot be named %j', (name) => {
    expect(isKeyName(name)).toBe(false);
    expect(() => signerOf(name, Buffer.alloc(32))).toThrow(RangeError);
  });

  it('have a seed of 32 bytes', () => {
    expect(() => signerOf('a', Buffer.alloc(31))).toThrow(RangeError);
  });
});
