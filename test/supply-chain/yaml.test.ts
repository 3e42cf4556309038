// Whether every YAML file can be read by the strictest reader: it parses, and says nothing twice.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { projectRoot } from '../support/source-files.ts';

/** What git has or would take: no build leftovers, no packages. */
function yamlFiles(): string[] {
  const words = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*.yaml', '*.yml'];
  const { stdout } = spawnSync('git', words, { cwd: projectRoot, encoding: 'utf8' });
  return stdout.split('\0').filter((path) => path !== '');
}

function faultsIn(text: string): string[] {
  const documents = parseAllDocuments(text, { strict: true, uniqueKeys: true, prettyErrors: true });
  return documents.flatMap(({ errors, warnings }) => [...errors, ...warnings].map(({ message }) => message));
}

// A template of Helm becomes YAML only once it is filled in.
const files = yamlFiles().filter((path) => !path.includes('/templates/'));

it('there are some', () => {
  expect(files).toContain('.github/workflows/ci.yml');
});

it.each(files)('%s can be read, and says nothing twice', (path) => {
  const text = readFileSync(join(projectRoot, path), 'utf8');
  expect(faultsIn(text)).toEqual([]);
  expect(text).not.toContain('\t');
});

it('a key that stands twice would be found', () => {
  expect(faultsIn('a: 1\nb: 2\na: 3\n')).toHaveLength(1);
});
