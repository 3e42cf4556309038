// Whether docs/impact.md shows what the code makes of a pause, and states the limits that the code has.
import { expect, test } from 'vitest';
import {
  feelGap,
  impactOf,
  nothingFelt,
  ordinaryDelayMs,
  summaryOf,
  tickIntervalMs,
} from '../src/core/impact.ts';
import { eventOf, freeze } from './support/documents.ts';
import { codeBlocks, pageText } from './support/markdown.ts';

const page = 'docs/impact.md';

test('the record in docs/impact.md is what the code makes of a gap of 5.38 seconds', () => {
  const [block] = codeBlocks(page, 'json');
  const place = { faultDomain: '1', temporaryDisk: '17-2' };
  const before = { at: Date.parse('2026-11-10T22:27:09.812Z'), monotonicMs: 0 };
  const after = { at: before.at + 5_380, monotonicMs: 5_380 };
  const felt = feelGap(nothingFelt, before, after, tickIntervalMs.near);
  const from = Date.parse('2026-11-10T22:24:58.310Z');
  const end = { at: Date.parse('2026-11-10T22:36:12.004Z'), place };
  const { event: _, ...shown } = impactOf(eventOf(freeze), { from, felt, place }, end);
  expect(JSON.parse(block?.text ?? '')).toEqual(shown);
});

test('the limits in docs/impact.md are those of the code', () => {
  const text = pageText(page);
  expect(text).toContain(`every ${tickIntervalMs.near} ms while`);
  expect(text).toContain(`G − S − ${ordinaryDelayMs} ms`);
  expect(text).toContain(`${tickIntervalMs.near + ordinaryDelayMs} ms apart`);
  expect(text).toContain('away for more than 3 seconds');
  const away = (awayMs: number) => summaryOf({ ...nothingFelt, awayMs }).kind;
  expect([away(3_000), away(3_001)]).toEqual(['none', 'unknown']);
});
