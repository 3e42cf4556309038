// The cluster that the suite starts for itself.
import { expect, it } from 'vitest';
import { openDatabase, rowsOf } from './support/postgres.ts';

it('gives each test a database of its own, sorted by bytes and in UTF-8', async () => {
  await using one = await openDatabase();
  await using other = await openDatabase();
  const question = `SELECT current_database() AS name, pg_encoding_to_char(encoding) AS encoding, datcollate
    FROM pg_database WHERE datname = current_database()`;
  expect(await rowsOf(one.url, question)).toEqual([{ name: one.name, encoding: 'UTF8', datcollate: 'C' }]);
  expect(await rowsOf(other.url, question)).not.toEqual(await rowsOf(one.url, question));
});
