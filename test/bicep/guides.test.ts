// Whether the guides name parameters, outputs and example files of the templates as these call them.
import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageText } from '../support/markdown.ts';
import { projectRoot } from '../support/source-files.ts';
import { declarationsIn, readProject, templatesOf } from './support/project.ts';

const project = readProject();
const templates = templatesOf(project).filter((path) => !path.startsWith('bicep/modules/'));
const namesOf = (kind: 'params' | 'outputs') =>
  templates.flatMap((path) => declarationsIn(project, path)[kind].map(({ name }) => name));
const outputs = namesOf('outputs');
const params = namesOf('params');
const pages = ['docs', 'infra', 'bicep'].flatMap((folder) =>
  readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name.replaceAll('\\', '/'))),
);

/** What a page calls an output: behind that word, in a list or a table of them, in a query. */
function outputsNamedOn(text: string): string[] {
  const lists = [...text.matchAll(/\boutputs: ((?:`\w+`(?:, | and )?)+)/g)].map(([, list]) => list ?? '');
  const tables = [...text.matchAll(/^\| Output \|.*\n\| [-| ]+\n((?:\|.*\n)+)/gm)].flatMap(([, rows]) =>
    (rows ?? '').split('\n').map((row) => row.split('|')[1] ?? ''),
  );
  const single = [...text.matchAll(/(?:[Oo]utput (`\w+`)|properties\.outputs\.(\w+))/g)];
  return [
    ...[...lists, ...tables].flatMap((part) => [...part.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? '')),
    ...single.map(([, quoted, queried]) => quoted?.replaceAll('`', '') ?? queried ?? ''),
  ];
}

describe('the pages', () => {
  it.each(pages)('%s name only outputs that there are', (page) => {
    expect(outputsNamedOn(pageText(page)).filter((name) => !outputs.includes(name))).toEqual([]);
  });

  it.each(pages)('%s give only parameters that there are', (page) => {
    const given = [...pageText(page).matchAll(/--parameters ([A-Za-z]\w*)=/g)].map(([, name]) => name ?? '');
    expect(given.filter((name) => !params.includes(name))).toEqual([]);
  });

  it.each(pages)('%s deploy only files that there are', (page) => {
    const named = [...pageText(page).matchAll(/\bbicep\/[\w./-]+\.bicep(?:param)?\b/g)].map(([path]) => path);
    expect(named.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
  });

  it('name the outputs that the next steps need in more than one place', () => {
    const named = pages
      .filter((page) => page.startsWith('docs/'))
      .flatMap((page) => outputsNamedOn(pageText(page)));
    expect(named).toEqual(
      expect.arrayContaining(['eventHubsFullyQualifiedNamespace', 'agentIdentityClientId']),
    );
    expect(named.length).toBeGreaterThan(8);
  });
});
