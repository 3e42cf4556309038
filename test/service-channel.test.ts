// The ways to the service manager: a descriptor that it passed, or a small program of its own.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  openServiceChannel,
  type ServiceEnvironment,
  type ServiceMessage,
  takeServiceEnvironment,
} from '../src/service-channel.ts';
import { passDescriptor } from './support/service-manager.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';
import { until } from './support/until.ts';

/** A channel, and what came of each message. */
function open(environment: ServiceEnvironment, program?: string, programMsMax?: number) {
  const outcomes: (string | null)[] = [];
  const onOutcome = (fault: string | null): void => void outcomes.push(fault);
  const channel = openServiceChannel({ environment, onOutcome, program, programMsMax });
  const say = (message: ServiceMessage): void => channel?.say(message);
  return { channel, say, outcomes };
}

/** A program in the place of systemd-notify: it writes down how it was called, and does what `then` says. */
function openProgram(directory: string, then = '') {
  const [path, calls] = [join(directory, 'notify'), join(directory, 'calls')];
  const script = `#!/bin/sh\nprintf '%s|' begins "$NOTIFY_SOCKET" "$@" >>'${calls}'\n${then}\necho ends >>'${calls}'\n`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  const lines = (): string[] =>
    existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').slice(0, -1) : [];
  return { path, lines };
}

test('a descriptor that was passed to this process takes each message whole', async () => {
  using directory = temporaryDirectory();
  using passed = passDescriptor(join(directory.path, 'messages'));
  const { say, outcomes } = open(passed.env);
  say({ READY: '1', STATUS: 'watching' });
  say({ STOPPING: '1' });
  await until('both', () => outcomes.length === 2);
  expect(outcomes).toEqual([null, null]);
  expect(passed.said()).toEqual(['READY=1', 'STATUS=watching', 'STOPPING=1']);
});

test('without a word of a service manager there is no channel', () => {
  expect(open({}).channel).toBeNull();
  expect(open({ NOTIFY_SOCKET: '' }).channel).toBeNull();
});

test.each([
  ['for another process', { LISTEN_PID: '1' }],
  ['under another name', { LISTEN_FDNAMES: 'other' }],
  ['without a name', { LISTEN_FDNAMES: undefined }],
  ['beyond the number that was passed', { LISTEN_FDS: '0' }],
])('a descriptor %s is left alone', (_, more) => {
  using directory = temporaryDirectory();
  using passed = passDescriptor(join(directory.path, 'messages'));
  expect(open({ ...passed.env, ...more }).channel).toBeNull();
});

test('without a descriptor the program of the manager is called, with the socket and nothing else of ours', async () => {
  using directory = temporaryDirectory();
  const { path, lines } = openProgram(
    directory.path,
    `printf '%s|' "\${HOME-no home}" >>"$(dirname "$0")/calls"`,
  );
  const { say, outcomes } = open({ NOTIFY_SOCKET: '/run/there' }, path);
  say({ READY: '1', STATUS: 'two words; $HOME `x`' });
  await until('the call', () => outcomes.length === 1);
  expect(lines()).toEqual(['begins|/run/there|READY=1|STATUS=two words; $HOME `x`|no home|ends']);
});

test('while one call is under way the next wait, in order, and only the newest of what merely tells the state', async () => {
  using directory = temporaryDirectory();
  const { path, lines } = openProgram(directory.path, 'sleep 0.2');
  const { say, outcomes } = open({ NOTIFY_SOCKET: '/s' }, path);
  say({ READY: '1' });
  for (let turn = 1; turn <= 50; turn++) say({ WATCHDOG: '1', STATUS: `turn ${turn}` });
  say({ RELOADING: '1' });
  say({ READY: '1' });
  for (let turn = 51; turn <= 99; turn++) say({ STATUS: `turn ${turn}` });
  await until('the calls', () => outcomes.length === 5);
  expect(lines()).toEqual([
    'begins|/s|READY=1|ends',
    'begins|/s|WATCHDOG=1|STATUS=turn 50|ends',
    'begins|/s|RELOADING=1|ends',
    'begins|/s|READY=1|ends',
    'begins|/s|STATUS=turn 99|ends',
  ]);
});

test('a manager that takes nothing for long hears the end of the story, not its beginning', async () => {
  using directory = temporaryDirectory();
  const { path, lines } = openProgram(directory.path, 'sleep 0.02');
  const { say, outcomes } = open({ NOTIFY_SOCKET: '/s' }, path);
  for (let turn = 1; turn <= 100; turn++) say({ READY: '1', STATUS: `turn ${turn}` });
  await until('the calls', () => outcomes.length === 17);
  expect(lines().at(0)).toBe('begins|/s|READY=1|STATUS=turn 1|ends');
  expect(lines().slice(1)).toEqual(
    Array.from({ length: 16 }, (_, index) => `begins|/s|READY=1|STATUS=turn ${85 + index}|ends`),
  );
});

test('a call that hangs, fails or cannot be made is told by its code, and the next is tried all the same', async () => {
  using directory = temporaryDirectory();
  const environment = { NOTIFY_SOCKET: '/s' };
  const hanging = open(environment, openProgram(directory.path, 'exec sleep 60').path, 200);
  hanging.say({ READY: '1' });
  hanging.say({ STOPPING: '1' });
  await until('two hanging calls to be ended', () => hanging.outcomes.length === 2);
  expect(hanging.outcomes).toEqual(['SIGKILL', 'SIGKILL']);
  const failing = open(environment, openProgram(directory.path, 'exit 3').path);
  failing.say({ READY: '1' });
  const missing = open(environment, join(directory.path, 'missing'));
  missing.say({ READY: '1' });
  await until('the others', () => failing.outcomes.length + missing.outcomes.length === 2);
  expect([...failing.outcomes, ...missing.outcomes]).toEqual(['exit-code-3', 'ENOENT']);
});

test('a descriptor that does not work gives way to the program', async () => {
  using directory = temporaryDirectory();
  const { path, lines } = openProgram(directory.path);
  const closed = { LISTEN_PID: String(process.pid), LISTEN_FDS: '9999', LISTEN_FDNAMES: 'x:'.repeat(9_000) };
  const environment = { ...closed, LISTEN_FDNAMES: `${closed.LISTEN_FDNAMES}notify`, NOTIFY_SOCKET: '/s' };
  const { say, outcomes } = open(environment, path);
  say({ READY: '1' });
  await until('the call', () => outcomes.length === 1);
  expect(outcomes).toEqual([null]);
  expect(lines()).toEqual(['begins|/s|READY=1|ends']);
});

test('what is meant for this process alone is taken out of the environment of its children', () => {
  const meant = {
    ...{ NOTIFY_SOCKET: '/s', LISTEN_FDS: '1', LISTEN_FDNAMES: 'notify', LISTEN_PID: '2' },
    ...{ LISTEN_PIDFDID: '3', WATCHDOG_USEC: '4', WATCHDOG_PID: '5' },
  };
  const env: NodeJS.ProcessEnv = { ...meant, PATH: '/bin' };
  expect(takeServiceEnvironment(env)).toEqual(meant);
  expect(env).toEqual({ PATH: '/bin' });
});
