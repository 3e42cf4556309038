// Whether `seb current` says what the metadata service announces, or why nothing can be said.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { approving, documentWith } from '../support/approvals.ts';
import { runCommandLine } from '../support/command-line.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/imds/${name}`, import.meta.url), 'utf8');

const current = (url: string, ...more: string[]) => runCommandLine(['current', '--endpoint', url, ...more]);

it('prints each announced event with the names of the wire in our spelling', async () => {
  await using imds = await startImdsEmulator();
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  const { exitCode, stdout } = await current(imds.url, '-o', 'json');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    expect.objectContaining({
      eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      eventType: 'Freeze',
      eventStatus: 'Scheduled',
      notBefore: '2022-04-11T22:26:58Z',
      resources: ['WestNO_0', 'WestNO_1'],
      durationSeconds: 5,
    }),
  ]);
});

it('prints an empty list when nothing is announced', async () => {
  await using imds = await startImdsEmulator();
  expect(await current(imds.url, '-o', 'json')).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
});

/** What a file with these settings says of the approval of one event, to a VM of that name. */
async function approvalOf(event: object, settings: object, vm = 'WestNO_0') {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator({ vms: [{ name: vm }] });
  imds.show(documentWith(event));
  const file = join(directory.path, 'agent.yaml');
  writeFileSync(
    file,
    JSON.stringify({ stateDir: directory.path, imds: { endpoint: imds.url }, ...settings }),
  );
  const { exitCode, stdout } = await runCommandLine(['current', '-c', file, '-o', 'json']);
  expect([exitCode, imds.approvals]).toEqual([0, []]);
  const [row] = JSON.parse(stdout);
  return [row.approver, row.approval];
}

const two = { Resources: ['WestNO_0', 'WestNO_1'] };
const turned = { Resources: ['WestNO_1', 'WestNO_0'] };
const afterHooks = {
  approval: { enabled: true, rules: [{ action: 'afterHooks' }] },
  hooks: [{ on: 'prepare', types: ['reboot'], command: ['/bin/true'] }],
};

it.each<[string, object, object, string, string]>([
  ['approval is off', {}, {}, 'this VM', 'approval is off'],
  ['a rule approves it', {}, approving(), 'this VM', 'approves at once (rule 1)'],
  ['no rule fits', { EventSource: 'Platform' }, approving(), 'this VM', 'refused: no rule fits'],
  ['hooks come first', {}, afterHooks, 'this VM', 'waits for hooks (rule 1)'],
  ['its type has no hooks', { EventType: 'Freeze' }, afterHooks, 'this VM', 'approves at once (rule 1)'],
  [
    'it names others',
    { Resources: ['web1'] },
    approving(),
    'not this VM',
    'nothing: it does not name this VM',
  ],
  ['this VM is the first', two, approving(), 'the first VM named: this one', 'approves at once (rule 1)'],
  [
    'this VM is the second',
    turned,
    approving(),
    'the first VM named: WestNO_1; then the second: this one',
    'leaves it to the first VM named for up to 2 min (rule 1)',
  ],
  [
    'this VM is the third',
    { Resources: ['a', 'b', 'WestNO_0'] },
    approving(),
    'the first VM named: a, or the second',
    'nothing: the first or the second VM named does it',
  ],
  [
    'it deletes others',
    { ...two, EventType: 'Terminate' },
    approving(),
    'each VM only its own deletion',
    'refused: it deletes other VMs as well (rule 1)',
  ],
  [
    'it has started',
    { EventStatus: 'Started', NotBefore: '' },
    approving(),
    'this VM',
    'nothing to approve: it has started',
  ],
])(
  'says who may approve an event and what the rules here do: %s',
  async (_, event, settings, approver, approval) => {
    expect(await approvalOf(event, settings)).toEqual([approver, approval]);
  },
);

it('keeps the columns that scripts know in their places, and says when each event starts by itself', async () => {
  await using imds = await startImdsEmulator();
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  const [event] = JSON.parse((await current(imds.url, '-o', 'json')).stdout);
  expect(Object.keys(event)).toEqual([
    ...['eventId', 'eventType', 'eventStatus', 'eventSource', 'notBefore', 'durationSeconds'],
    ...['resources', 'description', 'approver', 'approval'],
  ]);
  expect(event.notBefore).toBe('2022-04-11T22:26:58Z');
});

it('asks for the events once, and for the name of this VM only where there are some', async () => {
  await using imds = await startImdsEmulator();
  await current(imds.url);
  expect(imds.requests).toHaveLength(1);
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  await current(imds.url);
  expect(imds.requests.map(({ path }) => path.split('?')[0])).toEqual([
    '/metadata/scheduledevents',
    '/metadata/scheduledevents',
    '/metadata/instance',
  ]);
});

it.each([
  ['an answer without a body', '', 'waking up'],
  ['an answer that is no document', '<html>', 'something else than a document'],
])('ends with 1 and explains %s', async (_, body, sentence) => {
  await using imds = await startImdsEmulator();
  imds.show(body);
  const run = await current(imds.url);
  expect(run).toMatchObject({ exitCode: 1, stdout: '' });
  expect(run.stderr).toContain(sentence);
});

it('ends with 1 when nobody answers, and with 2 when the address is none', async () => {
  expect(await current('http://127.0.0.1:1')).toMatchObject({
    exitCode: 1,
    stderr: 'seb: http://127.0.0.1:1 refuses connections\n',
  });
  expect(await current('127.0.0.1')).toMatchObject({ exitCode: 2, stdout: '' });
});
