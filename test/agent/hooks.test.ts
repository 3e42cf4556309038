// The hooks of a whole agent: when they run, what they hear, what is recorded, and what is never run.
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import {
  type HookScripts,
  hookDocument,
  hookEvent,
  hookScripts,
  hooksAmong,
  outcomesIn,
} from '../support/hooks.ts';
import { openInbox } from '../support/inbox.ts';
import { type RunningAgent, startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

interface Stage extends AsyncDisposable, HookScripts {
  readonly imds: ImdsEmulator;
  /** Starts an agent of this VM; each goes on where the last one stopped. */
  agent(settings: object): RunningAgent;
  /** Puts these events into the document. */
  show(...events: readonly object[]): void;
}

async function openStage(): Promise<Stage> {
  const resources = new AsyncDisposableStack();
  const directory = resources.use(temporaryDirectory());
  const imds = resources.use(await startImdsEmulator({ vms: [{ name: 'WestNO_0' }, { name: 'WestNO_1' }] }));
  imds.show(hookDocument());
  return {
    ...hookScripts(directory.path),
    imds,
    agent: (settings) =>
      resources.use(startAgent(join(directory.path, 'state'), imds.url, withLocal(settings, directory.path))),
    show: (...events) => imds.show(hookDocument(...events)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

// The file of the sink `local` stands beside the state directory, which does not exist yet.
const withLocal = (settings: object, directory: string): object => {
  mkdirSync(join(directory, 'state'), { recursive: true });
  return settings;
};

const outcomes = (agent: RunningAgent): string[] => outcomesIn(agent.records());
const whole = async (agent: RunningAgent, count: number): Promise<string[]> => {
  await until(`${count} hook records`, () => outcomes(agent).length >= count);
  return outcomes(agent);
};
const polls = async (imds: ImdsEmulator, count = 3): Promise<void> => {
  const before = imds.requests.length;
  await until('more polls', () => imds.requests.length >= before + count);
};

const a = hookEvent('a');
const started = { EventStatus: 'Started', NotBefore: '' };

describe.concurrent('hooks', () => {
  test('prepare for what is announced, recover from what is over, and hear of it; their records say how it went', async () => {
    await using stage = await openStage();
    const program = stage.script(
      'hook',
      'say "$1 $SEB_PHASE $SEB_EVENT_TYPE $SEB_ENDING $SEB_PREPARED"; cat; echo warn >&2; [ "$1" = one ]',
    );
    await using agent = stage.agent({
      hooks: [
        { on: 'prepare', command: [program, 'one'] },
        { on: 'recover', command: [program, 'two'] },
        { on: 'prepare', command: [program, 'never'], types: ['Freeze'] },
        { on: 'prepare', command: [program, 'never'], affected: 'others' },
      ],
    });
    stage.show(a);
    await until('the prepare', () => outcomes(agent).includes('prepare succeeded'));
    stage.show(hookEvent('a', started));
    await until('the start', () => agent.eventRecords().length === 2);
    expect(stage.said()).toEqual(['one prepare Reboot  ']);
    stage.show();
    expect(await whole(agent, 4)).toEqual([
      ...['prepare started', 'prepare succeeded', 'recover started', 'recover failed'],
    ]);
    expect(stage.said()).toEqual(['one prepare Reboot  ', 'two recover Reboot completed yes']);
    const [begun, prepared, , recovered] = hooksAmong(agent.records());
    expect(begun?.data).toMatchObject({ hook: program, exitCode: null, output: null, ending: null });
    expect(begun?.data.event).toMatchObject({ eventId: a.EventId, eventType: 'Reboot' });
    expect(prepared?.data).toMatchObject({ exitCode: 0, reason: null, outputTruncated: false });
    expect(prepared?.data.output).toContain('"description":"event a"');
    expect(prepared?.data.output).toContain('warn\n');
    expect(prepared?.data.durationMs).toBeGreaterThan(0);
    expect(recovered?.data).toMatchObject({ exitCode: 1, ending: 'completed' });
    expect(recovered?.data.event.notBefore).toMatch(/Z$/);
    expect([begun, recovered].map((record) => record?.severitytext)).toEqual(['INFO', 'ERROR']);
    await polls(stage.imds);
    expect(outcomes(agent)).toHaveLength(4);
  });

  test('run one after the other, those of the file before those of the folder, all of them though one fails', async () => {
    await using stage = await openStage();
    const program = stage.script('hook', 'say "$1 begins"; sleep 0.2; say "$1 ends"; exit 1');
    stage.script('hooks.d/rEBOOT/prepare', 'say "folder $SEB_EVENT_TYPE"');
    stage.script('hooks.d/Freeze/prepare', 'say never');
    stage.script('hooks.d/Reboot/prepare.sh', 'say never');
    await using agent = stage.agent({
      hooks: ['first', 'second'].map((word) => ({ on: 'prepare', command: [program, word] })),
      hooksDir: stage.at('hooks.d'),
    });
    stage.show(a);
    expect(await whole(agent, 6)).toEqual([
      ...['prepare started', 'prepare failed', 'prepare started', 'prepare failed'],
      ...['prepare started', 'prepare succeeded'],
    ]);
    expect(stage.said()).toEqual([
      ...['first begins', 'first ends', 'second begins', 'second ends', 'folder Reboot'],
    ]);
  });

  test('are looked for in the folder when they are due: one that came after the agent runs', async () => {
    await using stage = await openStage();
    await using agent = stage.agent({ hooksDir: stage.at('hooks.d') });
    stage.show(a);
    await until('the event', () => agent.eventRecords().length === 1);
    stage.script('late', 'say "$SEB_PHASE $SEB_PREPARED"');
    mkdirSync(stage.at('hooks.d/Reboot'), { recursive: true, mode: 0o755 });
    symlinkSync(stage.at('late'), stage.at('hooks.d/Reboot/prepare'));
    await until('the prepare', () => outcomes(agent).includes('prepare succeeded'));
    symlinkSync(stage.at('late'), stage.at('hooks.d/Reboot/recover'));
    stage.show();
    await until('the recover', () => outcomes(agent).includes('recover succeeded'));
    expect(stage.said()).toEqual(['prepare ', 'recover yes']);
  });

  test('do not prepare for an event that was first seen started, and recover from it', async () => {
    await using stage = await openStage();
    const program = stage.script('hook', 'say "$SEB_PHASE $SEB_ENDING $SEB_PREPARED"');
    const hooks = ['prepare', 'recover'].map((on) => ({ on, command: [program] }));
    await using agent = stage.agent({ hooks });
    stage.show(hookEvent('a', started));
    await until('the event', () => agent.eventRecords().length === 1);
    await polls(stage.imds);
    stage.show();
    expect(await whole(agent, 2)).toEqual(['recover started', 'recover succeeded']);
    expect(stage.said()).toEqual(['recover completed no']);
  });

  test('let notices go first: a webhook has the announcement while the prepare still runs', async () => {
    await using stage = await openStage();
    await using inbox = await openInbox();
    const program = stage.script('hook', `while [ ! -e '${stage.at('go')}' ]; do sleep 0.05; done; say done`);
    await using agent = stage.agent({
      hooks: [{ on: 'prepare', command: [program] }],
      sinks: { hook: { type: 'webhook', url: inbox.url, allowHttp: true } },
    });
    stage.show(a);
    await inbox.received(1);
    expect(JSON.parse(inbox.requests[0]?.body.toString() ?? '').type).toMatch(/event\.scheduled\.v1$/);
    await whole(agent, 1);
    expect(stage.said()).toEqual([]);
    expect(outcomes(agent)).toEqual(['prepare started']);
    stage.script('go', '');
    expect(await whole(agent, 2)).toEqual(['prepare started', 'prepare succeeded']);
  });

  test('are ended shortly before the event may start, and those behind them are not started', async () => {
    await using stage = await openStage();
    const program = stage.script('hook', 'say "$1 $SEB_TIMEOUT_SECONDS"; exec sleep 60');
    await using agent = stage.agent({
      hooks: ['first', 'second'].map((word) => ({ on: 'prepare', command: [program, word] })),
    });
    const startsAt = Math.ceil(Date.now() / 1000) * 1000 + 6_000;
    stage.show(hookEvent('a', { NotBefore: new Date(startsAt).toUTCString() }));
    expect(await whole(agent, 3)).toEqual(['prepare started', 'prepare timed-out', 'prepare not-started']);
    expect(Date.now()).toBeLessThan(startsAt);
    expect(stage.said()).toEqual([expect.stringMatching(/^first [23]$/)]);
    const [begun, ended, late] = hooksAmong(agent.records());
    expect(begun?.data.timeoutMs).toBeLessThan(4_000);
    expect(ended?.data).toMatchObject({ signal: 'SIGTERM', exitCode: null });
    expect(late?.data).toMatchObject({ reason: 'no-time-left', startedAt: null, durationMs: null });
  });

  test('of several events run side by side: a notice of half a minute does not wait for a long drain', async () => {
    await using stage = await openStage();
    const program = stage.script(
      'hook',
      'say "$SEB_EVENT_TYPE"; [ "$SEB_EVENT_TYPE" = Preempt ] || exec sleep 60',
    );
    await using agent = stage.agent({ hooks: [{ on: 'prepare', command: [program] }] });
    stage.show(a);
    await until('the drain', () => stage.said().length === 1);
    stage.show(a, hookEvent('b', { EventType: 'Preempt' }));
    await until('the other', () => outcomes(agent).includes('prepare succeeded'));
    expect(stage.said()).toEqual(['Reboot', 'Preempt']);
  });

  test('that run when the agent stops are ended within seconds, recorded, and never started again', async () => {
    await using stage = await openStage();
    const program = stage.script('hook', `trap '' TERM; say "$SEB_PHASE"; while :; do sleep 0.1; done`);
    const hooks = [{ on: 'prepare', command: [program] }];
    const first = stage.agent({ hooks });
    stage.show(a);
    await until('the hook', () => stage.said().length === 1);
    const from = Date.now();
    await first.stop();
    expect(Date.now() - from).toBeLessThan(5_000);
    await using second = stage.agent({ hooks: [...hooks, { on: 'recover', command: ['/bin/true'] }] });
    expect(await whole(second, 2)).toEqual(['prepare started', 'prepare interrupted']);
    await polls(stage.imds);
    stage.show();
    await until('the recover', () => outcomes(second).includes('recover succeeded'));
    expect(stage.said()).toEqual(['prepare']);
  });

  test('recover once though the agent was away when the event ended, and prepare once though it was started anew', async () => {
    await using stage = await openStage();
    const program = stage.script('hook', 'say "$SEB_PHASE $SEB_PREPARED"');
    const hooks = ['prepare', 'recover'].map((on) => ({ on, command: [program] }));
    const without = stage.agent({});
    stage.show(a);
    await until('the event', () => without.eventRecords().length === 1);
    await without.stop();
    for (const _ of [1, 2]) {
      const agent = stage.agent({ hooks });
      await until('the prepare', () => outcomes(agent).includes('prepare succeeded'));
      await polls(stage.imds);
      await agent.stop();
    }
    expect(stage.said()).toEqual(['prepare ']);
    stage.show();
    for (const _ of [1, 2]) {
      const agent = stage.agent({ hooks });
      await until('the recover', () => outcomes(agent).includes('recover succeeded'));
      await polls(stage.imds);
      await agent.stop();
    }
    expect(stage.said()).toEqual(['prepare ', 'recover yes']);
  });

  test('recover also when no hooks were configured while the event ended, and then say of no ending what nobody saw', async () => {
    await using stage = await openStage();
    const program = stage.script('hook', 'say "$SEB_PHASE $SEB_ENDING"');
    const hooks = ['prepare', 'recover'].map((on) => ({ on, command: [program] }));
    stage.show(a);
    const first = stage.agent({ hooks });
    await until('the prepare', () => outcomes(first).includes('prepare succeeded'));
    await first.stop();
    stage.show();
    const without = stage.agent({});
    await until('the end', () => without.eventRecords().length === 2);
    await without.stop();
    await using last = stage.agent({ hooks });
    await until('the recover', () => outcomes(last).includes('recover succeeded'));
    expect(stage.said()).toEqual(['prepare ', 'recover ']);
    expect(hooksAmong(last.records()).at(-1)?.data.ending).toBeNull();
  });

  test('begin anew for an event that comes back after its end', async () => {
    await using stage = await openStage();
    const program = stage.script('hook', 'say "$SEB_PHASE $SEB_ENDING"');
    const hooks = ['prepare', 'recover'].map((on) => ({ on, command: [program] }));
    await using agent = stage.agent({ hooks });
    for (const times of [1, 2]) {
      stage.show(a);
      await until('the prepare', () => stage.said().length === 2 * times - 1);
      stage.show();
      await until('the recover', () => stage.said().length === 2 * times);
    }
    expect(stage.said()).toEqual(['prepare ', 'recover canceled', 'prepare ', 'recover canceled']);
    await whole(agent, 8);
  });

  test('wait behind a prepare that still runs when the event is called off', async () => {
    await using stage = await openStage();
    const program = stage.script(
      'hook',
      `say "$SEB_PHASE begins"; while [ ! -e '${stage.at('go')}' ]; do sleep 0.05; done; say "$SEB_PHASE ends"`,
    );
    const hooks = ['prepare', 'recover'].map((on) => ({ on, command: [program] }));
    await using agent = stage.agent({ hooks: [...hooks, { on: 'prepare', command: ['/bin/true'] }] });
    stage.show(a);
    await until('the prepare', () => stage.said().length === 1);
    stage.show();
    await until('the end', () => agent.eventRecords().length === 2);
    await polls(stage.imds);
    stage.script('go', '');
    await until('the recover', () => outcomes(agent).includes('recover succeeded'));
    expect(stage.said()).toEqual(['prepare begins', 'prepare ends', 'recover begins', 'recover ends']);
    expect(hooksAmong(agent.records())[2]?.data).toMatchObject({
      outcome: 'not-started',
      reason: 'event-over',
    });
  });

  test('are for this VM, for others, or for both, as they say', async () => {
    await using stage = await openStage();
    const program = stage.script('hook', 'say "$1 $SEB_EVENT_TYPE $SEB_AFFECTED"');
    stage.script('hooks.d/Freeze/prepare', 'say folder');
    await using _agent = stage.agent({
      hooks: ['own', 'others', 'all'].map((affected) => ({
        on: 'prepare',
        affected,
        command: [program, affected],
      })),
      hooksDir: stage.at('hooks.d'),
    });
    stage.show(a, hookEvent('b', { EventType: 'Freeze', Resources: ['WestNO_1'] }));
    await until('four hooks', () => stage.said().length === 4);
    await polls(stage.imds);
    expect(stage.said().toSorted()).toEqual([
      'all Freeze no',
      'all Reboot yes',
      'others Freeze no',
      'own Reboot yes',
    ]);
  });

  test('are not run when others may change them, a folder on the way to them, or the folder of hooks', async () => {
    await using stage = await openStage();
    const open = stage.script('open', 'say open', 0o757);
    const inside = stage.script('loose/inside', 'say inside');
    chmodSync(stage.at('loose'), 0o775);
    stage.script('hooks.d/Reboot/prepare', 'say folder');
    chmodSync(stage.at('hooks.d'), 0o777);
    const plain = stage.script('plain', 'say plain', 0o644);
    const below = stage.script('above/below/program', 'say below');
    chmodSync(stage.at('above'), 0o775);
    const programs = [open, inside, plain, stage.at('nowhere'), below];
    await using agent = stage.agent({
      hooks: programs.map((program) => ({ on: 'prepare', command: [program] })),
      hooksDir: stage.at('hooks.d'),
    });
    stage.show(a);
    await whole(agent, 6);
    expect(hooksAmong(agent.records()).map(({ data }) => [data.outcome, data.reason])).toEqual([
      ['not-started', 'unsafe'],
      ['not-started', 'unsafe'],
      // Root may run nothing either that nobody may.
      ['not-started', 'not-executable'],
      ['not-started', 'missing'],
      ['not-started', 'unsafe'],
      ['not-started', 'unsafe'],
    ]);
    await polls(stage.imds);
    expect(outcomes(agent)).toHaveLength(6);
    expect(stage.said()).toEqual([]);
  });

  test('get nothing that could harm out of what Azure writes', async () => {
    await using stage = await openStage();
    const program = stage.script('hook', 'say "$#:$SEB_DESCRIPTION"');
    await using agent = stage.agent({
      hooks: [{ on: 'prepare', command: [program] }],
      hooksDir: stage.at('hooks.d'),
    });
    stage.script('hooks.d/Reboot/prepare', 'say never');
    stage.show(
      hookEvent('a', {
        EventType: '../hooks.d/Reboot',
        Description: `\u0000$(id)\n\`id\`; ${'x'.repeat(300_000)}`,
      }),
      hookEvent('b', { EventType: '__proto__', EventId: '__proto__', Description: null }),
    );
    await until('both', () => outcomes(agent).filter((each) => each === 'prepare succeeded').length === 2);
    const [first = '', second] = stage.said().toSorted((x, y) => y.length - x.length);
    expect(first).toMatch(/^0: \$\(id\) `id`; x{3000,}$/);
    expect(first.length).toBeLessThan(4_200);
    expect(second).toBe('0:');
  });
});
