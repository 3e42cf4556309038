// The page on several consumers: each trouble it lists is held by a test of that name, and its figures are the program's.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needsPerson } from '../../src/consumer/session-log.ts';
import { shareExpiryMs, shareIntervalMs } from '../../src/consumer/sessions.ts';
import { projectRoot } from '../support/source-files.ts';

const page = readFileSync(join(projectRoot, 'docs/several-consumers.md'), 'utf8');

const tests = ['test/consumer', 'test/services']
  .flatMap((folder) => readdirSync(join(projectRoot, folder)).map((name) => join(projectRoot, folder, name)))
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');

test('every trouble on the page is held by a test that there is', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.split(' | ').length === 4);
  const names = rows.map((row) => row.split(' | ')[3]?.replace(/ \|$/, '') ?? '').slice(1);
  const held = names.filter((name) => name !== '---');
  expect(held.length).toBeGreaterThan(15);
  expect(held.filter((name) => !tests.includes(`'${name}'`))).toEqual([]);
});

test('the seconds on the page are those of the program', () => {
  const [interval, expiry] = [shareIntervalMs / 1_000, shareExpiryMs / 1_000];
  expect(page).toContain(`looks every ${interval} seconds`);
  expect(page).toContain(`expires after ${expiry} seconds`);
  expect(page).toContain(`${expiry} to ${expiry + interval} seconds`);
  expect([...needsPerson]).toEqual(expect.arrayContaining(['position-refused', 'history-changed']));
});
