// A database of its own for each test, in the cluster of this run.

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { inject } from 'vitest';
import type { PostgresAddress } from './postgres-server.ts';

/** A fresh database; it is gone with the test. */
export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  /** Of a role that owns the database, and may make tables in it; nothing else. */
  readonly url: string;
  /** Of the superuser, in this database. */
  readonly adminUrl: string;
  /** The address for another role. */
  urlOf(role: string, password: string): string;
}

/** @param cluster another one than that of the run */
export async function openDatabase(cluster: PostgresAddress = inject('postgres')): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const { superuser, password } = cluster;
  const urlOf = (role: string, secret: string, database = name): string =>
    `postgres://${encodeURIComponent(role)}:${encodeURIComponent(secret)}@127.0.0.1:${cluster.port}/${database}`;
  const asAdmin = (...statements: readonly string[]): Promise<void> =>
    execute(urlOf(superuser, password, 'postgres'), statements);
  await asAdmin(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`, `CREATE DATABASE ${name} OWNER ${name}`);
  return {
    name,
    url: urlOf(name, name),
    adminUrl: urlOf(superuser, password),
    urlOf: (role, secret) => urlOf(role, secret),
    [Symbol.asyncDispose]: () =>
      asAdmin(`DROP DATABASE ${name} WITH (FORCE)`, `DROP ROLE ${name}`).catch(() => undefined),
  };
}

/** Runs statements one after another over a connection of its own. */
export async function execute(url: string, statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The rows of one question. */
export async function rowsOf(
  url: string,
  question: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(question, [...values])).rows;
  } finally {
    await client.end();
  }
}

const script = fileURLToPath(new URL('../../../infra/postgres/trail.sql', import.meta.url));

/** Runs infra/postgres/trail.sql as an administrator would. */
export function runTrailScript(url: string, cluster: PostgresAddress = inject('postgres')): void {
  const words = ['--no-psqlrc', '--quiet', '--file', script, url];
  const run = () =>
    execFileSync(join(cluster.programs, 'psql'), words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 30_000,
    });
  try {
    run();
  } catch {
    // Roles are the cluster's: two files of tests may have made the same ones at the same moment.
    run();
  }
}

/** A login that is in these groups and can do nothing else. */
export async function addLogin(
  { name, adminUrl, urlOf }: TestDatabase,
  ...groups: readonly string[]
): Promise<{ readonly role: string; readonly url: string } & AsyncDisposable> {
  const role = `${name}_${groups.join('_') || 'nobody'}`;
  await execute(adminUrl, [
    `CREATE ROLE ${role} LOGIN PASSWORD '${role}'`,
    ...groups.map((group) => `GRANT ${group} TO ${role}`),
  ]);
  const url = urlOf(role, role);
  return { role, url, [Symbol.asyncDispose]: () => execute(adminUrl, [`DROP ROLE ${role}`]) };
}
