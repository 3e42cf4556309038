// SIGKILL between the POST that approves and the record of it: the POST may be repeated, and is never lost.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import type { ImdsFault } from '../../src/emulators/imds/fault.ts';
import { approvalsAmong, approving, documentWith } from '../support/approvals.ts';
import { plainEnvironment, startNode } from '../support/process.ts';
import { eventsAmong, recordsIn } from '../support/running-agent.ts';
import { emulatorPlaying } from '../support/running-imds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const program = join(import.meta.dirname, '../support/agent-child.ts');
// A proxy that the environment names is none of the metadata service's business.
const env = { ...plainEnvironment(), NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1' };

const startChild = (directory: string, endpoint: string) =>
  startNode([program, directory, endpoint, JSON.stringify(approving())], { env });

const restart = {
  schedule: 'restart',
  type: 'Reboot',
  source: 'User',
  notice: '15m',
  lasts: '10m',
  vms: 'all',
};

test.concurrent.each<[string, ImdsFault, number]>([
  ['was taken without an answer is sent again', { kind: 'mute' }, 2],
  ['was not taken is sent again', { kind: 'hang' }, 1],
])('an approval that %s by the agent that comes after the killed one', async (_, fault, taken) => {
  using directory = temporaryDirectory();
  await using imds = await emulatorPlaying([restart], { vms: [{ name: 'WestNO_0' }] });
  imds.inject(fault, { path: 'approval' });
  const posts = () => imds.requests.filter(({ method }) => method === 'POST').length;
  const local = join(directory.path, 'events.jsonl');
  const approvals = () => approvalsAmong(recordsIn(local));
  {
    await using child = startChild(directory.path, imds.url);
    await until('the request', () => posts() === 1 && imds.approvals.length === taken - 1);
    child.child.kill('SIGKILL');
    await child.ended();
  }
  expect(approvals()).toEqual([]);
  await using _child = startChild(directory.path, imds.url);
  await until('the record', () => approvals().length === 1);
  expect(imds.approvals).toHaveLength(taken);
  expect(posts()).toBe(2);
  expect(approvals()).toMatchObject([{ decision: 'approved', reason: 'rule', elected: 'alone' }]);
  await until('its start', () =>
    eventsAmong(recordsIn(local)).some(({ data }) => data.transition === 'started'),
  );
});

test.concurrent('an approval whose event is gone after the kill is told as one that came to nothing', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.show(documentWith({}));
  imds.inject({ kind: 'mute' }, { path: 'approval' });
  const records = () => recordsIn(join(directory.path, 'events.jsonl'));
  {
    await using child = startChild(directory.path, imds.url);
    await until('the approval', () => imds.approvals.length === 1);
    child.child.kill('SIGKILL');
    await child.ended();
  }
  imds.show(documentWith());
  await using _child = startChild(directory.path, imds.url);
  await until('the record', () => approvalsAmong(records()).length === 1);
  expect(approvalsAmong(records())).toMatchObject([{ decision: 'failed', reason: 'gone', answer: null }]);
  expect(imds.approvals).toHaveLength(1);
  // It was told to start and is gone: it may have run.
  expect(eventsAmong(records()).map(({ data }) => data.transition)).toEqual(['scheduled', 'completed']);
});
