// Makes the projections of a PostgreSQL trail anew from its entries, or says where they differ from what the entries give.
import { DatabaseSync } from 'node:sqlite';
import { transaction } from '../../sqlite.ts';
import { projections } from '../schema.ts';
import { openScratch, type Scratch } from '../scratch.ts';
import type { ProjectionCheck } from '../store.ts';
import type { Ask, Database } from './database.ts';
import { headsOf, numbersOf, streamNames } from './log.ts';
import { areProjected } from './prepare.ts';
import { entriesFrom, inPieces } from './rows.ts';
import { projectionRules } from './schema.ts';
import {
  putStatement,
  putValues,
  rowValues,
  type TableName,
  tableNames,
  tables,
  type Value,
} from './tables.ts';

// A million entries take about a minute.
const rebuildMsMax = 1_800_000;

/** Compares in one snapshot, which no writer waits for. */
export const checkProjections = (database: Database): Promise<ProjectionCheck> =>
  database.transact(checkSnapshot, { mode: 'REPEATABLE READ READ ONLY', ...patient });

const patient = { statementMs: rebuildMsMax, idleMs: rebuildMsMax } as const;

/** The same in a snapshot that is open already. */
export async function checkSnapshot(ask: Ask): Promise<ProjectionCheck> {
  using stored = await copyProjections(ask);
  using scratch = openScratch(numbersOf(await streamNames(ask)));
  await takeEntries(ask, scratch);
  return scratch.compare(stored);
}

/** Replaces what differs, in one transaction that every writer waits for. */
export const rebuildProjections = (
  database: Database,
  lock: (ask: Ask) => Promise<void>,
): Promise<ProjectionCheck> =>
  database.transact(async (ask) => {
    await lock(ask);
    return await remake(ask);
  }, patient);

/** Replaces what an earlier version derived, which is less than what the same entries give now; once, whoever is first. */
export const bringProjections = (database: Database, lock: (ask: Ask) => Promise<void>): Promise<void> =>
  database.transact(async (ask) => {
    if (await areProjected(ask)) return;
    await lock(ask);
    // Whoever waited here finds it done.
    if (await areProjected(ask)) return;
    await remake(ask);
    await ask('UPDATE seb.projected SET rules = $1', [projectionRules]);
  }, patient);

async function remake(ask: Ask): Promise<ProjectionCheck> {
  using stored = await copyProjections(ask);
  using scratch = openScratch(numbersOf(await streamNames(ask)));
  await takeEntries(ask, scratch);
  const check = scratch.compare(stored);
  if (check.different.length === 0) return check;
  scratch.replace(stored);
  for (const name of tableNames) if (check.different.includes(name)) await replaceTable(ask, stored, name);
  return check;
}

async function takeEntries(ask: Ask, scratch: Scratch): Promise<void> {
  for (const { id, head } of await headsOf(ask)) {
    if (head.kind !== 'hub') continue;
    for await (const entries of entriesFrom(ask, id, 0)) {
      for (const { index, bodySha256, body } of entries) {
        scratch.take({ stream: head.name, index, bodySha256, body });
      }
    }
  }
}

/** The projections as they stand, in SQLite: what does not fit into memory is in a file that nobody else can open. */
async function copyProjections(ask: Ask): Promise<DatabaseSync> {
  const copy = new DatabaseSync('');
  try {
    copy.exec(projections);
    for (const name of tableNames) await copyTable(ask, copy, name);
    return copy;
  } catch (error) {
    copy.close();
    throw error;
  }
}

const columnList = (name: TableName): string => Object.keys(tables[name].columns).join(', ');

async function copyTable(ask: Ask, copy: DatabaseSync, name: TableName): Promise<void> {
  const places = Object.keys(tables[name].columns).map(() => '?');
  const add = copy.prepare(`INSERT INTO ${name} (${columnList(name)}) VALUES (${places.join(', ')})`);
  for await (const rows of inPieces(ask, `SELECT ${columnList(name)} FROM seb.${name}`)) {
    transaction(copy, () => {
      for (const row of rows) add.run(...rowValues(name, row));
    });
  }
}

const rowsAtOnce = 1_000;

async function replaceTable(ask: Ask, copy: DatabaseSync, name: TableName): Promise<void> {
  await ask(`DELETE FROM seb.${name}`);
  let rows: Value[][] = [];
  const put = async (): Promise<void> => {
    if (rows.length > 0) await ask(putStatement(name), putValues(name, rows));
    rows = [];
  };
  for (const row of copy.prepare(`SELECT ${columnList(name)} FROM ${name}`).iterate()) {
    rows.push(Object.values(row) as Value[]);
    if (rows.length >= rowsAtOnce) await put();
  }
  await put();
}
