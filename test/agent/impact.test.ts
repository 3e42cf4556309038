// What an agent says that its VM felt of an event: through restarts, reboots and moves, and when nothing was felt.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { ImpactData } from '../../src/core/deed.ts';
import type { Boot } from '../../src/core/impact.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { scaleSetVms } from '../../src/emulators/imds/vm.ts';
import { steadyClock } from '../support/clocks.ts';
import { freeze, freezeStarted, type WireEvent } from '../support/documents.ts';
import { startNode } from '../support/process.ts';
import { type RunningAgent, recordsIn, startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const own = { Resources: ['WestNO_0'], DurationInSeconds: 9 };
const inMs = (ms: number) => ({ NotBefore: new Date(Date.now() + ms).toUTCString() });
const scheduled = (ms: number): WireEvent => ({ ...freeze, ...own, ...inMs(ms) });
const started: WireEvent = { ...freezeStarted, ...own };
const boot = (id: string, startedAt = Date.now() - 60_000): Boot => ({ id, startedAt, told: true });

let incarnation = 1;
const show = (imds: ImdsEmulator, ...events: readonly WireEvent[]) => {
  incarnation += 1;
  imds.show({ DocumentIncarnation: incarnation, Events: events });
};

const isImpact = ({ type }: BridgeRecord): boolean => type.endsWith('.impact.v1');
const impactsOf = (agent: RunningAgent) => agent.records().filter(isImpact) as BridgeRecord<ImpactData>[];
const transitionsOf = (agent: RunningAgent) => agent.eventRecords().map(({ data }) => data.transition);
const said = (agent: RunningAgent, transition: string) =>
  until(transition, () => transitionsOf(agent).includes(transition as never));
const impactOf = async (agent: RunningAgent) => {
  await said(agent, 'completed');
  return (await until('the impact', () => impactsOf(agent)[0])).data;
};

/** How many measurements are kept in the agent's outbox. */
function notesIn(directory: string): number {
  using database = new DatabaseSync(join(directory, outboxFile), { readOnly: true });
  return database.prepare("SELECT key FROM meta WHERE key LIKE 'deed/impact/%'").all().length;
}

/** Waits until the agent has taken in some more answers to questions asked from now on. */
async function afterPolls(imds: ImdsEmulator, count: number): Promise<void> {
  const before = imds.requests.length;
  await until(`${count} more polls`, () => imds.requests.length > before + count);
}

describe.concurrent('an event that names this VM', () => {
  test('and that nobody felt gives one record, behind that of its end, and is forgotten', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    show(imds, scheduled(3_600_000));
    await using agent = startAgent(directory.path, imds.url, {}, { clock: steadyClock() });
    await said(agent, 'scheduled');
    expect(notesIn(directory.path)).toBe(1);
    show(imds, started);
    await said(agent, 'started');
    show(imds);
    const impact = await impactOf(agent);
    expect(notesIn(directory.path)).toBe(0);
    expect(impact).toMatchObject({ kind: 'none', advertisedSeconds: 9, pauses: [], reboot: null });
    expect(impact.measured?.lowerMs).toBe(0);
    const [completed, record] = agent.records().slice(-2);
    expect(completed?.type).toContain('event.completed');
    expect(record).toMatchObject({
      id: expect.stringMatching(/^c7061bac-afdc-4513-b24b-aa5f13a16123_impact_[0-9a-f]{12}_\d+$/),
      sequence: String(Number(completed?.sequence) + 1).padStart(20, '0'),
    });
    expect(impact.event.notBefore).not.toBeNull();
    expect(Date.parse(impact.window.from)).toBeLessThanOrEqual(Date.parse(impact.window.to));
  });

  test('and that is called off gives none, unless something was felt', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    const clock = steadyClock();
    show(imds, scheduled(100_000));
    await using agent = startAgent(directory.path, imds.url, {}, { clock });
    await said(agent, 'scheduled');
    show(imds);
    await said(agent, 'canceled');
    show(imds, scheduled(100_001));
    await until('another one', () => transitionsOf(agent).length === 3);
    clock.pass(4_000);
    await until('the pause', () => agent.log.lines.some(({ message }) => message.includes('stood still')));
    show(imds);
    const impacts = await until('an impact', () => impactsOf(agent).length > 0 && impactsOf(agent));
    expect(transitionsOf(agent)).toEqual(['scheduled', 'canceled', 'scheduled', 'canceled']);
    expect(impacts.map(({ data }) => data.kind)).toEqual(['pause']);
  });

  test('is watched once a second, four times a second when it is near, and without one there is no timer', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    const asleep: number[] = [];
    const clock: Clock = {
      ...systemClock,
      sleep: async (ms, signal) => {
        asleep.push(ms);
        await systemClock.sleep(ms, signal);
        asleep.splice(asleep.indexOf(ms), 1);
      },
    };
    const ticks = () => asleep.filter((ms) => ms === 250 || ms === 1_000);
    const odd = { imds: { pollInterval: '270ms' } };
    await using agent = startAgent(directory.path, imds.url, odd, { clock });
    await afterPolls(imds, 1);
    expect(ticks()).toEqual([]);
    expect(existsSync(join(directory.path, 'last-tick'))).toBe(false);
    show(imds, { ...scheduled(3_600_000), Resources: ['WestNO_1'] });
    await said(agent, 'scheduled');
    await afterPolls(imds, 1);
    expect(ticks()).toEqual([]);
    show(imds, scheduled(3_600_000));
    await said(agent, 'updated');
    expect(ticks()).toEqual([1_000]);
    show(imds, scheduled(119_000));
    await until('its near', () => ticks()[0] === 250);
    show(imds);
    await said(agent, 'canceled');
    await until('the last tick', () => ticks().length === 0);
  });
});

