// Whether bicep/README.md says what the template has: its parameters, outputs and modules, and what was never run.
import { describe, expect, it } from 'vitest';
import { pageText } from '../support/markdown.ts';
import { declarationsIn, mainPath, readProject, templatesOf } from './support/project.ts';
import { outputRows, parameterRows } from './support/tables.ts';

const project = readProject();
const page = pageText('bicep/README.md');
const { params, outputs } = declarationsIn(project, mainPath);

/** The rows below a header. */
function rowsBelow(header: string): string[] {
  const lines = page.split('\n');
  const rows = lines.slice(lines.indexOf(header) + 2);
  return rows.slice(
    0,
    rows.findIndex((line) => !line.startsWith('|')),
  );
}

describe('bicep/README.md', () => {
  it('lists each parameter with its default and its own words', () => {
    expect(rowsBelow('| Parameter | Default | Says |')).toEqual(parameterRows(project));
  });

  it('lists each output in its own words, and what it is needed for', () => {
    const rows = rowsBelow('| Output | Says | Needed for |');
    const wanted = outputRows(project);
    expect(rows.map((row, index) => row.slice(0, wanted[index]?.length))).toEqual(wanted);
    expect(rows.filter((row) => !/ \| [^|?]{5,} \|$/.test(row))).toEqual([]);
  });

  it('says of each module what it makes', () => {
    const named = rowsBelow('| Module | Makes | Roles it assigns |').map(
      (row) => /`([\w-]+)`/.exec(row)?.[1],
    );
    const modules = templatesOf(project)
      .filter((path) => path !== mainPath)
      .map((path) => path.replace(/^bicep\/modules\/|\.bicep$/g, ''));
    expect(named.toSorted()).toEqual(modules);
  });

  it('names only parameters and outputs that there are', () => {
    const known = [...params, ...outputs].map(({ name }) => name);
    const named = [...page.matchAll(/(?:`|outputs\.|--parameters )([a-z]+[A-Z]\w*)(?:`|\.value|=)/g)];
    const settings = ['clientId', 'consumerGroup', 'fullyQualifiedNamespace'];
    expect(named.length).toBeGreaterThan(60);
    const unknown = named
      .map(([, name]) => name ?? '')
      .filter((name) => ![...known, ...settings].includes(name));
    expect(unknown).toEqual([]);
  });

  it('marks every command that was never run, with the reason', () => {
    const blocks = [...page.matchAll(/(.*)\n```sh\n/g)].map(([, before]) => before);
    expect(blocks.length).toBeGreaterThan(3);
    expect(
      blocks.filter((before) => !/^<!-- not run here: needs an Azure subscription/.test(before ?? '')),
    ).toEqual([]);
  });

  it('says plainly that nothing was deployed', () => {
    expect(page).toContain('**Nothing was ever deployed**');
  });
});
