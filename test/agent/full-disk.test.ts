// A disk that is really full, on a file system of 8 MiB of its own: the agent polls on, loses nothing, repeats nothing.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openInbox } from '../support/inbox.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../fixtures/imds', name), 'utf8');

/** The agent in a mount namespace of its own, where `disk` is a file system of 8 MiB. */
function agentOnSmallDisk(disk: string, endpoint: string, url: string) {
  const agent = join(import.meta.dirname, '../support/small-disk-agent.ts');
  const script = 'mount -t tmpfs -o size=8m none "$1" && exec "$2" "$3" "$1" "$4" "$5"';
  const words = ['-rm', 'sh', '-c', script, 'sh', disk, process.execPath, agent, endpoint, url];
  const child: ChildProcessWithoutNullStreams = spawn('unshare', words);
  const output = { text: '', log: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.log += chunk.toString()));
  return {
    output,
    /** Gives the free blocks after the command. */
    async tell(command: 'fill' | 'free' | 'stop'): Promise<void> {
      const before = output.text.length;
      child.stdin.write(`${command}\n`);
      await until(`an answer to ${command}: ${output.log}`, () => output.text.length > before);
    },
    said: (text: string): number => output.log.split(text).length - 1,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

test('on a full disk the agent gives up its ballast, then holds in memory, says so once, and loses nothing', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const ids = (): string[] =>
    inbox.requests.map(({ headers }) => String(headers['webhook-id']).replace(/^.*?_/, ''));
  imds.show(fixture('03-livemigration-1-empty.json'));
  await using agent = agentOnSmallDisk(directory.path, imds.url, inbox.url);
  await until(`the first document: ${agent.output.log}`, () => imds.requests.length > 3);

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
    `the fault to be said: ${agent.output.log}`,
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
