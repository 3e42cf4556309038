// Notices of several instances on one PostgreSQL trail: one sends, and another with a disk of its own follows it.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPostgresSource } from '../../src/audit/postgres/source.ts';
import { openPostgresTrail } from '../../src/audit/postgres/trail.ts';
import type { JournalEntry } from '../../src/core/journal.ts';
import { openInbox } from '../support/inbox.ts';
import { hookTo, idsIn, journalOf, openNoticeWriter } from '../support/noticing.ts';
import { type RunningProcess, startNode } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { execute, openDatabase } from './support/postgres.ts';
import { settingsFor } from './support/postgres-world.ts';

const child = join(import.meta.dirname, '../support/noticing-child.ts');

test('one instance at a time has the lead, and whoever lets go of it, or is cut off, loses it', async () => {
  await using database = await openDatabase();
  await using one = await openPostgresTrail(settingsFor(database.url));
  await using two = await openPostgresTrail(settingsFor(database.url));
  const first = await one.lead('notify');
  if (first.status !== 'leading') throw new Error(first.status);
  expect(await two.lead('notify')).toEqual({ status: 'following' });
  expect(await two.lead('something else')).toMatchObject({ status: 'leading' });
  await first.lease[Symbol.asyncDispose]();
  const second = await two.lead('notify');
  if (second.status !== 'leading') throw new Error(second.status);
  expect(second.lease.lost.aborted).toBe(false);
  const others = 'pid <> pg_backend_pid() AND datname = current_database()';
  await execute(database.adminUrl, [
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`,
  ]);
  await until('the loss to be noticed', () => second.lease.lost.aborted);
  await second.lease[Symbol.asyncDispose]();
});

test('a successor with a disk of its own goes on where the killed leader stood, and so does the former leader when it comes back', async () => {
  using directory = temporaryDirectory();
  await using database = await openDatabase();
  await using inbox = await openInbox();
  await using writer = openNoticeWriter(await openPostgresTrail(settingsFor(database.url)));
  const sinks = { hook: hookTo(inbox) };
  const start = (name: string): RunningProcess => {
    const notify = { stateDir: join(directory.path, name), sinks };
    const given = { trail: { type: 'postgres', url: database.url }, notify };
    return startNode([child, JSON.stringify(given)]);
  };
  const journal = async <Kind extends JournalEntry['kind']>(kind: Kind) => {
    await using source = await openPostgresSource(settingsFor(database.url));
    return await journalOf(source, kind);
  };
  const receiptsFor = async (ids: readonly string[]): Promise<boolean> => {
    const told = new Set((await journal('notified')).map(({ id }) => id));
    return ids.every((id) => told.has(id));
  };
  await writer.write(0);
  await using one = start('one');
  await one.until('notices are sent from here');
  await using two = start('two');
  await two.until('this one stands by');
  const first = await writer.write(1);
  await until('receipts', () => receiptsFor(first));
  await until('a position', async () => (await journal('notify-position')).length > 1);
  // No other position for 30 s: that these were told stands in their receipts alone.
  first.push(...(await writer.write(2)));
  await until('more receipts', () => receiptsFor(first));
  one.child.kill('SIGKILL');
  await two.until('notices are sent from here');
  const second = await writer.write(3);
  await until('receipts of the successor', () => receiptsFor(second));
  expect(idsIn(inbox)).toEqual([...first, ...second]);

  await using former = start('one');
  await former.until('this one stands by');
  two.child.kill('SIGTERM');
  expect(await two.ended()).toBe(0);
  await former.until('notices are sent from here');
  const third = await writer.write(4);
  await until('receipts of the former', () => receiptsFor(third));
  expect(idsIn(inbox)).toEqual([...first, ...second, ...third]);
  // Nobody is there to see these, and whoever comes has an empty disk.
  former.child.kill('SIGKILL');
  await former.ended();
  const fourth = await writer.write(5);
  await using another = start('three');
  await until('receipts of a third one', () => receiptsFor(fourth));
  expect(idsIn(inbox)).toEqual([...first, ...second, ...third, ...fourth]);
  another.child.kill('SIGTERM');
  expect(await another.ended()).toBe(0);
  const notifiers = (await journal('notify-position')).map(({ notifier }) => notifier);
  expect(new Set(notifiers).size).toBe(3);
});
