// Whether docs/trail-format.md says what the code writes: its examples are cut out of an export that is made here.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileLengthMax } from '../src/audit/archive/copy-entries.ts';
import { readEntryLine } from '../src/audit/archive/entry-line.ts';
import { blocksMax } from '../src/blobs/append-blobs.ts';
import type { JournalFact, JournalKind } from '../src/core/journal.ts';
import { leafText } from '../src/core/leaf.ts';
import { exampleExport, exampleSigner, exampleStream } from './support/archive/example-trail.ts';
import { runCommandLine } from './support/command-line.ts';
import { codeBlocks, pageText } from './support/markdown.ts';

const page = 'docs/trail-format.md';
let example: Awaited<ReturnType<typeof exampleExport>>;
/** Everything that the export says, and what is printed of it. */
let written: string;

beforeAll(async () => {
  example = await exampleExport();
  const names = readdirSync(example.path, { recursive: true, encoding: 'utf8' });
  const texts = names
    .filter((name) => /\.(json|jsonl|notes)$/.test(name))
    .map((name) => readFileSync(join(example.path, name), 'utf8'));
  const lines = await runCommandLine(['audit', 'export', '--trail', example.path, '-o', 'jsonl']);
  expect(lines.exitCode).toBe(0);
  written = [...texts, lines.stdout, `${exampleSigner.verifier.text}\n`, ...said(texts.join(''))].join('');
});
afterAll(() => example[Symbol.dispose]());

/** What lines of entries stand for: their leaves, and their bodies where these are a text. */
function said(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const reading = line.startsWith('{"index"') ? readEntryLine(line) : null;
    if (reading === null || reading.status !== 'entry') return [];
    const { entry } = reading;
    return [leafText(entry), `${Buffer.from(entry.body ?? []).toString('utf8')}\n`];
  });
}

describe('the examples', () => {
  it.each(['json', 'text'])('in %s are what the code writes', (language) => {
    const blocks = codeBlocks(page, language);
    expect(blocks.length).toBeGreaterThan(2);
    expect(blocks.map(({ text }) => text).filter((text) => !written.includes(text))).toEqual([]);
  });

  it('are of a trail that a stranger can make again', () => {
    expect(pageText(page)).toContain(exampleStream);
    expect(pageText(page)).toContain(example.trail);
  });
});

/** The names in each fact; the compiler says when a kind or a name is missing. */
type Names<Kind extends JournalKind> = Exclude<keyof Extract<JournalFact, { kind: Kind }>, 'kind'>;
const facts: { readonly [Kind in JournalKind]: Readonly<Record<Names<Kind>, true>> } = {
  'consumer-started': { instance: true, version: true },
  'consumer-stopped': { instance: true },
  'configuration-changed': { instance: true, settingsSha256: true },
  'keys-changed': { keys: true },
  'partition-opened': { instance: true, stream: true, size: true },
  'partition-closed': { instance: true, stream: true, size: true },
  'stream-began': { stream: true, firstSequenceNumber: true },
  'epoch-changed': { stream: true, earlier: true },
  gap: { stream: true, from: true, to: true },
  parked: { stream: true, entries: true },
  conflict: { stream: true, index: true, source: true, id: true },
  pruned: { stream: true, from: true, to: true, size: true, root: true },
  held: { hold: true },
  released: { hold: true },
  anchored: { anchor: true, size: true, reference: true },
  'anchor-failed': { anchor: true, size: true, reason: true },
  'clock-jumped': { instance: true, byMs: true },
  restored: { anchor: true, earlier: true, anchoredSize: true, anchoredRoot: true },
  unvouched: { stream: true, size: true, root: true, note: true },
  replayed: { stream: true, from: true, to: true, different: true },
  exported: { entries: true },
  notified: {
    ...{ sink: true, type: true, id: true, facts: true, outcome: true, reason: true, attempts: true },
    settledAt: true,
  },
  'notify-position': { instance: true, notifier: true, since: true, journal: true, positions: true },
};

describe('the tables and figures', () => {
  it('name every fact of the journal and what it says', () => {
    const [, table = ''] = pageText(page).split('## Journal');
    const found = table.matchAll(/^\| `([a-z-]+)` \| (.+?) \|/gm);
    const rows = [...found].slice(1).map(([, kind, cell = '']) => {
      const names = [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name);
      // The names within the entries of `parked` are not the fact's own.
      return [kind, kind === 'parked' ? names.slice(0, 2) : names];
    });
    expect(rows).toEqual(Object.entries(facts).map(([kind, names]) => [kind, Object.keys(names)]));
  });

  it('say where a file ends', () => {
    expect(pageText(page)).toContain(
      `${fileLengthMax / 1024 ** 2} MiB or ${blocksMax.toLocaleString('en')} additions`,
    );
  });
});
