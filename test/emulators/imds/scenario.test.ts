// Scenarios: the library, files of a user's own, replayed folders, and how a play runs.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { diff, type TransitionKind } from '../../../src/core/diff.ts';
import { readDocument, type ScheduledEventsDocument } from '../../../src/core/document.ts';
import { type ImdsEmulator, startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
import { loadScenario, scenarioNames } from '../../../src/emulators/imds/scenario.ts';
import { readScenario } from '../../../src/emulators/imds/scenario-file.ts';
import { completeVm, scaleSetVms } from '../../../src/emulators/imds/vm.ts';
import { fixtureNames, fixtureText } from '../../support/documents.ts';
import { ask, documentAt, eventsPath } from '../../support/imds-client.ts';
import { emulatorPlaying } from '../../support/running-imds.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

const fleet = scaleSetVms(3).map(completeVm);

/** Plays a scenario to its end and returns every different document that a busy poller saw, in order. */
async function documentsOf(nameOrPath: string, speed: number): Promise<ScheduledEventsDocument[]> {
  await using emulator = await startImdsEmulator({ vms: scaleSetVms(3), speed });
  const seen: ScheduledEventsDocument[] = [await readAt(emulator)];
  const play = emulator.play(await loadScenario(nameOrPath, emulator.vms));
  let over = false;
  const end = play.then(() => {
    over = true;
  });
  for (let last = false; !last; await delay(10)) {
    last = over;
    const document = await readAt(emulator);
    if (JSON.stringify(document) !== JSON.stringify(seen.at(-1))) seen.push(document);
  }
  await end;
  return seen;
}

async function readAt(emulator: ImdsEmulator): Promise<ScheduledEventsDocument> {
  const reading = readDocument((await ask(emulator.url + eventsPath())).body);
  if (reading.status !== 'document') throw new Error(reading.status);
  return reading.document;
}

/** What becomes of every event: its transitions, as the agent's own rules read the documents. */
function livesIn(documents: readonly ScheduledEventsDocument[]): TransitionKind[][] {
  const lives = new Map<string, TransitionKind[]>();
  documents.slice(1).forEach((document, index) => {
    const before = documents[index] ?? document;
    const absence = { at: 0, pollGapMs: 0, rebooted: false, approved: false };
    for (const { kind, event } of diff(before, document, () => absence)) {
      lives.set(event.eventId, [...(lives.get(event.eventId) ?? []), kind]);
    }
  });
  return [...lives.values()];
}

const whole: TransitionKind[] = ['scheduled', 'started', 'completed'];
// So fast that the whole library plays in seconds: every phase is a second long at least.
const plays: readonly (readonly [string, number, TransitionKind[][]])[] = [
  ['live-migration', 1_000, [whole]],
  ['host-maintenance', 1_000, [whole, whole]],
  ['user-reboot', 1_000, [whole]],
  ['user-redeploy', 1_000, [whole]],
  ['approved-redeploy', 1_000, [whole]],
  ['spot-preempt', 200, [whole, whole]],
  ['scale-set-terminate', 300, [whole, whole]],
  ['hardware-failure', 1_000, [['started', 'completed']]],
  ['canceled', 1_000, [['scheduled', 'canceled']]],
  ['degraded-hardware', 150_000, [['scheduled', 'updated', 'started', 'completed']]],
  ['two-events', 1_000, [whole, whole]],
  // Slower: whole seconds of NotBefore must not eat up the minutes between two domains.
  ['fault-domains', 240, [whole, whole, whole]],
];

let theatre: ReadonlyMap<string, Promise<ScheduledEventsDocument[]>> | undefined;

/** The documents of a play of the library. All of them run side by side, begun by whoever asks first. */
function played(name: string): Promise<ScheduledEventsDocument[]> {
  theatre ??= new Map(plays.map(([play, speed]) => [play, documentsOf(play, speed)]));
  return theatre.get(name) ?? Promise.reject(new Error(`there is no play ${name}`));
}

describe('the library', () => {
  it('has a play in this test for every scenario, and a summary', () => {
    expect(scenarioNames().map(({ name }) => name)).toEqual(plays.map(([name]) => name).sort());
    expect(scenarioNames().filter(({ summary }) => summary.length < 10)).toEqual([]);
  });

  it.each(plays)('plays %s to the end its name promises', async (name, _, lives) => {
    const documents = await played(name);
    expect(livesIn(documents)).toEqual(lives);
    expect(documents.at(-1)?.events).toEqual([]);
  });

  it.each(plays.map(([name]) => name))('fits %s to a single VM', async (name) => {
    const [vm] = fleet;
    const scenario = await loadScenario(name, vm === undefined ? [] : [vm]);
    const events = scenario.steps.flatMap(({ action }) => (action.kind === 'schedule' ? action.events : []));
    expect(events.length).toBeGreaterThan(0);
    expect(new Set(events.flatMap(({ resources }) => resources))).toEqual(new Set(['WestNO_0']));
  });

  it('hits one fault domain after the other, never two at a time', async () => {
    const documents = await played('fault-domains');
    const hit = documents.map(({ events }) => events.filter(({ eventStatus }) => eventStatus === 'Started'));
    expect(Math.max(...hit.map((events) => events.length))).toBe(1);
    const order = hit.flatMap((events) => events.flatMap(({ resources }) => resources));
    expect([...new Set(order)]).toEqual(['WestNO_0', 'WestNO_1', 'WestNO_2']);
  });
});

describe('an event', () => {
  it('keeps its id over its life, and gets a new one when the scenario is played again', async () => {
    const twice = [...(await played('live-migration')), ...(await documentsOf('live-migration', 1_000))];
    const ids = twice.flatMap(({ events }) => events.map(({ eventId }) => eventId));
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(2);
  });

  it('changes only what a step changes', async () => {
    const event = { schedule: 'a', type: 'Freeze', duration: '5s', description: 'why', notice: '15m' };
    await using emulator = await emulatorPlaying([event, { at: '500ms', change: 'a', vms: { index: 1 } }]);
    const [before] = (await documentAt(emulator.url)).Events;
    const [after] = await until('it has changed', async () => {
      const { DocumentIncarnation, Events } = await documentAt(emulator.url);
      return DocumentIncarnation === 3 && Events;
    });
    expect(after).toEqual({ ...before, Resources: ['WestNO_1'] });
  });

  it('lets a step inject a fault and another show a document of its own', async () => {
    await using emulator = await emulatorPlaying([
      { fault: 429, retryAfter: 3, times: 2 },
      { document: { DocumentIncarnation: 7, Events: [] } },
    ]);
    expect((await ask(emulator.url + eventsPath())).headers['retry-after']).toBe('3');
    expect((await ask(emulator.url + eventsPath())).status).toBe(429);
    expect(await documentAt(emulator.url)).toEqual({ DocumentIncarnation: 7, Events: [] });
  });

  it('is announced for a second and lasts a second, however fast the play', async () => {
    await using emulator = await startImdsEmulator({ speed: 1_000_000 });
    const begun = performance.now();
    await emulator.play(await loadScenario('user-redeploy', emulator.vms));
    expect(performance.now() - begun).toBeGreaterThan(1_990);
  });

  it('stays as it is when the play is interrupted, and the play is over at once', async () => {
    await using emulator = await startImdsEmulator();
    const stop = new AbortController();
    const play = emulator.play(await loadScenario('user-reboot', emulator.vms), { signal: stop.signal });
    stop.abort();
    await play;
    expect((await documentAt(emulator.url)).Events).toEqual([]);
  });
});

describe('a file', () => {
  const problems = (text: string): string => {
    try {
      readScenario(text, 'my.yaml', fleet);
      return '';
    } catch (error) {
      return String(error);
    }
  };
  const step = (text: string) => `summary: x\nsteps:\n  - ${text}\n`;

  it.each([
    ['summary: x\nsteps: [', 'at line 2'],
    ['steps:\n  - remove: a', 'summary'],
    [step('at: 5m'), 'steps.0: Expected one of schedule, change, remove, fault, document, and only one'],
    [step('{ schedule: a, remove: a }'), 'and only one'],
    [step('{ schedule: a, type: Freeze }'), 'steps.0.notice: An event that is Scheduled needs a notice'],
    [step('{ schedule: a, type: freeze, notice: 5m }'), 'steps.0.type: Expected an event type such as'],
    [step('{ schedule: a, type: Freeze, notice: 5 }'), 'steps.0.notice: Expected a span of time such as'],
    [step('{ schedule: a, type: Freeze, notice: 5m, vm: b }'), 'there is no setting "vm" here'],
    [
      step('{ schedule: a, type: Freeze, notice: 5m, vms: { index: -1 } }'),
      'steps.0.vms.index: Expected all, first',
    ],
    [step('{ schedule: a, type: Freeze, notice: 5m, vms: { name: web1 } }'), 'the fleet has none of those'],
    [step('{ remove: a }'), 'steps.0: there is no event called "a"'],
    [step('{ fault: 200 }'), 'steps.0.fault: Expected one of warming'],
  ])('that says %j is refused with its place and what was expected', (text, problem) => {
    expect(problems(text)).toContain('my.yaml cannot be played:');
    expect(problems(text)).toContain(problem);
  });

  it('finds VMs by place, count, fault domain and name', () => {
    const resourcesFor = (vms: unknown) => {
      const event = { schedule: 'a', type: 'Freeze', notice: '5m', vms };
      const [found] = readScenario(JSON.stringify({ summary: 'x', steps: [event] }), 'x', fleet).steps;
      return found?.action.kind === 'schedule'
        ? found.action.events.flatMap(({ resources }) => resources)
        : [];
    };
    const [first, second, third] = ['WestNO_0', 'WestNO_1', 'WestNO_2'];
    expect(resourcesFor('all')).toEqual([first, second, third]);
    expect(resourcesFor('first')).toEqual([first]);
    expect(resourcesFor(2)).toEqual([first, second]);
    expect(resourcesFor(7)).toEqual([first, second, third]);
    expect(resourcesFor({ index: [2, 0] })).toEqual([first, third]);
    expect(resourcesFor({ faultDomain: 1 })).toEqual([second]);
    expect(resourcesFor({ name: 'WestNO_1' })).toEqual([second]);
  });

  it('as the documentation shows it can be played', async () => {
    const page = readFileSync(new URL('../../../docs/scenarios.md', import.meta.url), 'utf8');
    const example = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const kinds = readScenario(example, 'docs', fleet).steps.map(({ action }) => action.kind);
    expect(kinds).toEqual(['schedule', 'fault', 'change', 'remove']);
  });

  it('is loaded by its path, and a name that is nothing is answered with the names there are', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'mine.yaml');
    writeFileSync(path, step('{ schedule: a, type: Freeze, notice: 5m }'));
    expect((await loadScenario(path, fleet)).summary).toBe('x');
    await expect(loadScenario('live-migraton', fleet)).rejects.toThrow(/no such scenario.*live-migration/s);
  });
});

