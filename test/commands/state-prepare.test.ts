// Whether `seb state prepare` makes a directory that a group, and nobody else, may write to.
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommandLine } from '../support/command-line.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

async function prepare(directory: string, stateDir: string) {
  const file = join(directory, 'agent.yaml');
  writeFileSync(file, JSON.stringify({ stateDir, imds: { endpoint: 'http://127.0.0.1:9' } }));
  return await runCommandLine(['state', 'prepare', '-c', file]);
}

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

it('makes the directory for the group of its caller, and closes it to everybody else', async () => {
  using directory = temporaryDirectory();
  const stateDir = join(directory.path, 'new', 'state');
  const { exitCode, stdout, stderr } = await prepare(directory.path, stateDir);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toBe(`${stateDir} is for group ${process.getegid?.()}\n`);
  expect(modeOf(stateDir)).toBe('2770');
  expect(statSync(stateDir).gid).toBe(process.getegid?.());
});

it('opens a directory that is there already, and leaves alone what is in it', async () => {
  using directory = temporaryDirectory();
  const stateDir = join(directory.path, 'state');
  mkdirSync(stateDir, { mode: 0o755 });
  writeFileSync(join(stateDir, 'outbox.db'), 'kept', { mode: 0o600 });
  expect((await prepare(directory.path, stateDir)).exitCode).toBe(0);
  expect(modeOf(stateDir)).toBe('2770');
  expect(modeOf(join(stateDir, 'outbox.db'))).toBe('600');
});

it('says what is in the way', async () => {
  using directory = temporaryDirectory();
  const stateDir = join(directory.path, 'file');
  writeFileSync(stateDir, '');
  chmodSync(stateDir, 0o600);
  const { exitCode, stdout, stderr } = await prepare(directory.path, join(stateDir, 'state'));
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toBe(`seb: ${join(stateDir, 'state')} (stateDir) cannot be prepared: EEXIST\n`);
});
