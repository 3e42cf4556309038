// Whether every command that a reader is told to type is run by a test, or says why none can.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageText } from '../support/markdown.ts';
import { projectRoot } from '../support/source-files.ts';
import { guidePages, shellBlocks } from './pages.ts';

describe.each(guidePages())('%s', (page) => {
  const blocks = shellBlocks(page);

  it('says of every shell block which test runs it, or why none can', () => {
    const silent = blocks.filter(({ runsIn, notRunBecause }) => !runsIn && (notRunBecause ?? '').length < 15);
    expect(silent.map(({ text }) => text)).toEqual([]);
  });

  it('names only tests that read the page', () => {
    const named = new Set(blocks.flatMap(({ runsIn }) => runsIn ?? []));
    const wrong = [...named].filter((file) => !textOf(file).includes(page));
    expect(wrong).toEqual([]);
  });

  it('has no mark that stands before anything but a shell block', () => {
    const marks = pageText(page).match(/<!-- (?:runs in|not run here)/g) ?? [];
    expect(marks).toHaveLength(blocks.filter(({ runsIn, notRunBecause }) => runsIn ?? notRunBecause).length);
  });
});

/** A script with parts speaks for its parts. */
function textOf(file: string): string {
  const path = join(projectRoot, file);
  if (!existsSync(path)) return '';
  const parts = file === 'infra/test/boot.sh' ? join(projectRoot, 'infra/test/facts') : null;
  const names = parts === null ? [] : readdirSync(parts).map((name) => join(parts, name));
  return [path, ...names].map((each) => readFileSync(each, 'utf8')).join('');
}

it('finds the guides', () => {
  expect(guidePages()).toContain('docs/guides/one-vm-to-slack.md');
});
