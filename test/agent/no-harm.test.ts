// What the bridge never does to its VM or to others: unless it is told to, it only asks, and approves nothing.
import { describe, expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { loadScenario, scenarioNames } from '../../src/emulators/imds/scenario.ts';
import { scaleSetVms } from '../../src/emulators/imds/vm.ts';
import { startAgent } from '../support/running-agent.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { importsOf, sourceFiles } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

// So fast that the whole library plays in seconds; the longest life takes days.
const speeds: Readonly<Record<string, number>> = {
  'degraded-hardware': 150_000,
  'spot-preempt': 300,
  // It stands there for nine minutes only: not so short that a busy machine misses it.
  canceled: 300,
};

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

  test('knows the words that approve an event at one place, which three others come to', () => {
    const knowing = files.filter(({ text }) => text.includes('StartRequests')).map(({ path }) => path);
    expect(knowing).toEqual(['src/agent/imds.ts']);
    const imds = files.find(({ path }) => path === 'src/agent/imds.ts');
    expect(imds?.text.match(/StartRequests/g)).toHaveLength(1);
    // The requests of the approver, counted; one sends and tries again; a person's command uses the same.
    const approving = files.filter(({ code }) => /\bapprove\(/.test(code)).map(({ path }) => path);
    expect(approving).toEqual([
      'src/agent/approval/send.ts',
      'src/agent/approval/sendings.ts',
      'src/agent/imds.ts',
    ]);
    const sending = files.filter(({ code }) => /\bsendApproval\(/.test(code)).map(({ path }) => path);
    expect(sending).toEqual([
      'src/agent/approval/send.ts',
      'src/agent/approval/sendings.ts',
      'src/commands/approve/send.ts',
    ]);
  });

  test('loads what approves only where the settings, or a person, ask for it', () => {
    const isSender = (path: string) =>
      /^src\/(agent\/approval\/(approver|sendings|send)|commands\/approve(\/send)?)\.ts$/.test(path);
    const withoutTypes = (text: string) => text.replace(/^import type [^;]*;/gm, '');
    const loading = files
      .filter((file) => importsOf({ ...file, text: withoutTypes(file.text) }).some(isSender))
      .map(({ path }) => path);
    expect(loading).toEqual([
      'src/agent/approval/approver.ts',
      'src/agent/approval/sendings.ts',
      'src/agent/reactions.ts',
      'src/commands/approve.ts',
      'src/commands/approve/send.ts',
      'src/commands/registry.ts',
    ]);
    const reactions = files.find(({ path }) => path === 'src/agent/reactions.ts');
    expect(reactions?.text).toMatch(
      /if \(approval\.enabled\) \{\s+parts\.push\(\(await import\('\.\/approval\/approver\.ts'\)\)/,
    );
    expect(agentSettings.parse({}).approval).toMatchObject({ enabled: false, rules: [] });
  });

  test('asks for Scheduled Events at one place, and with a GET unless it approves', () => {
    const requesting = files
      .filter(({ code }) => /\bhttp\.(get|request)\(/.test(code))
      .map(({ path }) => path);
    expect(requesting).toEqual(['src/agent/imds-exchange.ts']);
    const exchange = files.find(({ path }) => path === 'src/agent/imds-exchange.ts');
    expect(exchange?.code.match(/\bhttp\.[a-z]\w*\(/g)).toEqual(['http.request(']);
    expect(exchange?.text).toContain("const method = body === undefined ? 'GET' : 'POST';");
    const asking = files
      .filter(({ text }) => text.includes('/metadata/scheduledevents?'))
      .map(({ path }) => path);
    expect(asking).toEqual(['src/agent/imds.ts']);
    const imds = files.find(({ path }) => path === asking[0]);
    expect(imds?.code.match(/\bexchange\(\{[^}]*\bbody\b/g)).toHaveLength(1);
  });

  test('runs no text as code, and starts no program but the one that speaks to systemd and configured hooks', () => {
    const powerful =
      /node:(child_process|vm|worker_threads|cluster|inspector|repl|wasi)|\beval\(|new Function\(|\bprocess\.(dlopen|binding)\b/;
    const using = files.filter(({ text }) => powerful.test(text)).map(({ path }) => path);
    expect(using).toEqual(['src/agent/hooks/hook-process.ts', 'src/service-channel.ts']);
    const shells = files.filter(
      ({ code }) => /\bshell\s*:|\bexec(File)?(Sync)?\(/.test(code) && /child_process/.test(code),
    );
    expect(shells.map(({ path }) => path)).toEqual([]);
    const reactions = files.find(({ path }) => path === 'src/agent/reactions.ts');
    expect(reactions?.text).toMatch(
      /if \(hooks\.length > 0 \|\| hooksDir !== undefined\) \{\s+const runner = \(await import\('\.\/hooks\/hook-runner\.ts'\)\)/,
    );
    expect(agentSettings.parse({})).toMatchObject({ hooks: [] });
    expect(agentSettings.parse({}).hooksDir).toBeUndefined();
  });

  test('opens no server but the status page', () => {
    const opening = files
      .filter(({ code }) => /\bcreateServer\(|\bcreateSecureServer\(/.test(code))
      .map(({ path }) => path);
    // `seb check` tries for a moment whether the port is free.
    expect(opening.toSorted()).toEqual(['src/commands/reach.ts', 'src/status/server.ts']);
  });
});