describe.concurrent('a pause', () => {
  test('right before the document that shows the event begun is the event’s', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    const clock = steadyClock();
    show(imds, scheduled(3_600_000));
    await using agent = startAgent(directory.path, imds.url, {}, { clock });
    await said(agent, 'scheduled');
    await afterPolls(imds, 3);
    clock.pass(5_000);
    show(imds, started);
    await said(agent, 'started');
    show(imds);
    const { kind, measured } = await impactOf(agent);
    expect(kind).toBe('pause');
    expect(measured?.upperMs).toBeGreaterThanOrEqual(5_000);
  });

  test('long before the event began is not the event’s', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    const clock = steadyClock();
    show(imds, scheduled(3_600_000));
    await using agent = startAgent(directory.path, imds.url, {}, { clock });
    await said(agent, 'scheduled');
    clock.pass(5_000);
    await afterPolls(imds, 4);
    show(imds, started);
    await said(agent, 'started');
    show(imds);
    expect(await impactOf(agent)).toMatchObject({ kind: 'none', pauses: [] });
  });

  test('is felt at the latest by the document that shows the event gone', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    const steady = steadyClock();
    // The timer of the ticks never goes off.
    const clock = {
      ...steady,
      sleep: (ms: number, signal: AbortSignal) => steady.sleep(ms === 250 ? 600_000 : ms, signal),
    };
    show(imds, started);
    await using agent = startAgent(directory.path, imds.url, { imds: { pollInterval: '270ms' } }, { clock });
    await said(agent, 'started');
    steady.pass(5_000);
    show(imds);
    expect(await impactOf(agent)).toMatchObject({ kind: 'pause', pauses: [{ lowerMs: expect.any(Number) }] });
  });

  test('that was felt is known to the next run', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    const clock = steadyClock();
    show(imds, started);
    {
      await using agent = startAgent(directory.path, imds.url, {}, { clock, boot: boot('one') });
      await said(agent, 'started');
      clock.pass(7_000);
      await until('the pause', () => agent.log.lines.some(({ message }) => message.includes('stood still')));
    }
    await using agent = startAgent(directory.path, imds.url, {}, { clock, boot: boot('one') });
    await afterPolls(imds, 2);
    show(imds);
    const { kind, pauses } = await impactOf(agent);
    expect(kind).toBe('pause');
    expect(pauses[0]?.upperMs).toBeGreaterThanOrEqual(7_000);
  });
});

describe.concurrent('an agent that was away', () => {
  test('for a moment says that nothing longer than that was felt', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    const runtime = { boot: boot('one'), clock: steadyClock() };
    show(imds, started);
    {
      await using agent = startAgent(directory.path, imds.url, {}, runtime);
      await said(agent, 'started');
    }
    await using agent = startAgent(directory.path, imds.url, {}, runtime);
    show(imds);
    const { kind, measured } = await impactOf(agent);
    expect(kind).toBe('none');
    expect(measured?.upperMs).toBeGreaterThanOrEqual(1_500);
  });

  test('for a minute does not know, and invents no figure', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    show(imds, started);
    {
      await using agent = startAgent(
        directory.path,
        imds.url,
        {},
        { boot: boot('one'), clock: steadyClock() },
      );
      await said(agent, 'started');
    }
    show(imds);
    const runtime = { boot: boot('one'), clock: steadyClock(60_000) };
    await using agent = startAgent(directory.path, imds.url, {}, runtime);
    expect(await impactOf(agent)).toMatchObject({
      kind: 'unknown',
      measured: null,
      pauses: [],
      reboot: null,
    });
  });
});

