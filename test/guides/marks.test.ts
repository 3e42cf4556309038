// Whether every command that a reader is told to type is run by a test, or says why none can.
import { existsSync, readFileSync } from 'node:fs';
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
    const wrong = [...named].filter((file) => {
      const path = join(projectRoot, file);
      return !existsSync(path) || !readFileSync(path, 'utf8').includes(page);
    });
    expect(wrong).toEqual([]);
  });

  it('has no mark that stands before anything but a shell block', () => {
    const marks = pageText(page).match(/<!-- (?:runs in|not run here)/g) ?? [];
    expect(marks).toHaveLength(blocks.filter(({ runsIn, notRunBecause }) => runsIn ?? notRunBecause).length);
  });
});

it('finds the guides', () => {
  expect(guidePages()).toContain('docs/guides/one-vm-to-slack.md');
});
