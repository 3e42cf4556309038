// Whether a person can approve an event by hand: knowing what will happen, only where it is allowed, and written down.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test as each, expect } from 'vitest';
import { approve } from '../../src/commands/approve.ts';
import { notesBeside } from '../../src/delivery/outbox/beside.ts';
import { openOutboxForCare } from '../../src/delivery/outbox/care.ts';
import { putMeta } from '../../src/delivery/outbox/rows.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { approvalsAmong, approving, documentWith, eventId } from '../support/approvals.ts';
import { runCommandLine } from '../support/command-line.ts';
import { openOutbox } from '../support/outboxes.ts';
import { startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { stage } from '../support/terminal.ts';
import { until } from '../support/until.ts';

const test = each.concurrent;
const key = eventId.toLowerCase();

/** A VM with an agent's file and, unless told otherwise, the outbox of an agent that ran before. */
async function vm({ outbox = true, sinks = {} }: { outbox?: boolean; sinks?: object } = {}) {
  const directory = temporaryDirectory();
  const imds = await startImdsEmulator({ vms: [{ name: 'WestNO_0' }, { name: 'WestNO_1' }] });
  const file = join(directory.path, 'agent.yaml');
  const local = { type: 'file', path: join(directory.path, 'events.jsonl') };
  writeFileSync(
    file,
    JSON.stringify({ stateDir: directory.path, imds: { endpoint: imds.url }, sinks: { local, ...sinks } }),
  );
  if (outbox) {
    using opened = openOutbox(directory.path, ['local']);
    opened.outbox.notes('');
  }
  imds.show(documentWith({}));
  return {
    file,
    imds,
    path: directory.path,
    posts: () => imds.requests.filter(({ method }) => method === 'POST'),
    seb: (words: readonly string[], signal?: AbortSignal) =>
      runCommandLine(['approve', ...words, '-c', file], undefined, signal),
    note: () => {
      using database = openOutboxForCare(directory.path);
      const value = database && notesBeside(database, 'deed/approval/').get(`deed/approval/${key}`);
      return value === null || value === undefined ? null : JSON.parse(value);
    },
    change: (name: string, value: string) => {
      using database = openOutboxForCare(directory.path);
      if (database !== null) putMeta(database, name, value);
    },
    [Symbol.asyncDispose]: async () => {
      await imds[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

/** What the command is run with on a terminal at which somebody answers. */
function terminal(file: string, answer: string, options: object = {}) {
  const { context, stdout, stderr } = stage({ config: file, utc: true, ...options }, 100);
  Object.assign(stderr, { isTTY: true });
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  stdin.end(answer);
  return { context: { ...context, operands: [eventId], stdin }, stdout, stderr };
}

test('beside an agent that approves nothing itself it is sent, told with the person’s name, and known to the agent', async () => {
  await using here = await vm({ outbox: false });
  await using agent = startAgent(here.path, here.imds.url);
  await until('the event', () => agent.eventRecords().length === 1);
  const run = await here.seb([key, '--yes']);
  expect(run).toMatchObject({ exitCode: 0, stdout: `approved ${eventId}\n` });
  expect(here.imds.approvals).toMatchObject([{ eventId, vm: 'WestNO_0', accepted: true }]);
  const [told] = await until('the record', () => {
    const found = approvalsAmong(agent.records());
    return found.length > 0 && found;
  });
  expect(told).toMatchObject({
    decision: 'approved',
    reason: 'person',
    actor: { kind: 'person', name: expect.stringMatching(/./) },
    rule: null,
    elected: 'person',
    answer: { status: 200, attempts: 1 },
    observer: { vmName: 'WestNO_0' },
    agent: { instanceId: agent.eventRecords()[0]?.data.agent.instanceId },
  });
  here.imds.show(documentWith());
  await until('its end', () => agent.eventRecords().length === 2);
  expect(agent.eventRecords()[1]?.data).toMatchObject({
    transition: 'completed',
    reason: 'start-not-observed',
  });
  const sequences = agent.records().map(({ sequence }) => Number(sequence));
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
});

test('an agent that starts only afterwards knows of it as well', async () => {
  await using here = await vm();
  expect((await here.seb([key, '--yes'])).exitCode).toBe(0);
  await using agent = startAgent(here.path, here.imds.url);
  await until('both records', () => agent.records().length >= 3);
  expect(approvalsAmong(agent.records())).toMatchObject([{ decision: 'approved', reason: 'person' }]);
  const polls = here.imds.requests.length;
  await until('two polls', () => here.imds.requests.length > polls + 2);
  here.imds.show(documentWith());
  await until('its end', () => agent.eventRecords().length === 2);
  expect(agent.eventRecords()[1]?.data.transition).toBe('completed');
});

test('on a terminal it says what will happen to whom, and when it would without, before it asks', async () => {
  await using here = await vm();
  const notBefore = new Date(Date.now() + 900_000).toUTCString();
  const event = {
    EventType: 'Freeze',
    DurationInSeconds: 9,
    Resources: ['WestNO_0', 'WestNO_1'],
    NotBefore: notBefore,
  };
  here.imds.show(documentWith({ ...event, Description: 'Host\u001b[2J\u202e maintenance' }));
  const { context, stdout, stderr } = terminal(here.file, 'y\n');
  expect(await approve.run(context)).toBe(0);
  const at = new Date(notBefore).toISOString().slice(0, 19).replace('T', ' ');
  expect(stderr.text.split('\n')).toEqual([
    `Event ${eventId}: Freeze, by User: Host [2J maintenance`,
    expect.stringMatching(new RegExp(`^It starts by itself at ${at}Z, in 14 min \\d+ s\\.$`)),
    'Approved, Azure may start it at once. Each VM that it names then pauses for about 9 s: WestNO_0 (this one), WestNO_1',
    'This cannot be undone.',
    'Approve it? [y/N] ',
  ]);
  expect(stdout.text).toBe(`approved ${eventId}\n`);
});

test.each(['n\n', '\n', '', 'yesterday\n', 'no\ny\n'])(
  'the answer %j is a no: nothing is sent',
  async (answer) => {
    await using here = await vm();
    const { context, stdout, stderr } = terminal(here.file, answer);
    expect(await approve.run(context)).toBe(1);
    expect([stdout.text, here.posts(), here.note()]).toEqual(['', [], null]);
    expect(stderr.text).toContain('nothing was approved');
  },
);

test('Ctrl-C instead of an answer ends it with 130: nothing is sent', async () => {
  await using here = await vm();
  const { context, stderr } = terminal(here.file, '');
  const stopping = new AbortController();
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const run = approve.run({ ...context, stdin, signal: stopping.signal });
  await until('the question', () => stderr.text.endsWith('[y/N] '));
  stopping.abort();
  expect([await run, here.posts(), here.note()]).toEqual([130, [], null]);
});

test('where nobody can be asked it wants --yes, and asks Azure nothing without it', async () => {
  await using here = await vm();
  expect(await here.seb([eventId])).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'seb: nobody can be asked here: --yes approves without a question\n',
  });
  expect((await here.seb([eventId.slice(0, 7), '--yes'])).exitCode).toBe(2);
  expect(here.imds.requests).toEqual([]);
});

const other = { EventId: `${eventId.slice(0, 10)}0000` };

test.each<[string, readonly object[], string, string]>([
  ['names only others', [{ Resources: ['WestNO_1', 'WestNO_00'] }], key, 'does not name this VM (WestNO_0)'],
  ['has started', [{ EventStatus: 'Started', NotBefore: '' }], key, 'is Started: there is nothing left'],
  ['is due', [{ NotBefore: new Date(Date.now() - 1_000).toUTCString() }], key, 'starts by itself now'],
  [
    'deletes others',
    [{ EventType: 'Terminate', Resources: ['WestNO_0', 'WestNO_1'] }],
    key,
    'deletes other VMs',
  ],
  ['is not there', [{}], '00000000-dead', 'no event "00000000-dead" is announced'],
  ['is one of two that begin alike', [{}, other], key.slice(0, 8), '2 events begin with'],
])('an event that %s is not approved', async (_, events, words, sentence) => {
  await using here = await vm();
  here.imds.show(documentWith(...events));
  const run = await here.seb([words, '--yes']);
  expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(sentence) });
  expect([here.posts(), here.note()]).toEqual([[], null]);
});

test('the beginning of an EventId, in any case, is enough where only one has it', async () => {
  await using here = await vm();
  here.imds.show(documentWith({}, { EventId: 'D7061BAC-AFDC-4513-B24B-AA5F13A16123' }));
  expect(await here.seb([eventId.slice(0, 8), '--yes'])).toMatchObject({ exitCode: 0 });
  expect(here.imds.approvals.map((approval) => approval.eventId)).toEqual([eventId]);
});

test('the sinks that do not have its records yet are named, in the question and in the record', async () => {
  await using here = await vm({
    outbox: false,
    sinks: { dead: { type: 'webhook', url: 'http://127.0.0.1:1/', allowHttp: true } },
  });
  const dead = { type: 'webhook', url: 'http://127.0.0.1:1/', allowHttp: true };
  await using agent = startAgent(here.path, here.imds.url, { sinks: { dead } });
  await until('the event', () => agent.eventRecords().length === 1);
  const run = await here.seb([key, '--yes']);
  expect(run.stderr).toContain('These sinks do not have its records yet: dead\n');
  await until('the record', () => approvalsAmong(agent.records()).length === 1);
  expect(approvalsAmong(agent.records())[0]?.undelivered).toEqual(['dead']);
});

test('the intention is on the disk before it is sent, and Ctrl-C ends the trying with 130', async () => {
  await using here = await vm();
  here.imds.inject({ kind: 'hang' }, { path: 'approval' });
  const stopping = new AbortController();
  const run = here.seb([key, '--yes'], stopping.signal);
  await until('the request', () => here.posts().length === 1);
  expect(here.note()).toMatchObject({ state: 'sending', actor: { kind: 'person' }, event: { eventId } });
  stopping.abort();
  expect(await run).toMatchObject({ exitCode: 130, stdout: '' });
  expect(here.note()).toMatchObject({ state: 'sending' });
});

test('a refusal by the metadata service ends it with 1, and is told in a record as well', async () => {
  await using here = await vm();
  here.imds.inject({ kind: 'status', status: 403 }, { path: 'approval' });
  expect(await here.seb([key, '--yes'])).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('was not approved: the metadata service refuses it (403)'),
  });
  expect(here.note()).toMatchObject({ state: 'failed' });
  await using agent = startAgent(here.path, here.imds.url);
  await until('the record', () => approvalsAmong(agent.records()).length === 1);
  expect(approvalsAmong(agent.records())).toMatchObject([
    { decision: 'failed', reason: 'refused-by-imds', actor: { kind: 'person' }, answer: { status: 403 } },
  ]);
});

