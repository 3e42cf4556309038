// SIGKILL in the middle of commits: what was acknowledged is there, and what is there is whole.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { attempt, openOutbox } from '../support/outboxes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const child = join(import.meta.dirname, '../support/commit-forever.ts');

/** Runs the child for about `ms` after its first commit, kills it, and gives the lines it printed whole. */
async function killedRun(directory: string, ms: number): Promise<string[]> {
  const running = spawn(process.execPath, [child, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  running.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(running.stdout, 'data');
  await delay(ms);
  const ended = once(running, 'close');
  running.kill('SIGKILL');
  await ended;
  return text.slice(0, text.lastIndexOf('\n')).split('\n');
}

test('no acknowledged commit is lost, no number is used twice or left out, no settled delivery comes back', async () => {
  using directory = temporaryDirectory();
  let acknowledged = 0;
  let settled = 0;
  for (const ms of [0, 3, 11, 29, 47]) {
    const lines = await killedRun(directory.path, ms);
    const numbers = lines.map((line) => line.split(' ').map(Number));
    const first = numbers[0]?.[0] ?? 0;
    // The kill may fall between the commit and the line about it: one more may be on disk.
    expect(first - acknowledged).toBeGreaterThanOrEqual(1);
    expect(first - acknowledged).toBeLessThanOrEqual(2);
    expect(numbers.map(([number]) => number)).toEqual(numbers.map((_, index) => first + index));
    [acknowledged = 0, settled = 0] = numbers.at(-1) ?? [];
  }
  using open = openOutbox(directory.path, ['a', 'b']);
  const all: number[] = [];
  for (;;) {
    const sequence = attempt(open.outbox, 'b', { status: 'delivered' }, open.clock.now());
    if (sequence === null) break;
    all.push(sequence);
  }
  expect(all).toEqual(all.map((_, index) => index + 1));
  expect(all.length).toBeGreaterThanOrEqual(acknowledged);
  expect(all.length).toBeLessThanOrEqual(acknowledged + 1);
  const left = attempt(open.outbox, 'a', { status: 'delivered' }, open.clock.now());
  expect(left === null || left > settled).toBe(true);
});
