// SIGKILL of an agent with hooks and an approval at each step of an event's life, in each scenario that ships.
import { appendFileSync, chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HookData } from '../../src/core/deed.ts';
import type { BridgeRecord, EventData } from '../../src/core/record.ts';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { loadScenario, scenarioNames } from '../../src/emulators/imds/scenario.ts';
import { bundledChild } from '../services/support/bundled-child.ts';
import { startNode } from '../support/process.ts';
import { recordsIn } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const bundle = temporaryDirectory();
let program = '';
beforeAll(async () => {
  program = await bundledChild(join(import.meta.dirname, '../support/agent-child.ts'), bundle.path);
});
afterAll(() => bundle[Symbol.dispose]());

// So that what is scheduled waits some seconds for its start: time for several lives of an agent.
const speeds: Readonly<Record<string, number>> = {
  ...{ 'degraded-hardware': 50_000, 'spot-preempt': 20 },
  // Nothing waits for an agent in these: an event must not be over before it is back.
  ...{ canceled: 60, 'hardware-failure': 60 },
};
const usualSpeed = 100;

/** What a life of an event looks like from outside, at this moment. */
interface Look {
  /** `begin` and `end` lines of the hooks: `PHASE begin|end EVENT_ID`, with the time. */
  readonly lines: readonly {
    readonly phase: string;
    readonly step: string;
    readonly event: string;
    readonly at: number;
  }[];
  readonly records: readonly BridgeRecord[];
  readonly imds: ImdsEmulator;
}

const hookSays =
  (phase: string, step: string) =>
  ({ lines }: Look) =>
    lines.some((line) => line.phase === phase && line.step === step);
const said =
  (pattern: RegExp) =>
  ({ records }: Look) =>
    records.some(({ type }) => pattern.test(type));

const hookIsTold =
  (wanted: HookData['phase']) =>
  ({ records }: Look) =>
    hookRecords(records).some((hook) => hook.phase === wanted && isEnd(hook));

/** The steps of a life, in order; some lives leave some out. */
const steps: readonly (readonly [name: string, reached: (look: Look) => boolean])[] = [
  ['the event is announced', ({ imds }) => imds.document().includes('EventId')],
  ['it is written down', said(/\.event\.(scheduled|started)\.v1$/)],
  ['its prepare has begun', hookSays('prepare', 'begin')],
  ['its prepare has ended', hookSays('prepare', 'end')],
  ['the end of its prepare is written down', hookIsTold('prepare')],
  ['it is approved', ({ imds }) => imds.approvals.length > 0],
  ['it has started', ({ imds }) => imds.document().includes('"Started"')],
  ['it is over', said(/\.event\.(completed|canceled)\.v1$/)],
  ['its recover has begun', hookSays('recover', 'begin')],
  ['its recover has ended', hookSays('recover', 'end')],
  ['the end of its recover is written down', hookIsTold('recover')],
];

/** A program that says when it begins and ends, and which event it is for. @param lasts seconds */
function writeHook(directory: string, lasts: number): string {
  const path = join(directory, 'hook');
  const line = (step: string): string =>
    `printf '%s %s %s %s\\n' "$SEB_PHASE" ${step} "$SEB_EVENT_ID" "$(date +%s%3N)" >> '${directory}/lines'`;
  writeFileSync(path, `#!/bin/sh\n${line('begin')}\nsleep ${lasts}\n${line('end')}\n`);
  chmodSync(path, 0o700);
  appendFileSync(join(directory, 'lines'), '');
  return path;
}

const linesIn = (directory: string): Look['lines'] =>
  readFileSync(join(directory, 'lines'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [phase = '', step = '', event = '', at = ''] = line.split(' ');
      return { phase, step, event: event.toUpperCase(), at: Number(at) };
    });