describe.concurrent('a reboot', () => {
  test('that stopped the agent in good order lasted no longer than the agent was away', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    show(imds, started);
    const stoppedAt = await (async () => {
      await using agent = startAgent(
        directory.path,
        imds.url,
        {},
        { boot: boot('one'), clock: steadyClock() },
      );
      await said(agent, 'started');
      return Date.now();
    })();
    const runtime = { boot: boot('two', stoppedAt + 100_000), clock: steadyClock(120_000) };
    await using agent = startAgent(directory.path, imds.url, {}, runtime);
    await afterPolls(imds, 1);
    show(imds);
    const { kind, measured, reboot } = await impactOf(agent);
    expect(kind).toBe('reboot');
    expect(measured?.lowerMs).toBe(0);
    expect(measured?.upperMs).toBeGreaterThanOrEqual(118_000);
    expect(reboot).toMatchObject({ bootIdBefore: 'one', bootIdAfter: 'two' });
  });

  test('that cut the agent off lasted as long as the bounds say, and another fault domain tells of a move', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    show(imds, started);
    const child = join(import.meta.dirname, '../support/agent-child.ts');
    let before = '';
    {
      await using running = startNode([child, directory.path, imds.url]);
      const records = () => recordsIn(join(directory.path, 'events.jsonl'));
      const seen = await until('the event', () => records().find(({ type }) => type.includes('.event.')));
      before = (seen.data as { clock: { bootId: string } }).clock.bootId;
      running.child.kill('SIGKILL');
      await running.ended();
    }
    const diedAt = Date.now();
    const [vm = { name: '' }] = scaleSetVms(1);
    await using elsewhere = await startImdsEmulator({ vms: [{ ...vm, faultDomain: '2' }] });
    show(elsewhere, started);
    const runtime = { boot: boot('another', diedAt + 100_000), clock: steadyClock(120_000) };
    // A folder on another disk tells nothing, wherever this test runs.
    const noDisk = { impact: { temporaryDisk: directory.path } };
    await using agent = startAgent(directory.path, elsewhere.url, noDisk, runtime);
    await afterPolls(elsewhere, 1);
    show(elsewhere);
    const { kind, measured, reboot, moved } = await impactOf(agent);
    expect(kind).toBe('reboot');
    expect(measured?.lowerMs).toBeGreaterThan(50_000);
    expect(measured?.lowerMs).toBeLessThanOrEqual(100_000);
    expect(measured?.upperMs).toBeGreaterThanOrEqual(120_000);
    expect(reboot).toMatchObject({ bootIdBefore: before, bootIdAfter: 'another' });
    expect(moved).toEqual({ temporaryDisk: 'unknown', faultDomain: { before: '0', after: '2' } });
  });

  test('while the event is far from beginning is not the event’s', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    show(imds, scheduled(3_600_000));
    {
      await using agent = startAgent(
        directory.path,
        imds.url,
        {},
        { boot: boot('one'), clock: steadyClock() },
      );
      await said(agent, 'scheduled');
    }
    await using agent = startAgent(directory.path, imds.url, {}, { boot: boot('two'), clock: steadyClock() });
    await afterPolls(imds, 4);
    show(imds, started);
    await said(agent, 'started');
    show(imds);
    expect(await impactOf(agent)).toMatchObject({ kind: 'none', reboot: null });
  });

  test('that is not seen to begin is the event’s when the event is gone afterwards', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    show(imds, scheduled(3_600_000));
    {
      await using agent = startAgent(
        directory.path,
        imds.url,
        {},
        { boot: boot('one'), clock: steadyClock() },
      );
      await said(agent, 'scheduled');
    }
    show(imds);
    await using agent = startAgent(directory.path, imds.url, {}, { boot: boot('two'), clock: steadyClock() });
    expect(await impactOf(agent)).toMatchObject({ kind: 'reboot' });
    expect(agent.eventRecords().at(-1)?.data.reason).toBe('start-not-observed');
  });
});

describe.concurrent('no record', () => {
  test('comes of an event that may be another VM’s, as long as this one does not know its name', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    imds.inject({ kind: 'hang' }, { path: 'instance', forMs: 60_000 });
    show(imds, started);
    await using agent = startAgent(directory.path, imds.url, {}, { clock: steadyClock() });
    await said(agent, 'started');
    show(imds);
    await said(agent, 'completed');
    await afterPolls(imds, 1);
    expect(impactsOf(agent)).toEqual([]);
  });

  test('comes of an event of another VM, and of one that stopped naming this VM', async () => {
    using directory = temporaryDirectory();
    await using imds = await startImdsEmulator();
    const others = { Resources: ['WestNO_1'] };
    show(imds, { ...started, ...others }, { ...started, EventId: 'B' });
    await using agent = startAgent(directory.path, imds.url, {}, { clock: steadyClock() });
    await until('both', () => transitionsOf(agent).length === 2);
    show(imds, { ...started, ...others }, { ...started, ...others, EventId: 'B' });
    await said(agent, 'updated');
    show(imds);
    await until('both ends', () => transitionsOf(agent).filter((kind) => kind === 'completed').length === 2);
    await afterPolls(imds, 1);
    expect(impactsOf(agent)).toEqual([]);
  });
});
