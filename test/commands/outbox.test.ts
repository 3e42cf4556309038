// Whether a person can look after an agent's outbox from the command line.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { outboxList } from '../../src/commands/outbox-list.ts';
import { outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { runCommandLine } from '../support/command-line.ts';
import { announce, attempt, nextOf, openOutbox } from '../support/outboxes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { stage } from '../support/terminal.ts';

/** Two records for the sinks `a` and `b`: one died at `a`, the other suspended it; all waits for `b`. */
function agentWithTrouble() {
  const directory = temporaryDirectory();
  const open = openOutbox(directory.path, ['a', 'b'], { clock: systemClock });
  const [first, second] = announce(open.outbox, 2);
  const now = systemClock.now();
  attempt(open.outbox, 'a', { status: 'rejected', reason: 'http-400' }, now);
  attempt(open.outbox, 'a', { status: 'unavailable', reason: 'unauthorized' }, now);
  const file = join(directory.path, 'agent.yaml');
  writeFileSync(file, JSON.stringify({ stateDir: directory.path }));
  return {
    first: first?.id ?? '',
    second: second?.id ?? '',
    file,
    outbox: open.outbox,
    /** Runs `seb outbox …` beside the agent, which has its file open. */
    seb: (...words: string[]) => runCommandLine(['outbox', ...words, '-c', file]),
    rows: async (...words: string[]) => {
      const { stdout } = await runCommandLine(['outbox', 'list', ...words, '-c', file, '-o', 'json']);
      return JSON.parse(stdout).map(
        (row: Record<string, unknown>) => `${row['sink']} ${row['state']} ${row['reason']}`,
      );
    },
    [Symbol.dispose]: () => {
      open[Symbol.dispose]();
      directory[Symbol.dispose]();
    },
  };
}

it('lists what is not delivered, with the names that scripts rely on', async () => {
  using agent = agentWithTrouble();
  const { exitCode, stdout } = await agent.seb('list', '-o', 'jsonl');
  expect(exitCode).toBe(0);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows).toHaveLength(4);
  expect(rows[0]).toMatchObject({
    id: agent.first,
    sink: 'a',
    state: 'dead',
    attempts: 1,
    dueAt: null,
    reason: 'http-400',
  });
  expect(rows[2]).toMatchObject({ id: agent.second, sink: 'a', state: 'suspended', reason: 'unauthorized' });
  expect(rows[1].dueAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

it('narrows the list by id, sink and state, and widens it to what is settled', async () => {
  using agent = agentWithTrouble();
  expect(await agent.rows('--sink', 'a')).toEqual(['a dead http-400', 'a suspended unauthorized']);
  expect(await agent.rows('--state', 'dead', '--state', 'suspended', '--sink', 'b')).toEqual([]);
  expect(await agent.rows(agent.second, '--sink', 'b')).toEqual(['b pending null']);
  expect(await agent.rows('--before', '2000-01-01')).toEqual([]);
  await agent.seb('discard', '--sink', 'b');
  expect(await agent.rows('--sink', 'b')).toEqual([]);
  expect(await agent.rows('--sink', 'b', '--all')).toEqual([
    'b discarded discarded',
    'b discarded discarded',
  ]);
});

it('knows every state a delivery can be in, each by its name', async () => {
  using agent = agentWithTrouble();
  announce(agent.outbox, 3);
  const now = systemClock.now();
  attempt(agent.outbox, 'b', { status: 'delivered' }, now);
  await agent.seb('discard', '--sink', 'b', agent.second);
  const next = nextOf(agent.outbox, 'b');
  if (next === null) throw new Error('the third record waits');
  agent.outbox.settle([{ delivery: next.delivery, verdict: { state: 'superseded' }, attempted: false }]);
  expect(await agent.rows('--all', '--sink', 'b')).toEqual([
    'b delivered null',
    'b discarded discarded',
    'b superseded null',
    'b pending null',
    'b pending null',
  ]);
  for (const state of ['delivered', 'discarded', 'superseded']) {
    expect(await agent.rows('--state', state)).toHaveLength(1);
    for (const verb of ['retry', 'discard']) await agent.seb(verb, '--state', state);
    expect(await agent.rows('--state', state)).toHaveLength(1);
  }
  expect(await agent.rows('--sink', 'b')).toEqual(['b pending null', 'b pending null']);
  expect(await agent.rows('--state', 'suspended')).toHaveLength(4);
});

it('says how old each record is, in the words that --before takes', async () => {
  using agent = agentWithTrouble();
  const { stdout } = await agent.seb('list', '--sink', 'b');
  const ages = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t').at(-1));
  for (const age of ages) expect(age).toMatch(/^\d+[smhd]$/);
  expect(await agent.rows('--before', '1d')).toEqual([]);
  expect(await agent.rows('--before', 'now', '--sink', 'b')).toHaveLength(2);
});

it('tells a person once what each reason means and what to do about it, and programs in each row', async () => {
  using agent = agentWithTrouble();
  const { context, stdout, stderr } = stage({ config: agent.file }, 200);
  await outboxList.run(context);
  expect(stdout.text).toContain('DUE');
  expect(stderr.text.match(/http-400 \(a\): the receiver does not understand/g)).toHaveLength(1);
  expect(stderr.text.match(/unauthorized \(a\): /g)).toHaveLength(1);
  const { stdout: json } = await agent.seb('list', '-o', 'json');
  const [dead, waiting] = JSON.parse(json);
  expect([dead.advice, waiting.advice]).toEqual([expect.stringContaining('check that the URL'), null]);
  const shown = await agent.seb('show', agent.second);
  expect(JSON.parse(shown.stdout).deliveries[0].advice).toContain('the receiver does not accept');
});

it('leaves alone the file of an agent of another version', async () => {
  using agent = agentWithTrouble();
  using other = new DatabaseSync(join(dirname(agent.file), outboxFile));
  other.exec('PRAGMA user_version = 1');
  for (const words of [['list'], ['retry', '--all'], ['discard', '--all'], ['show', agent.first]]) {
    const { exitCode, stderr } = await agent.seb(...words);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('of another version of the program');
  }
  other.exec('PRAGMA user_version = 2');
  expect(await agent.rows()).toHaveLength(4);
});

it('shows a record whole, with its way to each sink', async () => {
  using agent = agentWithTrouble();
  const { exitCode, stdout } = await agent.seb('show', agent.first);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    record: { specversion: '1.0', id: agent.first },
    deliveries: [
      { sink: 'a', state: 'dead' },
      { sink: 'b', state: 'pending' },
    ],
  });
});

it('makes the agent try again what a person says', async () => {
  using agent = agentWithTrouble();
  expect(nextOf(agent.outbox, 'a')).toBeNull();
  expect((await agent.seb('retry', '--sink', 'a')).exitCode).toBe(0);
  expect(nextOf(agent.outbox, 'a')).toMatchObject({ record: { id: agent.first } });
});

it('lets go what a person says, and nothing else', async () => {
  using agent = agentWithTrouble();
  expect((await agent.seb('discard', '--sink', 'a', '--state', 'dead')).exitCode).toBe(0);
  expect(await agent.rows()).toEqual(['b pending null', 'a suspended unauthorized', 'b pending null']);
});

it.each(['retry', 'discard'])('wants to be told what to %s', async (verb) => {
  using agent = agentWithTrouble();
  const before = await agent.rows('--all');
  expect(await agent.seb(verb)).toMatchObject({ exitCode: 2, stdout: '' });
  expect(await agent.rows('--all')).toEqual(before);
  expect((await agent.seb(verb, '--all')).exitCode).toBe(0);
});

it.each([['retry'], ['discard'], ['show']])(
  'ends with 1 when %s names an id that is not there',
  async (verb) => {
    using agent = agentWithTrouble();
    expect(await agent.seb(verb, 'no-such-id')).toMatchObject({ exitCode: 1, stdout: '' });
  },
);

it('refuses a sink that neither the configuration nor the outbox has, and says which was meant', async () => {
  using agent = agentWithTrouble();
  writeFileSync(
    agent.file,
    JSON.stringify({ stateDir: join(agent.file, '..'), sinks: { ops: { type: 'stdout' } } }),
  );
  const run = await agent.seb('retry', '--sink', 'opps');
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.stderr).toContain('has a sink "opps"; did you mean "ops"?');
  expect((await agent.seb('list', '--sink', 'ops')).exitCode).toBe(0);
  expect((await agent.seb('list', '--sink', 'b')).exitCode).toBe(0);
});

it('never cuts an id short, because the other commands take it', async () => {
  using agent = agentWithTrouble();
  const { context, stdout } = stage({ config: agent.file }, 40);
  expect(await outboxList.run(context)).toBe(0);
  expect(stdout.text).toContain(`${agent.second} `);
});

it('refuses a state that there is not', async () => {
  using agent = agentWithTrouble();
  const run = await agent.seb('list', '--state', 'lost');
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.stderr).toContain(
    '--state takes pending, suspended, dead, delivered, discarded, superseded, not "lost"',
  );
});

it('says so when there is no outbox, or one that cannot be read', async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, 'agent.yaml');
  writeFileSync(file, JSON.stringify({ stateDir: directory.path }));
  const none = await runCommandLine(['outbox', 'list', '-c', file]);
  expect(none.exitCode).toBe(1);
  expect(none.stderr).toContain('there is no outbox in');
  writeFileSync(
    join(directory.path, outboxFile),
    'this is no database, and long enough to be told from an empty one',
  );
  const damaged = await runCommandLine(['outbox', 'list', '-c', file]);
  expect(damaged.exitCode).toBe(1);
  expect(damaged.stderr).toContain('it is damaged');
});