/** Lives through a scenario, killed once at each of these steps as soon as it is reached. */
async function liveThrough(name: string, killedAt: readonly string[], hookLasts = 0.3) {
  using directory = temporaryDirectory();
  const hook = writeHook(directory.path, hookLasts);
  await using imds = await startImdsEmulator({ speed: speeds[name] ?? usualSpeed });
  const settings = {
    approval: { enabled: true, rules: [{ match: { resources: 'any' }, action: 'afterHooks' }] },
    hooks: ['prepare', 'recover'].map((on) => ({ on, command: [hook], timeout: '1m' })),
    heartbeatInterval: '1h',
  };
  const args = [program, join(directory.path, 'state'), imds.url, JSON.stringify(settings)];
  const local = join(directory.path, 'state', 'events.jsonl');
  const look = (): Look => ({
    lines: linesIn(directory.path),
    // A kill between a delivery and its note makes it twice: with the same id.
    records: [...new Map(recordsIn(local).map((record) => [record.id, record])).values()],
    imds,
  });
  let running = startNode(args);
  let kills = 0;
  const isDone = ({ lines, records }: Look): boolean => {
    const ended = records.filter(({ type }) => /\.event\.(completed|canceled)\.v1$/.test(type));
    const events = new Set(
      records.filter(({ type }) => type.includes('.event.')).map((each) => each.correlationid),
    );
    const recovered = hookRecords(records).filter((hook) => hook.phase === 'recover' && isEnd(hook));
    const [begun, over] = ['begin', 'end'].map((step) => lines.filter((line) => line.step === step).length);
    return (
      events.size > 0 && ended.length >= events.size && recovered.length >= events.size && begun === over
    );
  };
  try {
    await until('the first poll', () => imds.requests.length > 1, 30_000);
    const played = imds.play(await loadScenario(name, imds.vms));
    for (const [step, isReached] of steps.filter(([step]) => killedAt.includes(step))) {
      const passed = await until(
        step,
        () => {
          const seen = look();
          return isReached(seen) ? 'reached' : isDone(seen) && 'done';
        },
        60_000,
      );
      if (passed === 'done') continue;
      running.child.kill('SIGKILL');
      await running.ended();
      kills += 1;
      running = startNode(args);
    }
    await played;
    await until('every event to be over and recovered from', () => isDone(look()), 60_000);
    const polls = imds.requests.length;
    await until('a poll of the last life', () => imds.requests.length > polls + 1, 30_000);
    running.child.kill('SIGTERM');
    expect(await running.ended(), running.output().stderr).toBe(0);
    return { ...look(), approvals: imds.approvals, kills };
  } finally {
    await running[Symbol.asyncDispose]();
  }
}

const isEnd = ({ outcome }: HookData): boolean => outcome !== 'started';
const hookRecords = (records: readonly BridgeRecord[]): readonly HookData[] =>
  records.filter(({ type }) => type.endsWith('.hook.v1')).map(({ data }) => data as HookData);

/** What must be true of every life, wherever it was killed. */
function expectRight({ lines, records, approvals }: Awaited<ReturnType<typeof liveThrough>>): void {
  const told = records.filter(({ type }) => type.includes('.event.')) as readonly BridgeRecord<EventData>[];
  for (const id of new Set(told.map(({ data }) => data.event.eventId))) {
    const times = (phase: string, step: string) =>
      lines
        .filter((line) => line.event === id && line.phase === phase && line.step === step)
        .map(({ at }) => at);
    const hooks = hookRecords(records).filter(({ event }) => event.eventId === id);
    expect(times('prepare', 'begin').length, `prepares of ${id}`).toBeLessThanOrEqual(1);
    // A start that is written down is not made again: cut off right there, it is told as one that nobody saw.
    const recover = hooks.find((hook) => hook.phase === 'recover' && isEnd(hook));
    expect(times('recover', 'begin').length, `recovers of ${id}`).toBe(
      recover?.outcome === 'unknown' ? Math.min(times('recover', 'begin').length, 1) : 1,
    );
    const own = approvals.filter(({ eventId }) => eventId.toUpperCase() === id);
    const [prepared = Number.POSITIVE_INFINITY] = times('prepare', 'end');
    for (const { at } of own) expect(at, 'approved after its prepare').toBeGreaterThanOrEqual(prepared);
    for (const phase of ['prepare', 'recover']) {
      const ends = hooks.filter((hook) => hook.phase === phase && isEnd(hook));
      expect(ends.length, `ends of ${phase} of ${id}`).toBeGreaterThanOrEqual(times(phase, 'begin').length);
      expect(ends.length).toBeLessThanOrEqual(1);
    }
  }
}

const everyStep = steps.map(([name]) => name);
/** Where nothing can be cut off: no hook is in hand, or about to be. */
const betweenHooks = everyStep.filter((name) => !/^its |it is written down/.test(name));

describe('an agent that is killed', () => {
  test.concurrent.each(scenarioNames().map(({ name }) => name))(
    'at each step of %s between its hooks: each hook starts once, recover runs, and nothing is approved before its prepare has ended',
    async (name) => {
      const life = await liveThrough(name, betweenHooks);
      expect(life.kills).toBeGreaterThan(2);
      expectRight(life);
      const prepared = hookRecords(life.records).filter(
        ({ phase, outcome }) => phase === 'prepare' && outcome === 'succeeded',
      );
      const approved = new Set(life.approvals.map(({ eventId }) => eventId.toUpperCase()));
      expect([...approved].sort()).toEqual(prepared.map(({ event }) => event.eventId).sort());
    },
    180_000,
  );

  test.concurrent.each(['user-reboot', 'live-migration', 'canceled'])(
    'at each step of %s, in the middle of its hooks too: what was cut off is not begun again, and is not taken for a success',
    async (name) => {
      const life = await liveThrough(name, everyStep, 1.5);
      expectRight(life);
      expect(hookRecords(life.records).map(({ phase, outcome }) => `${phase} ${outcome}`)).toContain(
        'prepare unknown',
      );
      expect(life.approvals).toEqual([]);
    },
    180_000,
  );
});
