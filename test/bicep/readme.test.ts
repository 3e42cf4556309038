// Whether bicep/README.md says what the template has: its parameters, outputs and modules, and what was never run.
import { describe, expect, it } from 'vitest';
import { pageText } from '../support/markdown.ts';
import { declarationsIn, mainPath, readProject, templatesOf } from './support/project.ts';
import { alertRows, outputRows, parameterRows } from './support/tables.ts';

const project = readProject();
const page = pageText('bicep/README.md');
const templates = templatesOf(project)
  .filter((path) => !path.startsWith('bicep/modules/'))
  .map((path) => path.replace('bicep/', ''));
const known = templates
  .flatMap((name) => Object.values(declarationsIn(project, `bicep/${name}`)).flat())
  .map(({ name }) => name);

/** The rows of the first table with this header behind a heading. */
function rowsBelow(heading: string, header: string): string[] {
  const all = page.split('\n');
  const lines = all.slice(all.indexOf(heading));
  const rows = lines.slice(lines.indexOf(header) + 2);
  return rows.slice(
    0,
    rows.findIndex((line) => !line.startsWith('|')),
  );
}

describe('bicep/README.md', () => {
  it.each(templates)('lists each parameter of %s with its default and its own words', (name) => {
    const rows = rowsBelow(`## Parameters and outputs of ${name}`, '| Parameter | Default | Says |');
    expect(rows).toEqual(parameterRows(project, `bicep/${name}`));
  });

  it.each(templates)('lists each output of %s in its own words, and what it is needed for', (name) => {
    const rows = rowsBelow(`## Parameters and outputs of ${name}`, '| Output | Says | Needed for |');
    const wanted = outputRows(project, `bicep/${name}`);
    expect(rows.map((row, index) => row.slice(0, wanted[index]?.length))).toEqual(wanted);
    expect(rows.filter((row) => !/ \| [^|?]{5,} \|$/.test(row))).toEqual([]);
  });

  it('lists each alert rule in its own words', () => {
    expect(rowsBelow('## Alerts', '| Rule | Says |')).toEqual(alertRows(project));
  });

  it('says of each module what it makes', () => {
    const named = rowsBelow('## What is made', '| Module | Makes | Roles it assigns |').map(
      (row) => /`([\w-]+)`/.exec(row)?.[1],
    );
    const modules = templatesOf(project)
      .filter((path) => path !== mainPath)
      .map((path) => path.replace(/^bicep\/(?:modules\/)?|\.bicep$/g, ''));
    expect(named.toSorted()).toEqual(modules.toSorted());
  });

  it('names only parameters and outputs that there are', () => {
    const named = [...page.matchAll(/(?:`|outputs\.|--parameters )([a-z]+[A-Z]\w*)(?:`|\.value|=)/g)];
    const settings = [
      ...['clientId', 'consumerGroup', 'containerUrl', 'fullyQualifiedNamespace'],
      ...['readEnvironmentVariable', 'scheduledEventsProfile'],
    ];
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
