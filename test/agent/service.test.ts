// The agent under a service manager: when it is ready, what its status says, and that a stuck watch is heard of no longer.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openService } from '../../src/service-notify.ts';
import { stuckClock } from '../support/clocks.ts';
import { openInbox } from '../support/inbox.ts';
import { startAgent } from '../support/running-agent.ts';
import { type PassedDescriptor, passDescriptor, startService } from '../support/service-manager.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const scheduled = readFileSync(
  new URL('../fixtures/imds/04-livemigration-2-scheduled.json', import.meta.url),
  'utf8',
);
const ping = 'WATCHDOG=1';

/** An agent in this process by a clock that the test may stop, and all that the service manager hears of it. */
function openWatched(imds: ImdsEmulator, settings: object = {}, prepare?: (stateDir: string) => void) {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  prepare?.(join(directory.path, 'state'));
  // A ping at least every 100 ms.
  const env = { WATCHDOG_USEC: '300000' };
  const passed = resources.use(passDescriptor(join(directory.path, 'messages'), env));
  const service = openService({ env: passed.env, clock: systemClock });
  if (service !== null) resources.use(service);
  const clock = stuckClock();
  const agent = resources.use(
    startAgent(join(directory.path, 'state'), imds.url, settings, { clock, service }),
  );
  return { ...{ passed, clock, agent }, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Pings in 1.5 s: long enough for fifteen. */
async function pingsToCome(passed: PassedDescriptor): Promise<number> {
  const before = passed.count(ping);
  await delay(1_500);
  return passed.count(ping) - before;
}

const statusIs = (passed: PassedDescriptor, text: string) =>
  until(`the status "${text}"`, () => passed.said().includes(`STATUS=${text}`));

test.concurrent('a watch that is stuck is heard of no longer, although the process answers', async () => {
  await using imds = await startImdsEmulator();
  await using watched = openWatched(imds, { status: { listen: 0 } });
  const { passed, clock, agent } = watched;
  await until('pings of an agent that polls', () => passed.count(ping) > 3 && imds.requests.length > 3);
  clock.stop();
  // Behind its plan, but not for longer than a busy machine may be.
  expect(await pingsToCome(passed)).toBeGreaterThan(3);
  clock.pass(40_000);
  await statusIs(passed, 'the poll loop is stuck');
  expect(await pingsToCome(passed)).toBe(0);
  expect((await fetch(`${await agent.statusUrl()}/healthz`)).status).toBe(503);
  expect(agent.log.lines.filter(({ message }) => message.includes('stuck'))).toHaveLength(1);
});

test.concurrent('a first answer that takes two minutes is waited for, and one that takes longer than its time-out is not', async () => {
  await using imds = await startImdsEmulator();
  imds.inject({ kind: 'hang' }, { path: 'scheduledevents' });
  await using watched = openWatched(imds);
  const { passed, clock } = watched;
  await until('the first poll', () => imds.requests.some(({ path }) => path.includes('scheduledevents')));
  clock.pass(120_000);
  expect(await pingsToCome(passed)).toBeGreaterThan(3);
  clock.pass(60_000);
  await statusIs(passed, 'the poll loop is stuck');
  expect(await pingsToCome(passed)).toBe(0);
});

test.concurrent('the status says what is watched, and what keeps the agent from its work', async () => {
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  inbox.answer({ status: 404 });
  await using watched = openWatched(imds, { sinks: { hook } });
  const { passed, clock } = watched;
  await statusIs(passed, 'watching, no event');
  imds.show(scheduled);
  await statusIs(passed, 'watching, 1 event; 1 delivery queued; hook suspended (http-404)');
  imds.inject({ kind: 'status', status: 500 }, { forMs: 600_000 });
  const failing = / the metadata service is failing since \S+Z \(answers 500\)/;
  await until('the fault', () => passed.said().some((each) => failing.test(each)));
  clock.pass(70_000);
  await until('that it is not ready', () => passed.said().some((each) => /=not ready, the meta/.test(each)));
});

test.concurrent('the status says that the outbox cannot be written, and the watchdog hears of the agent all the same', async () => {
  await using imds = await startImdsEmulator();
  const prepare = (stateDir: string): void =>
    void mkdirSync(join(stateDir, 'outbox.db'), { recursive: true });
  await using watched = openWatched(imds, {}, prepare);
  await statusIs(watched.passed, 'watching, no event; not ready, the outbox cannot be written (unavailable)');
  expect(await pingsToCome(watched.passed)).toBeGreaterThan(3);
});

/** A real `seb agent` with a configuration file that the test rewrites. */
async function startReloadable(more: NodeJS.ProcessEnv = {}) {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  const imds = resources.use(await startImdsEmulator());
  const path = join(directory.path, 'agent.yaml');
  const settings = (level: string) => ({
    stateDir: join(directory.path, 'state'),
    imds: { endpoint: imds.url, pollInterval: '250ms' },
    sinks: { local: { type: 'file', path: join(directory.path, 'events.jsonl') } },
    log: { level },
  });
  const write = (text: string): void => writeFileSync(path, text);
  write(JSON.stringify(settings('info')));
  return {
    ...{ imds, write, settings },
    start: () => resources.use(startService([cli, 'agent', '-c', path], more)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

test.concurrent('a real agent is ready before its first answer, and says that it stops', async () => {
  await using reloadable = await startReloadable();
  reloadable.imds.inject({ kind: 'hang' }, { path: 'scheduledevents' });
  const agent = reloadable.start();
  await until('READY=1', () => agent.heard.some(({ text }) => text === 'READY=1'));
  expect(agent.heard[1]?.text).toMatch(/^STATUS=waiting for the first answer of the metadata service/);
  agent.signal('SIGTERM');
  expect(await agent.ended()).toBe(0);
  expect(agent.heard.slice(-2).map(({ text }) => text)).toEqual(['STOPPING=1', 'STATUS=stopping']);
});

test.concurrent('an agent whose file is wrong never says that it is ready', async () => {
  await using reloadable = await startReloadable();
  reloadable.write('{ "stateDirr": "/x" }');
  const agent = reloadable.start();
  expect(await agent.ended()).toBe(2);
  expect(agent.heard).toEqual([]);
});

test.concurrent('a reload is told from its beginning to its end, and the watchdog never waits for it', async () => {
  await using reloadable = await startReloadable({ WATCHDOG_USEC: '3000000' });
  const agent = reloadable.start();
  const readies = () => agent.heard.filter(({ text }) => text === 'READY=1').length;
  const hangUp = async (expected: number): Promise<void> => {
    agent.signal('SIGHUP');
    await until(`${expected} times READY=1`, () => readies() === expected);
  };
  await until('READY=1', () => readies() === 1);
  await hangUp(2);
  reloadable.write('{ "stateDirr": "/x" }');
  await hangUp(3);
  const refused = 'the changed configuration file was refused: see the log';
  await until('the remark', () => agent.heard.some(({ text }) => text.endsWith(refused)));
  reloadable.write(JSON.stringify(reloadable.settings('debug')));
  await hangUp(4);
  await until('a ping of the new run', () => agent.heard.at(-1)?.text.startsWith('WATCHDOG'));
  const steps = agent.heard.map(({ text }) => text.split('=')[0]).filter((name) => name !== 'WATCHDOG');
  const reload = ['RELOADING', 'MONOTONIC_USEC', 'READY'];
  expect(steps.filter((name) => name !== 'STATUS')).toEqual(['READY', ...reload, ...reload, ...reload]);
  const pings = agent.heard.filter(({ text }) => text === ping).map(({ atMs }) => atMs);
  const gaps = pings.slice(1).map((at, index) => at - (pings[index] ?? 0));
  expect(Math.max(...gaps)).toBeLessThan(3_000);
});
