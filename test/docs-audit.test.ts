// Whether docs/audit.md knows everything that `seb audit verify` may find, and what it is worth.
import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../src/commands/dispatch.ts';
import { findingKinds } from '../src/core/finding.ts';
import { leafHash, leafOf } from '../src/core/leaf.ts';
import { codeBlocks, pageText } from './support/markdown.ts';

const page = pageText('docs/audit.md');
const rows = [...page.matchAll(/^\| `([\w-]+)` \| (\w+) \| (.+?) \| (.*?) ?\|$/gm)].map(
  ([, code = '', severity = '', means = '', advice = '']) => ({ code, severity, means, advice }),
);

describe('docs/audit.md', () => {
  it('lists each finding once, with what it is worth and what to do', () => {
    const said = rows.map(({ code, severity, advice }) => ({ code, severity, advice }));
    const wanted = Object.entries(findingKinds).map(([code, { severity, advice }]) => ({
      code,
      severity,
      advice,
    }));
    const byCode = (all: typeof said) => all.toSorted((one, other) => (one.code < other.code ? -1 : 1));
    expect(byCode(said)).toEqual(byCode(wanted));
    expect(rows.filter(({ means }) => means.length < 15).map(({ code }) => code)).toEqual([]);
  });

  it('names no finding that there is not', () => {
    const named = [...page.matchAll(/: `([a-z]+-[a-z-]+)`/g)].map(([, code = '']) => code);
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((code) => !(code in findingKinds))).toEqual([]);
  });

  it('says what each exit code of `verify` means', () => {
    const codes = [...page.matchAll(/^\| (\d+) \| \S/gm)].map(([, code]) => Number(code));
    expect(codes).toEqual([0, exitCodes.failed, exitCodes.usage, 10, 11]);
  });

  it('writes the leaf as it is: whoever follows the page comes to the same hash', () => {
    const [, prefix = '', rest = ''] = /The leaf is `([^`]+)`, (.+)\.$/m.exec(page) ?? [];
    const body = Buffer.from('{"a":1}');
    const leaf = leafOf({ sequenceNumber: 41, enqueuedMs: 1_700_000_000_000, body });
    const parts: Readonly<Record<string, string>> = {
      'a line feed': '\n',
      'the sequence number': '41',
      'the enqueued time in milliseconds': '1700000000000',
      "the Base64 of the body's SHA-256": hash('sha256', body, 'base64'),
    };
    const text =
      prefix +
      rest
        .split(', ')
        .map((part) => parts[part] ?? `<${part}>`)
        .join('');
    expect(hash('sha256', `\0${text}`, 'hex')).toBe(Buffer.from(leafHash(leaf)).toString('hex'));
  });

  it('shows a way for every kind of anchor', () => {
    const example = codeBlocks('docs/audit.md', 'yaml')
      .map(({ text }) => text)
      .join('\n');
    for (const type of ['blob', 'file', 'webhook']) expect(example).toContain(`type: ${type}`);
  });
});
