// The page for administrators: its commands are run as they stand.
import { execFileSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { expect, inject, test } from 'vitest';
import { readRights } from '../../src/audit/postgres/rights.ts';
import { codeBlocks } from '../support/markdown.ts';
import { projectRoot } from '../support/source-files.ts';
import { execute, openDatabase, rowsOf } from './support/postgres.ts';
import { settingsFor } from './support/postgres-world.ts';

const page = 'infra/postgres/README.md';

test('infra/postgres/README.md makes tables and logins of which each may do what the page says', async () => {
  await using database = await openDatabase();
  const [commands] = codeBlocks(page, 'sh');
  const PATH = [inject('postgres').programs, process.env['PATH']].join(delimiter);
  execFileSync('bash', ['-euc', commands?.text ?? 'exit 9'], {
    ...{ cwd: projectRoot, stdio: 'pipe', env: { ...process.env, PATH, ADMIN_URL: database.adminUrl } },
  });
  const rights = async (role: string) => await readRights(settingsFor(database.urlOf(role, 'change-me')));
  expect(await rights('fleet_consumer')).toMatchObject({
    ok: true,
    detail: expect.stringContaining('append-only for this role;'),
  });
  expect((await rights('fleet_pruner')).detail).toContain('append-only for this role, which may drop bodies');
  expect(await rights('fleet_grafana')).toMatchObject({ ok: false });
  const question = codeBlocks(page, 'sql').at(-1)?.text ?? '';
  expect(await rowsOf(database.urlOf('fleet_grafana', 'change-me'), question)).toEqual([]);
  await execute(database.adminUrl, ['DROP ROLE fleet_consumer, fleet_grafana, fleet_pruner']);
});
