// SIGHUP to a real `seb agent`: what a changed, a broken and an unchanged configuration file do to it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { BridgeRecord } from '../../src/core/record.ts';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openInbox } from '../support/inbox.ts';
import { listeningPorts, openPaths } from '../support/kernel-view.ts';
import { startNode } from '../support/process.ts';
import { eventsAmong, recordsIn } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const fixture = (name: string) => readFileSync(new URL(`../fixtures/imds/${name}`, import.meta.url), 'utf8');
const [scheduled, started, empty] = [
  '04-livemigration-2-scheduled.json',
  '05-livemigration-3-started.json',
  '06-livemigration-4-empty.json',
].map(fixture) as [string, string, string];

const marker = 'MARKER-OF-A-SECRET';

type Line = Readonly<Record<string, unknown>> & { readonly msg: string; readonly level: string };

interface Change {
  readonly sinks?: object;
  readonly [setting: string]: unknown;
}

/** A real agent with a configuration file that the test rewrites; beside others it always has a file sink `local`. */
async function startReloadable(settings: Change = {}) {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  const imds = resources.use(await startImdsEmulator());
  const path = join(directory.path, 'agent.yaml');
  const at = (name: string): string => join(directory.path, name);
  const write = ({ sinks, ...change }: Change): void =>
    writeFileSync(
      path,
      JSON.stringify({
        stateDir: at('state'),
        imds: { endpoint: imds.url, pollInterval: '250ms' },
        sinks: { local: { type: 'file', path: at('events.jsonl') }, ...sinks },
        ...change,
      }),
    );
  write(settings);
  const running = resources.use(startNode([cli, 'agent', '-c', path]));
  await running.until('the agent starts');
  const lines = (): Line[] =>
    running
      .output()
      .stderr.split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line);
  return {
    ...{ imds, path, at, write, running, lines },
    hangUp: () => running.child.kill('SIGHUP'),
    said: (message: string) => lines().filter(({ msg }) => msg.includes(message)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const starts = (records: readonly BridgeRecord[]) =>
  records
    .filter(({ type }) => type.includes('agent.started'))
    .map(({ data }) => (data as { cause: string }).cause);
const polls = (imds: ImdsEmulator) => imds.requests.filter(({ path }) => path.includes('/scheduledevents'));

test('a changed file is taken up in the same process: its sinks, its state directory, its level, its status', async () => {
  await using agent = await startReloadable();
  await until('the first record', () => recordsIn(agent.at('events.jsonl')).length === 1);
  expect(listeningPorts(agent.running.child.pid ?? 0)).toEqual([]);
  agent.write({
    stateDir: agent.at('other-state'),
    sinks: { elsewhere: { type: 'file', path: agent.at('elsewhere.jsonl') } },
    log: { level: 'debug' },
    status: { listen: 0 },
  });
  agent.hangUp();
  await until('the new sink to be used', () => recordsIn(agent.at('elsewhere.jsonl')).length === 1);
  await until('the old sink to be used', () => recordsIn(agent.at('events.jsonl')).length === 2);
  expect(starts(recordsIn(agent.at('events.jsonl')))).toEqual(['start', 'reload']);
  expect(starts(recordsIn(agent.at('elsewhere.jsonl')))).toEqual(['reload']);
  const [served] = await until('the status', () => {
    const found = agent.said('the status is served');
    return found.length > 0 && found;
  });
  const ready = await fetch(`http://${served?.['address']}/readyz`);
  expect(await ready.json()).toMatchObject({ sinks: { elsewhere: { state: 'active' } } });
  expect(listeningPorts(agent.running.child.pid ?? 0)).toHaveLength(1);
  expect(agent.lines().some(({ level }) => level === 'debug')).toBe(true);
  // And back again: nothing listens any more.
  agent.write({});
  agent.hangUp();
  await until('another run', () => starts(recordsIn(agent.at('events.jsonl'))).length === 3);
  expect(recordsIn(agent.at('elsewhere.jsonl'))).toHaveLength(1);
  expect(listeningPorts(agent.running.child.pid ?? 0)).toEqual([]);
  agent.running.child.kill('SIGTERM');
  expect(await agent.running.ended()).toBe(0);
});

test('a broken file changes nothing: each fault is told with its path and without a secret, and a good one works later', async () => {
  await using agent = await startReloadable();
  await until('the first record', () => recordsIn(agent.at('events.jsonl')).length === 1);
  const hook = { type: 'webhook', url: { file: marker, env: marker }, allowHttp: marker };
  agent.write({ imds: { pollInterval: marker }, sinks: { hook }, outbux: marker });
  renameSync(agent.at('events.jsonl'), agent.at('events.1'));
  const { pid = 0 } = agent.running.child;
  expect(openPaths(pid)).toContain(agent.at('events.1'));
  agent.hangUp();
  const refused = await until('the refusal', () => {
    const found = agent.said('cannot be used: the agent goes on with the one before');
    return found.length >= 4 && found;
  });
  expect(refused.map(({ level }) => level)).toEqual(refused.map(() => 'error'));
  const faults = refused.map(({ fault }) => String(fault).split(':')[0]);
  expect(faults.toSorted()).toEqual([
    '(top level)',
    'imds.pollInterval',
    'sinks.hook.allowHttp',
    'sinks.hook.url',
  ]);
  expect(agent.running.output().stderr).not.toContain(marker);
  // File sinks take up their files all the same: log rotation sends this signal too.
  await until('the old file to be let go', () => !openPaths(pid).includes(agent.at('events.1')));
  agent.imds.show(scheduled);
  await until(
    'the event in the new file',
    () => eventsAmong(recordsIn(agent.at('events.jsonl'))).length === 1,
  );
  writeFileSync(agent.path, `stateDir: [${marker}`);
  agent.hangUp();
  await until('the refusal of what is no YAML', () =>
    agent.said('cannot be used').some(({ fault }) => /line 1/.test(String(fault))),
  );
  expect(agent.said('is taken up')).toEqual([]);
  agent.write({ heartbeatInterval: '2h' });
  agent.hangUp();
  await until('the good file', () => starts(recordsIn(agent.at('events.jsonl'))).includes('reload'));
  expect(agent.running.output().stderr).not.toContain(marker);
});

test('an unchanged file opens files anew and has suspended sinks try again, but begins nothing', async () => {
  await using inbox = await openInbox({ answer: { status: 401 } });
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true };
  await using agent = await startReloadable({ sinks: { hook } });
  agent.imds.show(scheduled);
  await agent.running.until('the sink is suspended');
  await until('the event in the file', () => eventsAmong(recordsIn(agent.at('events.jsonl'))).length === 1);
  const before = recordsIn(agent.at('events.jsonl')).length;
  inbox.answer({ status: 200 });
  const asked = inbox.requests.length;
  renameSync(agent.at('events.jsonl'), agent.at('events.1'));
  // Another order and other blanks are no change.
  const { sinks, ...others } = JSON.parse(readFileSync(agent.path, 'utf8'));
  writeFileSync(agent.path, `# a comment\n${JSON.stringify({ sinks, ...others }, null, 2)}\n`);
  agent.hangUp();
  await inbox.received(asked + 1);
  // A file that was rotated away is let go at once: until then, once removed, it would keep its room on the disk.
  const { pid = 0 } = agent.running.child;
  await until('the old file to be let go', () => !openPaths(pid).includes(agent.at('events.1')));
  agent.imds.show(started);
  await until('the next event in the new file', () => recordsIn(agent.at('events.jsonl')).length === 1);
  expect(agent.said('is unchanged')).toHaveLength(1);
  expect(starts(recordsIn(agent.at('events.1')))).toEqual(['start']);
  expect(recordsIn(agent.at('events.1'))).toHaveLength(before);
});

test('an attempt that is in hand when the file changes costs no poll, and no event goes unseen or is said twice', async () => {
  await using inbox = await openInbox({ answer: { fault: 'hang' } });
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true, timeout: '6s' };
  await using agent = await startReloadable({ sinks: { hook } });
  agent.imds.show(scheduled);
  await inbox.received(1);
  // The attempt in hand takes 6 s; the run ends only with it.
  agent.write({ sinks: { hook: { ...hook, timeout: '7s' } } });
  const askedAt = Date.now();
  agent.hangUp();
  await until('the file to be taken up', () => agent.said('is taken up').length === 1);
  inbox.answer({ status: 200 });
  agent.imds.show(started);
  const records = await until('the next run', () => {
    const found = recordsIn(agent.at('events.jsonl'));
    return starts(found).length === 2 && eventsAmong(found).length === 2 && found;
  });
  const tookMs = Date.now() - askedAt;
  agent.imds.show(empty);
  const ended = await until(
    'the end of the event',
    () => eventsAmong(recordsIn(agent.at('events.jsonl')))[2],
  );
  expect(tookMs).toBeGreaterThan(4_500);
  const times = polls(agent.imds)
    .map(({ at }) => at)
    .filter((at) => at >= askedAt);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  // Both gaps would be 6 s if nobody watched while the attempt was in hand.
  expect(Math.max(...gaps)).toBeLessThan(4_500);
  const [, second] = eventsAmong(records);
  expect(Math.max(second?.data.clock.pollGapMs ?? 0, ended.data.clock.pollGapMs ?? 0)).toBeLessThan(4_500);
  // Two starts, three phases, and perhaps already what the VM felt of it.
  const sequences = recordsIn(agent.at('events.jsonl')).map(({ sequence }) => Number(sequence));
  expect(sequences).toEqual([1, 2, 3, 4, 5, 6].slice(0, Math.max(sequences.length, 5)));
  await until(
    'the webhook to have all',
    () => new Set(inbox.requests.map(({ headers }) => headers['webhook-id'])).size === 3,
  );
}, 40_000);

