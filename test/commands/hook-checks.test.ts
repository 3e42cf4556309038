// What `seb check` says of hooks: the program of each, and what a folder of hooks has that would never run.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hookChecks } from '../../src/commands/hook-checks.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { runCommandLine } from '../support/command-line.ts';
import { hookScripts } from '../support/hooks.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

async function resultsOf(settings: object): Promise<string[]> {
  const checks = hookChecks(agentSettings.parse({ imds: { endpoint: 'http://127.0.0.1:9' }, ...settings }));
  const { signal } = new AbortController();
  const results = checks.map(async ({ name, run }) => {
    const { ok, detail } = await run(signal);
    return `${name} ${ok ? 'ok' : 'failed'}: ${detail}`;
  });
  return await Promise.all(results);
}

it('says of the program of each hook whether it is there, may be run, and is safe', async () => {
  using directory = temporaryDirectory();
  const { script, at } = hookScripts(directory.path);
  const [good, open, plain] = [script('good', ''), script('open', '', 0o777), script('plain', '', 0o644)];
  const hooks = [
    { on: 'prepare', command: [good, 'word'], types: ['reboot'] },
    ...[open, plain, at('nowhere')].map((program) => ({ on: 'recover', command: [program] })),
  ];
  expect(await resultsOf({ hooks })).toEqual([
    `hooks.0 (prepare) ok: ${good}`,
    expect.stringMatching(/^hooks\.1 \(recover\) failed: .*\/open may be changed by others.* chmod go-w$/),
    expect.stringMatching(/^hooks\.2 \(recover\) failed: .*\/plain cannot be run: .* chmod 755 makes it$/),
    expect.stringMatching(/^hooks\.3 \(recover\) failed: .*\/nowhere is not there$/),
  ]);
});

it('knows a slip of the pen from a type that Azure may yet invent', async () => {
  using directory = temporaryDirectory();
  const good = hookScripts(directory.path).script('good', '');
  const of = (types: readonly string[]) => ({ on: 'prepare', command: [good], types });
  expect(await resultsOf({ hooks: [of(['Freeze', 'Rebot']), of(['HostAgentMaintenance'])] })).toEqual([
    `hooks.0 (prepare) failed: ${good}; no event has the type Rebot: did you mean Reboot?`,
    `hooks.1 (prepare) ok: ${good}; no documented type of event: HostAgentMaintenance`,
  ]);
});

it('says what a folder of hooks has, and what in it would never run', async () => {
  using directory = temporaryDirectory();
  const { script, at } = hookScripts(directory.path);
  const hooksDir = at('hooks.d');
  expect(await resultsOf({ hooksDir })).toEqual([`hooksDir failed: ${hooksDir} is not there`]);
  mkdirSync(hooksDir, { mode: 0o755 });
  expect(await resultsOf({ hooksDir })).toEqual([`hooksDir ok: ${hooksDir}: no hooks yet`]);
  script('hooks.d/Reboot/prepare', '');
  script('hooks.d/Reboot/recover', '');
  script('hooks.d/freeze/recover', '');
  expect(await resultsOf({ hooksDir })).toEqual([
    `hooksDir ok: ${hooksDir}: Reboot (prepare, recover), freeze (recover)`,
  ]);
  script('hooks.d/Reboot/prepare.sh', '');
  chmodSync(at('hooks.d/freeze/recover'), 0o644);
  expect(await resultsOf({ hooksDir })).toEqual([
    `hooksDir failed: ${hooksDir}/Reboot/prepare.sh is never run: a hook is called prepare or recover; ${hooksDir}/freeze/recover cannot be run: a hook is a file that may be executed, as chmod 755 makes it`,
  ]);
  chmodSync(hooksDir, 0o777);
  expect(await resultsOf({ hooksDir })).toEqual([expect.stringContaining('may be changed by others')]);
});

it('is part of the check of an agent, which fails with it', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const path = join(directory.path, 'agent.yaml');
  const hooks = [{ on: 'prepare', command: ['/nowhere/drain'] }];
  const stateDir = join(directory.path, 'state');
  writeFileSync(path, JSON.stringify({ stateDir, imds: { endpoint: imds.url }, hooks }));
  const { exitCode, stdout } = await runCommandLine(['check', '-c', path]);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('hooks.0 (prepare)\tfailed\t/nowhere/drain is not there');
});
