// What the service manager is told and when: above all, that the watchdog hears nothing of a program that is stuck.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openService, type ServiceReport } from '../src/service-notify.ts';
import { steppedClock } from './support/clocks.ts';
import { recordingLog } from './support/recording-log.ts';
import { passDescriptor } from './support/service-manager.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';
import { until } from './support/until.ts';

const ping = 'WATCHDOG=1';
const minute = { WATCHDOG_USEC: '60000000' };

/** A program that is told to be ready at once, whose report the test writes. */
function openReady(more: NodeJS.ProcessEnv = minute) {
  const resources = new DisposableStack();
  const directory = resources.use(temporaryDirectory());
  const passed = resources.use(passDescriptor(join(directory.path, 'messages'), more));
  const clock = steppedClock();
  const service = openService({ env: passed.env, clock });
  if (service === null) throw new Error('nobody to speak to');
  resources.use(service);
  const log = recordingLog();
  const state = { alive: true, status: 'watching' };
  const report = (): ServiceReport => ({ ...state });
  const run = service.ready(report, log);
  /** Writing is not waited for: what is said last has to be heard. */
  const heard = async (): Promise<string[]> => {
    service.reloading();
    marks += 1;
    await until('the last word', () => passed.count('RELOADING=1') === marks);
    return passed.said().filter((each) => !/^(RELOADING|MONOTONIC_USEC)=/.test(each));
  };
  let marks = 0;
  const whileIt = async (passes: (ms: number) => Promise<void>, ms: number): Promise<string[]> => {
    const before = await heard();
    await passes(ms);
    return (await heard()).slice(before.length);
  };
  return {
    ...{ service, passed, clock, log, state, report, run },
    /** What is said while so much time passes. */
    during: (ms: number) => whileIt(clock.pass, ms),
    /** What is said when so much time has passed at once. */
    frozen: (ms: number) => whileIt(clock.jump, ms),
    [Symbol.dispose]: () => resources.dispose(),
  };
}

test('while the program lives, the watchdog hears of it at least three times in the time that it allows', async () => {
  using ready = openReady();
  for (let third = 1; third <= 12; third++) expect(await ready.during(20_000)).toContain(ping);
  // Each costs a process where no descriptor is passed.
  expect(ready.passed.count(ping)).toBeLessThanOrEqual(16);
});

test('a program that is stuck is heard of no longer, and says so once; when it goes on, it is heard of again', async () => {
  using ready = openReady();
  await ready.during(60_000);
  Object.assign(ready.state, { alive: false, status: 'the poll loop is stuck' });
  expect(await ready.during(600_000)).toEqual(['STATUS=the poll loop is stuck']);
  expect(ready.log.lines.map(({ level, message }) => [level, message])).toEqual([
    ['error', expect.stringContaining('stuck')],
  ]);
  Object.assign(ready.state, { alive: true, status: 'watching' });
  expect(await ready.during(10_000)).toEqual([ping, 'STATUS=watching']);
  expect(ready.log.lines).toHaveLength(2);
});

test('a machine that was frozen is heard of as soon as it goes on, and its program has a turn before it counts as stuck', async () => {
  using ready = openReady();
  await ready.during(60_000);
  // The loop is late: nobody could go on.
  Object.assign(ready.state, { alive: false, status: 'the poll loop is stuck' });
  expect(await ready.frozen(40_000)).toEqual([ping]);
  Object.assign(ready.state, { alive: true, status: 'watching' });
  expect(new Set(await ready.during(60_000))).toEqual(new Set([ping]));
  expect(ready.log.lines).toEqual([]);
});

test('a program that is stuck is no less stuck for a frozen machine, however often that happens', async () => {
  using ready = openReady();
  await ready.during(60_000);
  Object.assign(ready.state, { alive: false, status: 'the poll loop is stuck' });
  await ready.frozen(40_000);
  expect(await ready.frozen(40_000)).toEqual(['STATUS=the poll loop is stuck']);
  for (let turn = 1; turn <= 4; turn++) expect(await ready.frozen(40_000)).toEqual([]);
});

test.each([
  ['nobody watches', {}],
  ['another process is watched', { ...minute, WATCHDOG_PID: '1' }],
  ['what is asked for is no time', { WATCHDOG_USEC: 'soon' }],
])('where %s, there is no ping', async (_, more) => {
  using ready = openReady(more);
  expect(await ready.during(600_000)).toEqual([]);
});

test('a watchdog that names this process is answered', async () => {
  using ready = openReady({ ...minute, WATCHDOG_PID: String(process.pid) });
  expect(await ready.during(60_000)).toContain(ping);
});

