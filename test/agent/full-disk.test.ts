// A disk that is really full, on a file system of 8 MiB of its own: the agent polls on, loses nothing, repeats nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openInbox } from '../support/inbox.ts';
import { startOnSmallDisk } from '../support/small-disk.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../fixtures/imds', name), 'utf8');

const agentProgram = join(import.meta.dirname, '../support/small-disk-agent.ts');

test('on a full disk the agent gives up its ballast, then holds in memory, says so once, and loses nothing', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const ids = (): string[] =>
    inbox.requests.map(({ headers }) => String(headers['webhook-id']).replace(/^.*?_/, ''));
  imds.show(fixture('03-livemigration-1-empty.json'));
  await using agent = startOnSmallDisk(agentProgram, directory.path, [imds.url, inbox.url]);
  await until(`the first document: ${agent.log()}`, () => imds.requests.length > 3);

  await agent.tell('fill');
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  await inbox.received(1);
  await until('the ballast to be given up', () => agent.said('the ballast was given up') === 1);

  // Delivered, but the disk will not take the verdict: it may not be sent again because of that.
  inbox.answer({ status: 503 });
  imds.show(fixture('05-livemigration-3-started.json'));
  await inbox.received(2);
  await agent.tell('fill');
  inbox.answer({ status: 200 });
  await until('the started record to be taken', () => ids().length >= 3);
  const taken = ids().length;

  imds.show(fixture('06-livemigration-4-empty.json'));
  await until(
    `the fault to be said: ${agent.log()}`,
    () => agent.said('the disk is full: what happens') === 1,
  );
  const polls = imds.requests.length;
  await until('more polls', () => imds.requests.length > polls + 4);
  expect(ids()).toHaveLength(taken);
  expect(ids()).not.toContain('completed');

  const another = fixture('04-livemigration-2-scheduled.json').replace('C7061BAC', 'D7061BAC');
  imds.show(another);
  const later = imds.requests.length;
  await until('polls of another event', () => imds.requests.length > later + 4);

  await agent.tell('free');
  await until('what was held in memory', () => ids().length >= taken + 2);
  const freed = imds.requests.length;
  await until('more polls', () => imds.requests.length > freed + 4);
  expect(
    ids()
      .slice(taken)
      .map((id) => id.replace(/_.*/, '')),
  ).toEqual(['completed', 'scheduled']);
  expect(agent.said('the disk is full: what happens')).toBe(1);
  expect(agent.said('can be written again')).toBe(1);
});
