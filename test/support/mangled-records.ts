// Records as no agent of ours writes them: fields gone, of another type, or full of texts that mean harm.
import fc, { type Arbitrary } from 'fast-check';
import { agentRecord, type BridgeRecord } from '../../src/core/record.ts';
import { sampleDeeds } from './deed-records.ts';
import { sampleFleetRecords } from './fleet-facts.ts';
import { lives } from './notices.ts';
import { lastRecord, stamp, storyBeginsAt } from './story.ts';

/** Texts that some chat would take for more than text. */
export const hostileTexts: readonly string[] = [
  '<!channel> <!here|x> <@U123> <#C123> <https://evil.test|click>',
  '<at>everyone</at> </at> &lt;at&gt;x&lt;/at&gt;',
  '{{DATE(2026-11-10T22:26:58Z,SHORT)}} {{TIME(2026-11-10T22:26:58Z)}} $\u007Bname} @{triggerBody()}',
  '[click](https://evil.test) ![x](https://evil.test/x.png) <b>bold</b>',
  '*bold* _italic_ ~strike~ `code` **x** __y__ # head\\',
  '# head',
  '> quote',
  '- item',
  '1. item',
  'one\r\ntwo\n\nthree\u2028four\u0000five\u0007six\tseven',
  '\u202Eevil\u202C \u2066x\u2069 zero\u200Bwidth\uFEFF soft\u00ADhyphen \u{E0041}',
  'half \uD800 of a pair \uDC00',
  '"quotes" and \'quotes\' and \\"both\\"',
  'x*_'.repeat(3_500),
  '😀'.repeat(5_000),
  '\u0301'.repeat(200),
  '/subscriptions/1/../../evil?x#y"><script>',
  '__proto__',
  ' ',
  '',
];

const values: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...hostileTexts),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    1e308,
    -1,
    Number.MAX_SAFE_INTEGER,
    '+010000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
  ),
  fc.array(fc.constantFrom(...hostileTexts), { maxLength: 30 }),
);

const originals: readonly BridgeRecord[] = [
  ...Object.values(lives).map((life) => lastRecord(life)),
  ...sampleDeeds(),
  agentRecord('heartbeat', storyBeginsAt, { source: { state: 'ok' } }, stamp),
  agentRecord('test', storyBeginsAt, { test: true, sink: 'ops' }, stamp),
  ...sampleFleetRecords(),
];

type Path = readonly string[];

/** Records with some of their parts replaced or taken away. */
export const mangledRecords = (): Arbitrary<BridgeRecord> =>
  fc.constantFrom(...originals).chain((original) => {
    const wound = fc.tuple(fc.constantFrom(...pathsOf(original)), fc.option(values, { nil: undefined }));
    return fc.array(wound, { maxLength: 6 }).map((wounds) => {
      const record: unknown = structuredClone(original);
      for (const [path, value] of wounds) put(record, path, value);
      return record as BridgeRecord;
    });
  });

function pathsOf(value: unknown, above: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [
    [...above, key],
    ...pathsOf(child, [...above, key]),
  ]);
}

/** Leaves alone what an earlier wound has taken away. */
function put(record: unknown, path: Path, value: unknown): void {
  const parent = path.slice(0, -1).reduce<unknown>((at, key) => {
    return typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined;
  }, record);
  if (typeof parent !== 'object' || parent === null) return;
  const [holder, key] = [parent as Record<string, unknown>, path.at(-1) ?? ''];
  if (value === undefined) delete holder[key];
  else holder[key] = value;
}
