// What the bridge never does to its VM or to others: through every scenario it only asks, and approves nothing.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { loadScenario, scenarioNames } from '../../src/emulators/imds/scenario.ts';
import { scaleSetVms } from '../../src/emulators/imds/vm.ts';
import { startAgent } from '../support/running-agent.ts';
import { sourceFiles } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

// So fast that the whole library plays in seconds; the longest life takes days.
const speeds: Readonly<Record<string, number>> = { 'degraded-hardware': 150_000, 'spot-preempt': 300 };

describe('an agent that lives through', () => {
  test.concurrent.each(scenarioNames().map(({ name }) => name))(
    '%s only asks: not one POST, for its own events or those of others',
    async (name) => {
      using directory = temporaryDirectory();
      await using imds = await startImdsEmulator({ vms: scaleSetVms(3), speed: speeds[name] ?? 1_000 });
      const [, second] = imds.vms;
      await using agent = startAgent(directory.path, imds.endpointOf(second?.name ?? ''));
      await until('the first poll', () => imds.requests.length > 1, 30_000);
      await imds.play(await loadScenario(name, imds.vms));
      const isOver = () =>
        agent.eventRecords().some(({ data }) => /completed|canceled/.test(data.transition));
      await until('the end of an event', isOver, 30_000);
      await agent.stop();
      expect(imds.requests.length).toBeGreaterThan(3);
      expect([...new Set(imds.requests.map(({ method }) => method))]).toEqual(['GET']);
      expect(imds.approvals).toEqual([]);
    },
    60_000,
  );
});

describe('the code of the bridge, without the emulators,', () => {
  const files = sourceFiles('src').filter(({ path }) => !path.startsWith('src/emulators/'));

  test('does not even know the words that approve an event', () => {
    expect(files.filter(({ text }) => text.includes('StartRequests')).map(({ path }) => path)).toEqual([]);
  });

  test('asks for Scheduled Events at one place, with a GET', () => {
    const [imds] = files.filter(({ path }) => path === 'src/agent/imds.ts');
    expect(imds?.code.match(/\bhttp\.[a-z]\w*\(|\bmethod\b/g)).toEqual(['http.get(']);
    const asking = files
      .filter(({ text }) => text.includes('/metadata/scheduledevents?'))
      .map(({ path }) => path);
    expect(asking).toEqual(['src/agent/imds.ts']);
  });

  test('runs no text as code, and starts no program but the one that speaks to systemd', () => {
    const powerful =
      /node:(child_process|vm|worker_threads|cluster|inspector|repl|wasi)|\beval\(|new Function\(|\bprocess\.(dlopen|binding)\b/;
    const using = files.filter(({ text }) => powerful.test(text)).map(({ path }) => path);
    expect(using).toEqual([join('src', 'service-channel.ts')]);
  });

  test('opens no server but the status page', () => {
    const opening = files
      .filter(({ code }) => /\bcreateServer\(|\bcreateSecureServer\(/.test(code))
      .map(({ path }) => path);
    // `seb check` tries for a moment whether the port is free.
    expect(opening.toSorted()).toEqual(['src/commands/reach.ts', 'src/status/server.ts']);
  });
});
