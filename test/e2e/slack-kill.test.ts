// SIGKILL of a real agent between the steps of its conversation with Slack: none is repeated, none is forgotten.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { type RunningProcess, startNode } from '../support/process.ts';
import { type SlackFault, startSlackApi } from '../support/slack-api.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

const announced = {
  EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  EventStatus: 'Scheduled',
  EventType: 'Reboot',
  ResourceType: 'VirtualMachine',
  Resources: ['WestNO_0'],
  NotBefore: new Date(Date.now() + 3_600_000).toUTCString(),
  Description: 'Host server is undergoing maintenance.',
  EventSource: 'Platform',
  DurationInSeconds: -1,
};
const begun = { ...announced, EventStatus: 'Started', NotBefore: '' };
const patienceMs = 60_000;

test('an agent killed while Slack is silent updates its message and replies once for each phase', async () => {
  using directory = temporaryDirectory();
  await using api = await startSlackApi();
  await using imds = await startImdsEmulator({ vms: [{ name: 'WestNO_0' }] });
  const file = join(directory.path, 'agent.yaml');
  const { url: apiUrl, token, channel } = api;
  writeFileSync(
    file,
    JSON.stringify({
      stateDir: join(directory.path, 'state'),
      imds: { endpoint: imds.url, pollInterval: '250ms' },
      sinks: { ops: { type: 'slack', apiUrl, token, channel, allowHttp: true } },
      log: { level: 'error' },
    }),
  );
  const start = (): RunningProcess => startNode([cli, 'agent', '-c', file]);
  const show = (incarnation: number, ...events: readonly object[]) =>
    imds.show(JSON.stringify({ DocumentIncarnation: incarnation, Events: events }));
  const called = (count: number) => until(`${count} calls`, () => api.calls.length >= count, patienceMs);
  /** Lets an agent live until so many calls have come, the last of which may never be answered. */
  const liveUntil = async (calls: number, method: string, ...faults: readonly SlackFault[]) => {
    api.fail(method, ...faults);
    await using _killed = start();
    await called(calls);
  };

  show(1);
  {
    await using agent = start();
    await until('the first document', () => imds.requests.length > 1, patienceMs);
    show(2, announced);
    await until('the message', () => api.posts.length === 1, patienceMs);
    // Not killed: until the answer is written down, nobody can know that there is a message.
    agent.child.kill('SIGTERM');
    await agent.ended();
  }
  show(3, begun);
  await liveUntil(2, 'chat.update', 'hang');
  await liveUntil(4, 'chat.postMessage', 'hang');
  await using _last = start();
  await until('the reply that was missing', () => api.posts.length === 2, patienceMs);
  show(4);
  await until('the last reply', () => api.posts.length === 3, patienceMs);

  const [post, update] = ['chat.postMessage', 'chat.update'];
  expect(api.methods).toEqual([post, update, update, post, post, update, post]);
  const [root, ...replies] = api.posts;
  expect(root).toMatchObject({ threadTs: null, edits: 2 });
  expect(replies.map(({ threadTs }) => threadTs)).toEqual([root?.ts, root?.ts]);
  expect(api.posts.map(({ text }) => /Maintenance [a-z ]+/.exec(text)?.[0])).toEqual([
    'Maintenance completed',
    'Maintenance in progress',
    'Maintenance completed',
  ]);
}, 240_000);
