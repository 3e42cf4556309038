// The pages that a reader follows at a terminal, and their shell blocks: what each says about where it was run.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pageText } from '../support/markdown.ts';
import { projectRoot } from '../support/source-files.ts';

/** A shell block of a page. */
export interface ShellBlock {
  readonly text: string;
  /** The project's file that runs the block as it stands. */
  readonly runsIn: string | undefined;
  /** Why nothing here can run it. */
  readonly notRunBecause: string | undefined;
}

const folders = ['docs/guides', 'infra', 'bicep'];

/** Every page whose commands somebody is to type. */
export const guidePages = (): readonly string[] =>
  [
    'docs/audit.md',
    'docs/install.md',
    'docs/operate.md',
    'docs/upgrade.md',
    'SECURITY.md',
    ...folders.flatMap((folder) =>
      readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${folder}/${name}`),
    ),
  ].toSorted();

const block =
  /(?:^<!-- (?:runs in (\S+)|not run here: ([^\n]*)) -->\n\n?)?^```(?:sh|powershell)\n([\s\S]*?)^```$/gm;

/** The shell blocks of a page, in order. */
export const shellBlocks = (page: string): ShellBlock[] =>
  [...pageText(page).matchAll(block)].map(([, runsIn, notRunBecause, text = '']) => ({
    text,
    runsIn,
    notRunBecause,
  }));

/** The blocks of a page that a test says it runs. */
export const blocksRunBy = (page: string, file: string): string[] =>
  shellBlocks(page)
    .filter(({ runsIn }) => runsIn === file)
    .map(({ text }) => text);
