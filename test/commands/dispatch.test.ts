// Whether the words on a command line reach the right command, and its end the right exit code.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { type Command, type CommandContext, defineCommand, UsageError } from '../../src/commands/command.ts';
import type { RegisteredCommand } from '../../src/commands/registry.ts';
import { agentSchema } from '../../src/config/agent.ts';
import { parseConfiguration } from '../../src/config/load.ts';
import { SecretUnreadable } from '../../src/config/secret.ts';
import { version } from '../../src/version.ts';
import { runCommandLine } from '../support/command-line.ts';

function command(name: string, more: Partial<Command> = {}): RegisteredCommand {
  const definition = defineCommand({
    name,
    summary: `Does ${name}.`,
    options: {
      config: { type: 'string', short: 'c', value: 'FILE', description: 'The file.' },
      force: { type: 'boolean', description: 'Does it anyway.' },
    },
    examples: [{ line: `${name} -c agent.yaml`, shows: 'how it is done' }],
    run: async (context) => {
      context.stdout.write(JSON.stringify({ name, ...pick(context) }));
      return 0;
    },
    ...more,
  });
  return { name, summary: definition.summary, load: async () => definition };
}

const pick = ({ options, operands }: CommandContext) => ({ options: { ...options }, operands });

const commands = [
  command('agent'),
  command('outbox', { operands: '[A] [B...]' }),
  command('outbox list', { operands: 'SINK [STATE]' }),
  command('outbox retry'),
  command('emulate imds'),
];

const fails = (error: unknown) => [command('agent', { run: () => Promise.reject(error) })];

it('runs the command with the most matching words and hands it its options and operands', async () => {
  const run = await runCommandLine(['outbox', 'list', 'ops', '-c', 'a.yaml', '--force'], commands);
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(run.stdout)).toEqual({
    name: 'outbox list',
    options: { config: 'a.yaml', force: true },
    operands: ['ops'],
  });
});

it('falls back to the shorter name when the second word is an operand', async () => {
  const run = await runCommandLine(['outbox', 'lists', '--', '--help'], commands);
  expect(JSON.parse(run.stdout)).toMatchObject({ name: 'outbox', operands: ['lists', '--help'] });
});

it('prints the version', async () => {
  expect(await runCommandLine(['--version'], commands)).toEqual({
    exitCode: 0,
    stdout: `${version}\n`,
    stderr: '',
  });
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
});

it.each([[['--help']], [['-h']], [['help']]])('lists every command for %j', async (words) => {
  const { exitCode, stdout } = await runCommandLine(words, commands);
  expect(exitCode).toBe(0);
  for (const { name, summary } of commands) expect(stdout).toMatch(new RegExp(`  ${name} +${summary}`));
});

it('says on standard error what there is, and fails, when no command is given', async () => {
  const run = await runCommandLine([], commands);
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.stderr).toContain('outbox list');
});

it('lists the commands of a group', async () => {
  const group = [command('emulate imds'), command('emulate eventhubs'), command('agent')];
  const asked = await runCommandLine(['emulate', '--help'], group);
  expect(asked).toMatchObject({ exitCode: 0, stderr: '' });
  expect(asked.stdout).toContain('emulate eventhubs');
  expect(asked.stdout).not.toContain('agent');
  expect(await runCommandLine(['emulate'], group)).toMatchObject({ exitCode: 2, stdout: '' });
});

it.each([[['outbox', 'list', '--help']], [['outbox', 'list', '-h']], [['help', 'outbox', 'list']]])(
  'prints usage, options and examples for %j',
  async (words) => {
    const { exitCode, stdout } = await runCommandLine(words, commands);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Usage: seb outbox list SINK [STATE] [OPTION]...');
    expect(stdout).toMatch(/-c, --config FILE +The file\./);
    expect(stdout).toContain('seb outbox list -c agent.yaml\n      how it is done');
  },
);

