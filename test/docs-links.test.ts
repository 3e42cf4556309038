// Whether every link between the pages leads to a heading that is there.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { pageText } from './support/markdown.ts';
import { projectRoot } from './support/source-files.ts';

const pagesIn = (folder: string, recursive: boolean): string[] =>
  readdirSync(posix.join(projectRoot, folder), { recursive, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name));
const pages = [...pagesIn('.', false), ...['docs', 'infra', 'bicep'].flatMap((each) => pagesIn(each, true))];

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (page: string): string[] =>
  [...pageText(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The links of a page that name a heading, of this page or of another one. */
const linksOf = (page: string): { readonly target: string; readonly anchor: string }[] =>
  [...pageText(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(
    ([, path = '', anchor = '']) => ({
      target: path === '' ? page : posix.join(posix.dirname(page), path),
      anchor,
    }),
  );

const isPage = (path: string): boolean =>
  existsSync(posix.join(projectRoot, path)) && statSync(posix.join(projectRoot, path)).isFile();

it.each(pages)('%s', (page) => {
  const dead = linksOf(page).filter(
    ({ target, anchor }) => !isPage(target) || !anchorsOf(target).includes(anchor),
  );
  expect(dead).toEqual([]);
});

it('finds links to headings, and headings', () => {
  expect(pages.flatMap(linksOf).length).toBeGreaterThan(20);
  expect(anchorsOf('docs/install.md')).toContain('from-a-place-of-your-own');
});
