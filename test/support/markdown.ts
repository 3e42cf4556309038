// The code blocks of the project's Markdown pages, for tests that hold them to what they say.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './source-files.ts';

export interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

/** The text of a page, by its path from the project's root. */
export const pageText = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');

/** The fenced code blocks of a page, in order. */
export function codeBlocks(path: string, language: string): CodeBlock[] {
  return [...pageText(path).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .map(([, name = '', text = '']) => ({ language: name, text }))
    .filter((block) => block.language === language);
}

/** The command lines of a page's shell blocks, one command each. */
export function commandLines(path: string): string[] {
  return codeBlocks(path, 'sh')
    .flatMap(({ text }) => text.split(/\n|&&/))
    .map((line) => line.replace(/\s#.*$/, '').trim())
    .filter((line) => line !== '');
}