it('keeps every name of a setting apart from what is said of it, however long the name', async () => {
  const settings = Array.from(
    { length: 40 },
    (_, length) => ['n'.repeat(length + 1), 'What it is.'] as const,
  );
  const run = await runCommandLine(
    ['agent', '--help'],
    [command('agent', { settings: async () => settings })],
  );
  const said = run.stdout.slice(run.stdout.indexOf('Settings of the file:'));
  expect(said.match(/\sWhat it is\./g)).toHaveLength(settings.length);
  expect(said).not.toMatch(/nWhat/);
});

it.each([
  [['agnet'], 'did you mean "seb agent"?'],
  [['outbxo', 'list'], 'did you mean "seb outbox list"?'],
  [['emulate', 'imsd'], 'did you mean "seb emulate imds"?'],
  [['emulat'], 'did you mean "seb emulate"?'],
  [['xyzzy'], 'see "seb --help"'],
])('names what is nearest to the unknown command %j', async (words, hint) => {
  const run = await runCommandLine(words, commands);
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.stderr).toContain(hint);
});

it.each([
  [['agent', '--forse'], 'has no option --forse; did you mean --force?'],
  [['agent', '-x'], 'has no option -x'],
  [['agent', '--config'], "'-c, --config <value>' argument missing"],
  [['agent', 'now'], '"seb agent" has no use for "now"'],
  [['outbox', 'list'], '"seb outbox list" needs SINK'],
  [['outbox', 'list', 'a', 'b', 'c'], '"seb outbox list" has no use for "c"'],
])('says in one line what is wrong with %j', async (words, sentence) => {
  const run = await runCommandLine(words, commands);
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.stderr).toContain(sentence);
  expect(run.stderr.trim().split('\n')).toHaveLength(1);
});

it.each([
  ['a mistake in the call', new UsageError('give a number'), 'seb: give a number\n'],
  [
    'a secret that cannot be read',
    new SecretUnreadable('the secret at env:KEY cannot be read'),
    'seb: the secret at env:KEY cannot be read\n',
  ],
])('ends with 2 and the sentence for %s', async (_, error, stderr) => {
  expect(await runCommandLine(['agent'], fails(error))).toEqual({ exitCode: 2, stdout: '', stderr });
});

it('ends with 2 and one line for each fault of a configuration file', async () => {
  const faulty = command('agent', {
    run: async () => parseConfiguration('a: 1\nlog: { level: loud }', 'x.yaml', agentSchema(z.any())) && 0,
  });
  const run = await runCommandLine(['agent'], [faulty]);
  expect(run.exitCode).toBe(2);
  expect(run.stderr).toMatch(
    /^seb: x\.yaml cannot be used:\n {2}log\.level: .*\n {2}.*there is no setting "a" here.*\n$/,
  );
});

it('ends with 1 and never repeats the message of an error that nobody foresaw', async () => {
  const error = new RangeError(
    'POST https://hooks.example/T0/SECRET failed\n    at https://hooks.example/SECRET:1:1',
  );
  const run = await runCommandLine(['agent'], fails(error));
  expect(run).toMatchObject({ exitCode: 1, stdout: '' });
  expect(run.stderr).toMatch(/^seb: unexpected RangeError at dispatch\.test\.ts:\d+; .*report it\n$/);
});

it('names the system call and the code when the operating system refuses', async () => {
  const error = Object.assign(new Error('listen EADDRINUSE secret'), {
    code: 'EADDRINUSE',
    syscall: 'listen',
  });
  const run = await runCommandLine(['agent'], fails(error));
  expect(run).toMatchObject({ exitCode: 1, stderr: 'seb: listen failed: EADDRINUSE\n' });
});

it('survives a thrown value that is no error', async () => {
  const run = await runCommandLine(['agent'], fails('SECRET'));
  expect(run).toMatchObject({ exitCode: 1 });
  expect(run.stderr).not.toContain('SECRET');
});
