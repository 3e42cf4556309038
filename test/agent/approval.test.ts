// Approvals by real agents: who sends them, when, how often, and what is written down of it.
import { test as each, expect } from 'vitest';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { scaleSetVms } from '../../src/emulators/imds/vm.ts';
import { approvalsAmong, approving, documentWith, eventId } from '../support/approvals.ts';
import { type RunningAgent, startAgent } from '../support/running-agent.ts';
import { emulatorPlaying } from '../support/running-imds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

// Most of each test is waiting: they wait side by side.
const test = each.concurrent;

const restartOfAll = {
  schedule: 'restart',
  type: 'Reboot',
  source: 'User',
  notice: '15m',
  lasts: '1500ms',
  vms: 'all',
};

const posts = (imds: ImdsEmulator) => imds.requests.filter(({ method }) => method === 'POST');
const transitions = (agent: RunningAgent) => agent.eventRecords().map(({ data }) => data.transition);
const approvals = (agent: RunningAgent) => approvalsAmong(agent.records());

/** Agents of some of the emulator's VMs, each with a directory of its own. */
function fleet(imds: ImdsEmulator, vms: readonly string[], settings: object) {
  const stack = new AsyncDisposableStack();
  const agents = vms.map((vm) => {
    const directory = temporaryDirectory();
    stack.defer(() => directory[Symbol.dispose]());
    return stack.use(startAgent(directory.path, imds.endpointOf(vm), settings));
  });
  return { agents, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('three agents of one event send exactly one POST, and the first of its VMs says so in a record', async () => {
  await using imds = await emulatorPlaying([restartOfAll], { vms: scaleSetVms(3) });
  await using three = fleet(imds, ['WestNO_2', 'WestNO_1', 'WestNO_0'], approving());
  await until('the end of it, everywhere', () =>
    three.agents.every((agent) => transitions(agent).includes('completed')),
  );
  expect(posts(imds)).toHaveLength(1);
  expect(imds.approvals).toMatchObject([{ vm: 'WestNO_0', accepted: true }]);
  const [third = [], second = [], first = []] = three.agents.map(approvals);
  expect([third, second]).toEqual([[], []]);
  expect(first).toMatchObject([
    {
      decision: 'approved',
      reason: 'rule',
      actor: { kind: 'agent', name: 'WestNO_0' },
      rule: { place: 1, action: 'approve' },
      elected: 'first',
      answer: { status: 200, attempts: 1 },
      undelivered: [],
      event: { resources: ['WestNO_0', 'WestNO_1', 'WestNO_2'] },
      observer: { vmName: 'WestNO_0' },
    },
  ]);
});

test('with the first dead, the second sends it when its time has come, and the third never', async () => {
  await using imds = await emulatorPlaying([restartOfAll], { vms: scaleSetVms(3) });
  await using two = fleet(imds, ['WestNO_1', 'WestNO_2'], approving({ secondAfter: '1s' }));
  const [second, third] = two.agents;
  const seenAt = await until('the event', () => second?.eventRecords()[0]?.time);
  await until('the end of it', () => two.agents.every((agent) => transitions(agent).includes('completed')));
  expect(imds.approvals).toMatchObject([{ vm: 'WestNO_1' }]);
  expect((imds.approvals[0]?.at ?? 0) - Date.parse(seenAt)).toBeGreaterThanOrEqual(1_000);
  expect(second && approvals(second)).toMatchObject([{ decision: 'approved', elected: 'second' }]);
  expect(third && approvals(third)).toEqual([]);
});

test('a 500 is tried again, and the record counts the attempts', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'status', status: 500 }, { path: 'approval', times: 1 });
  imds.show(documentWith({}));
  await using agent = startAgent(directory.path, imds.url, approving());
  await until('the record', () => approvals(agent).length === 1);
  expect(approvals(agent)).toMatchObject([{ decision: 'approved', answer: { status: 200, attempts: 2 } }]);
  expect(posts(imds).map(({ status }) => status)).toEqual([500, 200]);
  const [one = 0, other = 0] = posts(imds).map(({ at }) => at);
  expect(other - one).toBeGreaterThanOrEqual(950);
});

test('a data sink that is dead delays it until its time-out, and is named', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.show(documentWith({}));
  const sinks = {
    dead: { type: 'webhook', url: 'http://127.0.0.1:1/', allowHttp: true },
    chat: { type: 'slack', url: 'https://127.0.0.1:1/services/x', allowHttp: true },
  };
  await using agent = startAgent(directory.path, imds.url, {
    sinks,
    ...approving({ deliveryTimeout: '1s' }),
  });
  const seenAt = await until('the event', () => agent.eventRecords()[0]?.time);
  await until('the record', () => approvals(agent).length === 1);
  expect(approvals(agent)[0]?.decision).toBe('approved');
  expect(approvals(agent)[0]?.undelivered).toContain('dead');
  expect(approvals(agent)[0]?.undelivered).not.toContain('chat');
  expect((posts(imds)[0]?.at ?? 0) - Date.parse(seenAt)).toBeGreaterThanOrEqual(1_000);
});

test('an event that was approved and is gone before anyone saw it start is completed, not canceled', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.show(documentWith({}));
  await using agent = startAgent(directory.path, imds.url, approving());
  await until('the approval', () => approvals(agent).length === 1);
  imds.show(documentWith());
  await until('its end', () => agent.eventRecords().length === 2);
  expect(agent.eventRecords().map(({ data }) => [data.transition, data.reason])).toEqual([
    ['scheduled', 'status'],
    ['completed', 'start-not-observed'],
  ]);
});

