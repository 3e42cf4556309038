// What somebody is told who forgot `sudo`: that they may not look, and never that there is nothing.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { type CommandRun, runCommandLine } from '../support/command-line.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const nobody = 65_534;

/** Runs a command as a user who may not look into the directory that the agent or the consumer has for itself. */
async function asSomebodyElse(words: readonly string[]): Promise<CommandRun> {
  // What a command loads when it is first called must be there already: the other user may not read it.
  await runCommandLine(words);
  if (process.getuid?.() !== 0) return await runCommandLine(words);
  process.seteuid?.(nobody);
  try {
    return await runCommandLine(words);
  } finally {
    process.seteuid?.(0);
  }
}

/** A directory that only its owner may look into, or nobody where the tests are not run by root. */
function closedPlace() {
  const directory = temporaryDirectory();
  chmodSync(directory.path, 0o755);
  const closed = join(directory.path, 'closed');
  mkdirSync(closed);
  new DatabaseSync(join(closed, outboxFile)).close();
  new DatabaseSync(join(closed, 'trail.db')).close();
  writeFileSync(join(closed, 'agent.yaml'), '{}');
  chmodSync(closed, process.getuid?.() === 0 ? 0o700 : 0o000);
  const agent = join(directory.path, 'agent.yaml');
  writeFileSync(agent, JSON.stringify({ stateDir: closed }));
  const dispose = () => {
    chmodSync(closed, 0o700);
    directory[Symbol.dispose]();
  };
  return { closed, agent, [Symbol.dispose]: dispose };
}

it('of an outbox', async () => {
  using place = closedPlace();
  const { exitCode, stderr } = await asSomebodyElse(['outbox', 'list', '-c', place.agent]);
  const why = 'this user may not look into the directory; try it as root, with sudo';
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: `seb: the outbox in ${place.closed} cannot be used: ${why}\n`,
  });
});

it('of a trail', async () => {
  using place = closedPlace();
  const trail = join(place.closed, 'trail.db');
  const { exitCode, stderr } = await asSomebodyElse(['events', '--trail', trail]);
  const why = 'cannot be opened (EACCES); this user may not: try it as root, with sudo';
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `seb: the trail at ${trail} ${why}\n` });
});

it('of a configuration', async () => {
  using place = closedPlace();
  const { exitCode, stderr } = await asSomebodyElse(['check', '-c', join(place.closed, 'agent.yaml')]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('the file cannot be read (EACCES); this user may not read it');
});

it('and of a path that leads nowhere, what the system says', async () => {
  using directory = temporaryDirectory();
  const circle = join(directory.path, 'circle');
  symlinkSync(circle, circle);
  const agent = join(directory.path, 'agent.yaml');
  writeFileSync(agent, JSON.stringify({ stateDir: circle }));
  const outbox = await runCommandLine(['outbox', 'list', '-c', agent]);
  expect(outbox.stderr).toBe(`seb: the outbox in ${circle} cannot be used: the system says ELOOP\n`);
  const trail = await runCommandLine(['events', '--trail', join(circle, 'trail.db')]);
  expect(trail.stderr).toBe(`seb: the trail at ${circle}/trail.db cannot be opened (ELOOP)\n`);
});