describe('a folder', () => {
  it('replays the documented live migration: every body to the byte, in order', async () => {
    using directory = temporaryDirectory();
    const files = fixtureNames().filter((name) => /^0[3-6]/.test(name));
    for (const file of files) {
      copyFileSync(
        fileURLToPath(new URL(`../../fixtures/imds/${file}`, import.meta.url)),
        join(directory.path, file),
      );
    }
    const documents = await documentsOf(directory.path, 400);
    expect(documents.map(({ incarnation }) => incarnation)).toEqual(['1', '2', '3', '4']);
    expect(livesIn(documents)).toEqual([['scheduled', 'started', 'completed']]);
    await using emulator = await startImdsEmulator({ speed: 3_000 });
    const begun = performance.now();
    await emulator.play(await loadScenario(directory.path, emulator.vms));
    // The last of the four stands as long as the others: 100 ms, less what the two clocks differ.
    expect(performance.now() - begun).toBeGreaterThan(390);
    expect((await ask(emulator.url + eventsPath())).body).toBe(fixtureText('06-livemigration-4-empty.json'));
  });

  it('keeps an empty answer, leaves out what is no document, and says so', async () => {
    const folder = fileURLToPath(new URL('../../fixtures/imds', import.meta.url));
    const { steps, summary } = await loadScenario(folder, fleet);
    expect(summary).toMatch(/^Replays \d+ documents; \d+ other files left out$/);
    const bodies = steps.map(({ action }) => (action.kind === 'document' ? action.body : null));
    expect(bodies).toContain(fixtureText('02-two-reboots-scheduled-incarnation-192.json'));
    expect(bodies).not.toContain(fixtureText('60-approve-request.json'));
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, '1.json'), '');
    expect((await loadScenario(directory.path, fleet)).steps[0]?.action).toEqual({
      kind: 'document',
      body: '',
    });
    const nothing = join(directory.path, 'nothing');
    mkdirSync(nothing);
    await expect(loadScenario(nothing, fleet)).rejects.toThrow(/No file \*\.json/);
  });
});