test('several signals at once are one, and one that comes while the last is being obeyed is not forgotten', async () => {
  await using agent = await startReloadable();
  await until('the first record', () => recordsIn(agent.at('events.jsonl')).length === 1);
  agent.write({ heartbeatInterval: '2h' });
  // A moment apart, or the system itself makes them one.
  for (let times = 0; times < 5; times += 1) {
    agent.hangUp();
    await delay(10);
  }
  await until('the new run', () => starts(recordsIn(agent.at('events.jsonl'))).length === 2);
  agent.write({ heartbeatInterval: '3h' });
  agent.hangUp();
  await until('another run', () => starts(recordsIn(agent.at('events.jsonl'))).length === 3);
  expect(agent.said('is taken up')).toHaveLength(2);
  for (let times = 0; times < 5; times += 1) {
    agent.hangUp();
    await delay(10);
  }
  await until('the answer', () => agent.said('is unchanged').length > 0);
  agent.write({});
  agent.hangUp();
  await until('whatever comes behind them', () => agent.said('is taken up').length === 3);
  // One, where nothing else keeps the machine busy.
  expect(agent.said('is unchanged').length).toBeLessThan(5);
});

test('a good file that names a directory which cannot be used leads back to the one before', async () => {
  await using agent = await startReloadable();
  await until('the first record', () => recordsIn(agent.at('events.jsonl')).length === 1);
  agent.write({ stateDir: '/dev/null/state' });
  agent.hangUp();
  await until('the way back', () => starts(recordsIn(agent.at('events.jsonl'))).length === 2);
  expect(agent.said('cannot be used: back to the one before')).toMatchObject([
    { level: 'error', reason: expect.stringContaining('/dev/null/state') },
  ]);
  agent.imds.show(scheduled);
  await until('an event', () => eventsAmong(recordsIn(agent.at('events.jsonl'))).length === 1);
});

test('SIGTERM right behind SIGHUP ends the agent with 0', async () => {
  await using agent = await startReloadable();
  agent.write({ heartbeatInterval: '2h' });
  agent.hangUp();
  agent.running.child.kill('SIGTERM');
  expect(await agent.running.ended()).toBe(0);
});
