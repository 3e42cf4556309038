// Whether the program, as a process, ends as it should: signals, failures, readers that go away.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { version } from '../src/version.ts';
import { runNode, startNode } from './support/process.ts';

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
const program = fileURLToPath(new URL('./support/waiting-program.ts', import.meta.url));
const sameWishMs = 250;

it('says which Node it needs, to an older one', async () => {
  const older = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.1.0"}})';
  expect(await runNode(['--import', `data:text/javascript,${older}`, cli, '--version'])).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'seb: this needs Node 24 or later, and here is 20.1.0\n',
  });
});

it('prints its version from source', async () => {
  expect(await runNode([cli, '--version'])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
});

it('refuses to start an unknown command with exit code 2', async () => {
  const run = await runNode([cli, 'agnet']);
  expect(run.exitCode).toBe(2);
  expect(run.stderr).toMatch(/^seb: there is no command "agnet"/);
});

it.each([
  ['SIGTERM', 0],
  ['SIGHUP', 0],
  ['SIGINT', 130],
] as const)('lets a command stop cleanly on %s and exits with %i', async (signal, exitCode) => {
  await using running = startNode([program, 'wait']);
  await running.until('ready');
  running.child.kill(signal);
  expect(await running.ended()).toBe(exitCode);
  expect(running.output()).toEqual({ stdout: 'ready\nstopped\n', stderr: '' });
});

/** Of Windows only its name, and its signal in the place of one that this machine has. */
const asOnWindows = (code: string): string[] => [
  '--import',
  `data:text/javascript,${encodeURIComponent(code)}`,
];

it('stops cleanly when Windows says Ctrl-Break', async () => {
  const instead = `process.on('SIGUSR2', () => process.emit('SIGBREAK', 'SIGBREAK'))`;
  await using running = startNode([...asOnWindows(instead), program, 'wait']);
  await running.until('ready');
  running.child.kill('SIGUSR2');
  expect(await running.ended()).toBe(0);
  expect(running.output()).toEqual({ stdout: 'ready\nstopped\n', stderr: '' });
});

it('stops when Windows closes the console, even a command that reloads on SIGHUP elsewhere', async () => {
  const named = `Object.defineProperty(process, 'platform', { value: 'win32' })`;
  await using running = startNode([...asOnWindows(named), program, 'hangup']);
  await running.until('ready');
  running.child.kill('SIGHUP');
  expect(await running.ended()).toBe(0);
  expect(running.output().stdout).toBe('ready\n');
});

it('takes the two signals of one Ctrl-C under npm for one', async () => {
  await using running = startNode([program, 'wait']);
  await running.until('ready');
  running.child.kill('SIGINT');
  running.child.kill('SIGINT');
  expect(await running.ended()).toBe(130);
  expect(running.output().stdout).toBe('ready\nstopped\n');
});

it('ends at once on a second signal', async () => {
  await using running = startNode([program, 'ignore']);
  await running.until('ready');
  running.child.kill('SIGTERM');
  await running.until('asked');
  const again = setInterval(() => running.child.kill('SIGTERM'), sameWishMs);
  expect(await running.ended()).toBe(130);
  clearInterval(again);
});

it('ends a command that does not stop in time, and says so', async () => {
  await using running = startNode([program, 'ignore']);
  await running.until('ready');
  running.child.kill('SIGTERM');
  expect(await running.ended()).toBe(1);
  expect(running.output().stderr).toBe('seb: did not stop within 2 s, ends without closing\n');
});

it('gives SIGHUP to a command that asks for it, and goes on', async () => {
  await using running = startNode([program, 'hangup']);
  await running.until('ready');
  running.child.kill('SIGHUP');
  await running.until('reopened');
  running.child.kill('SIGTERM');
  expect(await running.ended()).toBe(0);
});

it('ends although a command left something open', async () => {
  expect(await runNode([program, 'linger'])).toMatchObject({ exitCode: 0 });
});

it('ends with 1 and without the message when nobody caught an error', async () => {
  const run = await runNode([program, 'forget']);
  expect(run.exitCode).toBe(1);
  expect(run.stderr).toMatch(/^seb: unexpected Error at waiting-program\.ts:\d+/);
  expect(run.stderr).not.toContain('SECRET');
});

it('says nothing when the reader of its output goes away', async () => {
  await using running = startNode([program, 'flood']);
  running.child.stdout?.once('data', () => running.child.stdout?.destroy());
  await running.ended();
  expect(running.output().stderr).toBe('');
  expect(running.child.exitCode).toBe(0);
});