test('what a person could not approve the agent decides by its rules all the same', async () => {
  await using here = await vm();
  here.imds.inject({ kind: 'status', status: 403 }, { path: 'approval' });
  expect((await here.seb([key, '--yes'])).exitCode).toBe(1);
  await using agent = startAgent(here.path, here.imds.url, approving());
  await until('both records', () => approvalsAmong(agent.records()).length === 2);
  expect(approvalsAmong(agent.records())).toMatchObject([
    { decision: 'failed', actor: { kind: 'person' } },
    { decision: 'approved', actor: { kind: 'agent' } },
  ]);
});

test.each<[string, object]>([
  ['names more VMs by now', { Resources: ['WestNO_0', 'WestNO_1'] }],
  ['has begun by now', { EventStatus: 'Started', NotBefore: '' }],
])('a yes is not for an event that %s', async (_, change) => {
  await using here = await vm();
  const { context, stdout, stderr } = terminal(here.file, '');
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const run = approve.run({ ...context, stdin });
  await until('the question', () => stderr.text.endsWith('[y/N] '));
  here.imds.show(documentWith(change));
  stdin.end('y\n');
  expect([await run, stdout.text, here.posts(), here.note()]).toEqual([1, '', [], null]);
});

test('without an outbox, or with that of another VM, nothing is approved', async () => {
  await using without = await vm({ outbox: false });
  expect(await without.seb([key, '--yes'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('there is no outbox in'),
  });
  await using copied = await vm();
  copied.change('vmId', '00000000-0000-4000-8000-000000000000');
  expect(await copied.seb([key, '--yes'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('the outbox here is that of another VM'),
  });
  expect([without.posts(), copied.posts()]).toEqual([[], []]);
});

test('without the name of this VM nothing is approved', async () => {
  await using here = await vm();
  here.imds.inject({ kind: 'status', status: 500 }, { path: 'instance', times: 99 });
  const stopping = new AbortController();
  const run = here.seb([key, '--yes'], stopping.signal);
  await until('the question', () => here.imds.requests.some(({ path }) => path.includes('/instance')));
  stopping.abort();
  expect(await run).toMatchObject({
    exitCode: 130,
    stderr: expect.stringContaining('does not say which VM this is'),
  });
  expect(here.posts()).toEqual([]);
});

test('what was noted a month ago is forgotten, and nothing else', async () => {
  await using here = await vm();
  const at = Date.now() - 31 * 24 * 3_600_000;
  here.change('deed/approval/old', JSON.stringify({ state: 'approved', at }));
  here.change('deed/approval/new', JSON.stringify({ state: 'approved', at: Date.now() }));
  expect((await here.seb([key, '--yes'])).exitCode).toBe(0);
  using database = openOutboxForCare(here.path);
  if (database === null) throw new Error('the outbox is there');
  expect([...notesBeside(database, 'deed/approval/').keys()]).toEqual([
    `deed/approval/${key}`,
    'deed/approval/new',
  ]);
});
