// `seb demo` as a process: what it shows, that it adds up, and that nothing of it is left behind.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { TrailCounts } from '../../src/audit/store.ts';
import { balanceOf } from '../../src/commands/demo/balance.ts';
import { linePrinter } from '../../src/commands/demo/line.ts';
import type { TrailRecord } from '../../src/core/read-record.ts';
import { runCommandLine } from '../support/command-line.ts';
import { plainEnvironment, type RunningProcess, startNode } from '../support/process.ts';
import { projectRoot } from '../support/source-files.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { stage } from '../support/terminal.ts';

interface RunningDemo extends RunningProcess {
  readonly directory: TemporaryDirectory;
}

/** Starts the demo with a temporary directory of its own to use and to leave clean. */
function startDemo(...words: readonly string[]): RunningDemo {
  const directory = temporaryDirectory();
  const running = startNode(['src/cli.ts', 'demo', ...words], {
    cwd: projectRoot,
    env: { ...plainEnvironment(), TMPDIR: directory.path },
  });
  const end = async (): Promise<void> => {
    await running[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  };
  return { ...running, directory, [Symbol.asyncDispose]: end };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function expectNothingLeft({ directory, output }: RunningDemo): Promise<void> {
  expect(readdirSync(directory.path)).toEqual([]);
  const ports = [...output().stdout.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
  expect(await Promise.all(ports.map(isOpen))).not.toContain(true);
}

/** What was told at one place about events of one type, in order, each phase once. */
function toldAt(place: string, type: string, text: string): string[] {
  const lines = text.matchAll(new RegExp(`^ *[\\d.]+ s {2}${place} +(\\S+) +${type} `, 'gm'));
  return [...new Set([...lines].map(([, what = '']) => what))];
}

// Generous, and no faster than 150 times: the machine may be busy with other tests.
const timeout = 240_000;

describe.concurrent('the demo', { timeout }, () => {
  it('tells a live migration, a canceled reboot and an approved redeploy at every place, adds up, and leaves nothing', async () => {
    await using demo = startDemo('--speed', '150');
    expect(await demo.ended()).toBe(0);
    const { stdout, stderr } = demo.output();
    expect(stderr).toBe('');
    expect(toldAt('azure', 'Freeze', stdout)).toEqual(['scheduled', 'started', 'gone']);
    const life = ['scheduled', 'started', 'completed'];
    const byAgents = toldAt('agents', 'Freeze', stdout);
    expect(byAgents.filter((word) => life.includes(word))).toEqual(life);
    expect(byAgents).toEqual(expect.arrayContaining(['approval', 'impact']));
    // A busy machine makes the agents feel pauses of its own.
    const felt = /^(?:unfelt|paused)$/;
    const inHub = toldAt('hub', 'Freeze', stdout);
    expect(inHub.filter((word) => !felt.test(word))).toEqual([
      'scheduled',
      'refused',
      'started',
      'completed~',
    ]);
    expect(inHub.some((word) => felt.test(word))).toBe(true);
    for (const place of ['webhook', 'trail']) {
      expect(toldAt(place, 'Freeze', stdout)).toEqual(['scheduled', 'started', 'completed~']);
      expect(toldAt(place, 'Reboot', stdout)).toEqual(['scheduled', 'canceled~']);
      expect(toldAt(place, 'Redeploy', stdout)).toEqual(['scheduled', 'started', 'completed~']);
    }
    const deeds = ['preparing', 'prepared', 'approved'];
    expect(toldAt('hub', 'Redeploy', stdout).filter((word) => deeds.includes(word))).toEqual(deeds);
    expect(stdout).toMatch(
      /^Approved by the rules {7}Redeploy \w{8} by WestNO_0, once its prepare hook had succeeded$/m,
    );
    expect(stdout).not.toContain('warn:');
    expect(stdout).toMatch(/^\w{8} +Freeze +scheduled → started → completed~ +3 of 3 +3 +9 +9$/m);
    expect(stdout).toMatch(/^\w{8} +Reboot +scheduled → canceled~ +3 of 3 +3 +6 +6$/m);
    expect(stdout).toMatch(/^\w{8} +Redeploy +scheduled → started → completed~ +3 of 3 +1 +9 +3$/m);
    expect(stdout).toContain('Written down by the agents  36 records\n');
    expect(stdout).toContain('In the trail                36 records in 36 entries, from 3 agents\n');
    expect(stdout).toContain('At the webhook              18 POSTs of 18 that were due\n');
    expect(stdout).toContain('Nothing is missing and nothing came twice.');
    expect(stdout).toMatch(
      /^Its trail, checked again {4}VERIFIED 36 entries, .*, anchored up to .*anchor\.notes\.$/m,
    );
    expect(stdout).toContain('demo --vms 100');
    await expectNothingLeft(demo);
  });

  it('tells each place only after the one before it', async () => {
    await using demo = startDemo('--vms', '1', '--scenario', 'hardware-failure', '--speed', '150');
    expect(await demo.ended()).toBe(0);
    const { stdout } = demo.output();
    const places = ['azure', 'agents', 'hub', 'trail'].map((place) =>
      stdout.search(new RegExp(`s {2}${place} +started`)),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });
});

describe.concurrent('Ctrl-C', { timeout }, () => {
  it.each([
    'Scheduled Events Bridge',
    'instance metadata',
    'agent.started',
    'azure    scheduled',
    'hub      scheduled',
    'trail    started',
  ])('leaves nothing behind when it comes at "%s"', async (moment) => {
    await using demo = startDemo('--scenario', 'live-migration', '--speed', '150');
    await demo.until(moment);
    demo.child.kill('SIGINT');
    expect(await demo.ended()).toBe(130);
    expect(demo.output().stdout).toContain('\nInterrupted: all of it is stopped and removed.\n');
    expect(demo.output().stderr).toBe('');
    await expectNothingLeft(demo);
  });

  it('leaves nothing behind when it comes twice, however far the end has come by then', async () => {
    await using demo = startDemo();
    await demo.until('instance metadata');
    demo.child.kill('SIGINT');
    // Sooner, the program takes it for the same wish, which came from the terminal and from npm; later, it is over.
    await delay(300);
    demo.child.kill('SIGINT');
    expect(await demo.ended()).toBe(130);
    await expectNothingLeft(demo);
  });
});

describe('a hundred VMs', { timeout }, () => {
  it('have room on one machine, and each of them is a witness', async () => {
    await using demo = startDemo('--vms', '100', '--scenario', 'hardware-failure', '--speed', '100');
    expect(await demo.ended()).toBe(0);
    const { stdout } = demo.output();
    expect(stdout).toMatch(/^\w{8} +Reboot +started → completed~ +100 of 100 +1 +200 +2$/m);
    expect(stdout).toContain('In the trail                301 records in 301 entries, from 100 agents\n');
    await expectNothingLeft(demo);
  });
});

describe('the call', () => {
  it.each([
    [['--scenario', 'nothing'], 'There is no such scenario'],
    [['--vms', '0'], '--vms takes a number from 1 to 500'],
    [['--vms', '1.5'], '--vms takes a whole number'],
    [['--speed', '0'], '--speed takes a number'],
  ])('is refused with %j', async (words, problem) => {
    const { exitCode, stderr } = await runCommandLine(['demo', ...words]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(problem);
  });
});

describe('a line', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const line = { place: 'hub', what: 'started', event: 'Freeze c7061bac', detail: 'x'.repeat(200) } as const;

  it('is in colour and cut to fit on a terminal', () => {
    vi.stubEnv('FORCE_COLOR', undefined);
    vi.stubEnv('NO_COLOR', undefined);
    const { context, stdout } = stage({}, 80);
    linePrinter(context.stdout, performance.now())(line);
    expect(stdout.text).toContain('\u001b[35mhub     \u001b[39m');
    expect(stdout.text).toContain('…');
    expect(stripVTControlCharacters(stdout.text).trimEnd()).toHaveLength(80);
  });

  it('is plain where NO_COLOR is set', () => {
    const { context, stdout } = stage({}, 80);
    vi.stubEnv('FORCE_COLOR', undefined);
    vi.stubEnv('NO_COLOR', '1');
    linePrinter(context.stdout, performance.now())(line);
    expect(stdout.text).toBe(stripVTControlCharacters(stdout.text));
  });

  it('is plain and whole in a pipe', () => {
    vi.stubEnv('FORCE_COLOR', undefined);
    const { context, stdout } = stage({});
    linePrinter(context.stdout, performance.now())(line);
    expect(stdout.text).toMatch(/^ +0\.0 s {2}hub +started +Freeze c7061bac +x{200}\n$/);
  });
});

describe('the balance', () => {
  const event = { affected: true } as TrailRecord['event'];
  const record = (id: string, more: Partial<TrailRecord> = {}): TrailRecord =>
    ({ id, source: 'urn:uuid:1', event, ...more }) as TrailRecord;
  const counts = { entries: 2, records: 2, repeats: 0, conflicts: 0, parked: 0, events: 1, agents: 1 };
  const [started, ended] = [record('a_started'), record('a_completed')];
  const balance = (posts: readonly TrailRecord[], trail: Partial<TrailCounts> = {}, written = 2) =>
    balanceOf({
      committed: new Map([['WestNO_0', written]]),
      inHub: [started, ended],
      posts,
      trail: { ...counts, ...trail },
    });

  it('has no fault when everything arrived once, and counts what was due', () => {
    expect(balance([started, ended])).toEqual({ committed: 2, postsDue: 2, faults: [] });
  });

  it.each([
    [
      'a record that the trail lacks',
      balance([started, ended], {}, 3),
      '1 record written down by agents but missing',
    ],
    [
      'an entry that the trail lacks',
      balance([started, ended], { entries: 1 }),
      '1 record in the hub but missing',
    ],
    ['a repeat', balance([started, ended], { repeats: 2 }), '2 records in the trail more than once'],
    ['a conflict', balance([started, ended], { conflicts: 1 }), '1 record in the trail with other bytes'],
    [
      'an unreadable entry',
      balance([started, ended], { parked: 1 }),
      '1 record in the trail but not readable',
    ],
    ['a lost POST', balance([started]), '1 record missing at the webhook'],
    ['a doubled POST', balance([started, ended, ended]), '1 record at the webhook more than once'],
  ])('names %s', (_, { faults }, sentence) => {
    expect(faults).toEqual([expect.stringContaining(sentence)]);
  });

  it('expects no POST of a VM that the event does not name, and one of a VM that does not know', () => {
    const silent = record('b_started', { event: { ...event, affected: false } as TrailRecord['event'] });
    const unsure = record('c_started', { event: { ...event, affected: null } as TrailRecord['event'] });
    const about = { committed: new Map(), posts: [], trail: { ...counts, entries: 2, records: 0 } };
    expect(balanceOf({ ...about, inHub: [silent, unsure] }).postsDue).toBe(1);
  });
});