test('an event is refused once for each reason, whatever restarts, and decided anew when it changes', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const long = { EventType: 'Freeze', DurationInSeconds: 30 };
  imds.show(documentWith(long));
  const short = approving({}, { types: ['freeze'], maxDuration: '9s' });
  const polls = () => imds.requests.filter(({ method }) => method === 'GET').length;
  for (const run of [1, 2]) {
    await using agent = startAgent(directory.path, imds.url, short);
    await until(`the refusal before run ${run} is over`, () => approvals(agent).length === 1);
    const sofar = polls();
    await until('three more polls', () => polls() > sofar + 3);
    expect(approvals(agent)).toMatchObject([
      { decision: 'refused', reason: 'no-rule', rule: null, elected: null, answer: null },
    ]);
  }
  expect(posts(imds)).toEqual([]);
  await using agent = startAgent(directory.path, imds.url, short);
  imds.show(documentWith({ ...long, DurationInSeconds: 9 }));
  await until('the approval', () => approvals(agent).length === 2);
  expect(approvals(agent)[1]).toMatchObject({ decision: 'approved', elected: 'alone' });
  expect(imds.approvals.map((approval) => approval.eventId)).toEqual([eventId]);
});

test('an approval that the metadata service refuses is told once and not sent again, whatever restarts', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'status', status: 403 }, { path: 'approval', times: 9 });
  imds.show(documentWith({}));
  for (const run of [1, 2]) {
    await using agent = startAgent(directory.path, imds.url, approving());
    await until(`the failure before run ${run} is over`, () => approvals(agent).length === 1);
    const sofar = imds.requests.length;
    await until('three more polls', () => imds.requests.length > sofar + 3);
    expect(approvals(agent)).toMatchObject([
      { decision: 'failed', reason: 'refused-by-imds', answer: { status: 403, attempts: 1 } },
    ]);
  }
  expect(posts(imds)).toHaveLength(1);
});

test.each<[string, readonly object[], string]>([
  ['leaves', [], 'canceled'],
  ['no longer names this VM', [{ Resources: ['WestNO_1'] }], 'updated'],
  [
    'becomes the deletion of others',
    [{ EventType: 'Terminate', Resources: ['WestNO_0', 'WestNO_1'] }],
    'updated',
  ],
  ['fits no rule any more', [{ EventSource: 'Platform' }], 'updated'],
])(
  'an event that %s while its approval is tried again ends the trying, and says so',
  async (_, events, change) => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    imds.inject({ kind: 'status', status: 503, retryAfter: '1' }, { path: 'approval' });
    imds.show(documentWith({}));
    await using agent = startAgent(directory.path, imds.url, approving());
    await until('the attempt', () => posts(imds).length === 1);
    imds.show(documentWith(...events));
    await until('the record', () => approvals(agent).length > 0 && transitions(agent).length === 2);
    expect(approvals(agent)[0]).toMatchObject({
      ...{ decision: 'failed', reason: 'gone', answer: { status: 503, attempts: 1 } },
    });
    const sofar = imds.requests.length;
    await until('five more polls', () => imds.requests.length > sofar + 5);
    expect(posts(imds)).toHaveLength(1);
    expect(transitions(agent)).toEqual(['scheduled', change]);
  },
);

test('an approval that may have been heard without an answer makes the event one that may have run', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'reset' }, { path: 'approval', times: 99 });
  imds.show(documentWith({}));
  await using agent = startAgent(directory.path, imds.url, approving());
  await until('the broken connection', () =>
    agent.log.lines.some(({ message }) => message.startsWith('the approval is not answered')),
  );
  imds.show(documentWith());
  await until('its end', () => transitions(agent).length === 2);
  expect(transitions(agent)).toEqual(['scheduled', 'completed']);
});

test('an event that leaves while the answer to its approval is awaited is one that may have run', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'hang' }, { path: 'approval' });
  imds.show(documentWith({}));
  await using agent = startAgent(directory.path, imds.url, approving());
  await until('the request', () => posts(imds).length === 1);
  const polls = imds.requests.length;
  await until('two more polls', () => imds.requests.length > polls + 2);
  imds.show(documentWith());
  await until('its end', () => transitions(agent).length === 2);
  expect(transitions(agent)).toEqual(['scheduled', 'completed']);
});

test('while the name of this VM is not known nothing is approved', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'status', status: 500 }, { path: 'instance', times: 2 });
  imds.show(documentWith({}));
  await using agent = startAgent(directory.path, imds.url, approving());
  await until('the approval', () => approvals(agent).length === 1);
  const known = imds.requests.find(({ path, status }) => path.includes('/instance') && status === 200);
  expect(posts(imds)[0]?.at).toBeGreaterThanOrEqual(known?.at ?? Number.POSITIVE_INFINITY);
});

test('an agent that is told to stop does not wait for an answer, and the next run sends again', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'hang' }, { path: 'approval' });
  imds.show(documentWith({}));
  {
    await using agent = startAgent(directory.path, imds.url, approving());
    await until('the request', () => posts(imds).length === 1);
    const began = performance.now();
    await agent.stop();
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(approvals(agent)).toEqual([]);
  }
  await using agent = startAgent(directory.path, imds.url, approving());
  await until('the approval', () => approvals(agent).length === 1);
  expect(imds.approvals).toHaveLength(1);
});