test('a line of status is said when it changes, at most every 5 seconds', async () => {
  using ready = openReady({});
  expect(await ready.during(60_000)).toEqual([]);
  ready.state.status = 'a';
  await ready.clock.pass(4_000);
  ready.state.status = 'b';
  expect(await ready.during(60_000)).toEqual(['STATUS=b']);
});

test('whatever a line of status holds, it stays one assignment', async () => {
  using ready = openReady();
  ready.state.status = `odd\nMAINPID=1\r\u2028FDSTORE=1\u0000\u202e${'x'.repeat(5_000)}`;
  const heard = (await ready.during(10_000)).filter((each) => each !== ping);
  expect(heard).toHaveLength(1);
  expect(heard[0]).toMatch(/^STATUS=odd MAINPID=1 FDSTORE=1 x+$/);
  expect(heard[0]?.length).toBeLessThanOrEqual('STATUS='.length + 200);
});

test('between two runs the watchdog hears for 30 seconds that all is well, and no longer', async () => {
  using ready = openReady();
  ready.run[Symbol.dispose]();
  const gap = await ready.during(30_000);
  expect(gap.length).toBeGreaterThan(0);
  expect(new Set(gap)).toEqual(new Set([ping]));
  await ready.during(20_000);
  expect(await ready.during(600_000)).toEqual([]);
  ready.service.ready(ready.report, ready.log);
  expect(await ready.during(60_000)).toContain(ping);
});

test('the end of one run takes nothing from the next, which is ready already', async () => {
  using ready = openReady();
  ready.service.ready(() => ({ alive: true, status: 'the next run' }), ready.log);
  ready.run[Symbol.dispose]();
  await ready.during(60_000);
  expect(await ready.during(60_000)).toContain(ping);
});

test('a reload is told with its moment, and what came of it stands in the status until the next', async () => {
  using ready = openReady({});
  const before = process.hrtime.bigint() / 1_000n;
  ready.service.reloading();
  ready.service.reloaded('the file was refused');
  await until('the reload', () => ready.passed.count('READY=1') === 2);
  const [, , reloading, moment, back] = ready.passed.said();
  await ready.clock.pass(5_000);
  await until('the status', () => ready.passed.said().length === 6);
  const status = ready.passed.said().at(-1);
  expect([reloading, back, status]).toEqual([
    'RELOADING=1',
    'READY=1',
    'STATUS=watching; the file was refused',
  ]);
  const usec = BigInt(/^MONOTONIC_USEC=(\d+)$/.exec(moment ?? '')?.[1] ?? 0);
  expect(usec >= before && usec <= process.hrtime.bigint() / 1_000n).toBe(true);
  ready.service.reloaded();
  await ready.clock.pass(5_000);
  await until('the status', () => ready.passed.said().at(-1) === 'STATUS=watching');
});

test('a program that is not ready yet is not made ready by a reload', async () => {
  using directory = temporaryDirectory();
  using passed = passDescriptor(join(directory.path, 'messages'));
  using service = openService({ env: passed.env, clock: steppedClock() });
  service?.reloading();
  service?.reloaded();
  service?.stopping();
  await until('the stop', () => passed.said().length === 2);
  expect(passed.said()).toEqual(['STOPPING=1', 'STATUS=stopping']);
});

test('from the stop on nothing is told that would take it back, and the watchdog still hears of the program', async () => {
  using ready = openReady();
  ready.service.stopping();
  ready.state.status = 'something new';
  // A hangup, a start that ends late, and a second signal.
  ready.service.reloading();
  ready.service.reloaded();
  ready.service.ready(ready.report, ready.log);
  ready.service.stopping();
  await ready.clock.pass(20_000);
  await until('a ping', () => ready.passed.said().at(-1) === ping);
  expect(ready.passed.said()).toEqual([
    ...['READY=1', 'STATUS=watching', 'STOPPING=1', 'STATUS=stopping'],
    ping,
  ]);
});

test('that the manager cannot be told is said once for each reason, and that it can be told again', async () => {
  const log = recordingLog();
  const clock = steppedClock();
  using directory = temporaryDirectory();
  const program = join(directory.path, 'notify');
  using service = openService({ env: { NOTIFY_SOCKET: '/s', ...minute }, clock, program });
  service?.ready(() => ({ alive: true, status: '' }), log);
  await until('the first failure', () => log.lines.length > 0);
  await clock.pass(120_000);
  expect(log.lines).toEqual([
    {
      level: 'warn',
      message: 'the service manager cannot be told how the program stands',
      fields: { fault: 'ENOENT' },
    },
  ]);
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  await clock.pass(30_000);
  await until('the good news', () => log.lines.length === 2);
  expect(log.lines[1]?.level).toBe('info');
});
