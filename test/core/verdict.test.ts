// From findings to one word, one exit code and one sentence.
import { expect, test } from 'vitest';
import { type FindingCode, Findings, findingKinds } from '../../src/core/finding.ts';
import { exitCodes, type Summary, verdictOf, verdictSentence } from '../../src/core/verdict.ts';

const summary: Summary = {
  ...{ entries: 41_208, inRange: 41_208, partitions: 4 },
  ...{ firstAt: Date.UTC(2026, 9, 1), lastAt: Date.UTC(2026, 10, 20, 1, 10) },
  anchored: { at: Date.UTC(2026, 10, 20, 1), place: 'ops-audit' },
};

const codes = Object.keys(findingKinds) as FindingCode[];

test.each(codes)('%s alone decides by its worth, and only what is incomplete can be accepted', (code) => {
  const { severity } = findingKinds[code];
  const [plain, accepting] = [new Findings(), new Findings({ accept: new Set([code]) })];
  for (const findings of [plain, accepting]) findings.add(code, { text: 'it' });
  const worth = { tampered: 'tampered', incomplete: 'incomplete', note: 'verified' }[severity];
  expect(verdictOf(plain.all())).toBe(worth);
  expect(verdictOf(accepting.all())).toBe(severity === 'tampered' ? 'tampered' : 'verified');
  expect(exitCodes).toEqual({ verified: 0, incomplete: 11, tampered: 10 });
});

test('the sentence counts, dates, and names the first of the worst findings', () => {
  const facts =
    '41,208 entries, 2026-10-01 00:00 .. 2026-11-20 01:10 UTC, 4 partitions, anchored up to 2026-11-20 01:00 UTC in ops-audit';
  expect(verdictSentence([], summary)).toBe(`VERIFIED ${facts}.`);
  const findings = new Findings();
  findings.add('gap', { stream: 'a', text: 'a gap' });
  findings.add('gap', { stream: 'b', text: 'another gap' });
  expect(verdictSentence(findings.all(), summary)).toBe(`INCOMPLETE ${facts}: a gap; and 1 more finding.`);
  findings.add('body-changed', { stream: 'a', text: 'a body' });
  expect(verdictSentence(findings.all(), summary)).toBe(`TAMPERED ${facts}: a body.`);
});

test('what is accepted is said, and so is how much of the trail was asked about', () => {
  const findings = new Findings({ accept: new Set(['gap']) });
  findings.add('gap', { stream: 'a', text: 'a gap' });
  const some = { ...summary, inRange: 7, anchored: null };
  expect(verdictSentence(findings.all(), some)).toMatch(
    /^VERIFIED 7 of 41,208 entries, .*, not anchored, accepted: gap\.$/,
  );
});

test('what is incomplete outside of the time asked for is a note, and tampering counts whenever it was', () => {
  const findings = new Findings({ range: { since: 100, until: 200 } });
  findings.add('gap', { stream: 'early', at: 99, text: 'early' });
  findings.add('gap', { stream: 'late', at: 200, text: 'late' });
  expect(verdictOf(findings.all())).toBe('verified');
  findings.add('gap', { stream: 'within', at: 100, text: 'within' });
  expect(verdictOf(findings.all())).toBe('incomplete');
  findings.add('body-changed', { stream: 'early', at: 1, text: 'changed' });
  expect(verdictOf(findings.all())).toBe('tampered');
});

test('the same finding in one stream is kept once, with how often and up to where', () => {
  const findings = new Findings();
  for (const index of [3, 5, 9]) findings.add('body-changed', { stream: 'a', index, text: `entry ${index}` });
  expect(findings.all()).toMatchObject([{ count: 3, index: 3, lastIndex: 9, text: 'entry 3' }]);
});
