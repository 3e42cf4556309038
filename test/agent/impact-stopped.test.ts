// Real agents that are stopped for a while, as their VM is by a freeze: what they measure must hold what happened.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ImpactData } from '../../src/core/deed.ts';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { scaleSetVms } from '../../src/emulators/imds/vm.ts';
import { freezeStarted } from '../support/documents.ts';
import { startNode } from '../support/process.ts';
import { recordsIn } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const program = join(import.meta.dirname, '../support/agent-child.ts');
const lengths = [3_000, 10_000, 40_000];

/** An agent that has seen the event begin. */
async function startWatching(imds: ImdsEmulator, vmName: string) {
  const directory = temporaryDirectory();
  const running = startNode([program, directory.path, imds.endpointOf(vmName)]);
  const records = () => recordsIn(join(directory.path, 'events.jsonl'));
  const said = (family: string) => records().find(({ type }) => type.includes(`.${family}.`));
  await until(`${vmName} to see the event`, () => said('event'));
  const pid = running.child.pid ?? 0;
  return {
    impact: () => said('impact')?.data as ImpactData | undefined,
    /** @returns for how long it was stopped at least, and at most, in ms */
    stopFor: async (ms: number) => {
      const asked = performance.now();
      process.kill(pid, 'SIGSTOP');
      const stateOf = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];
      await until(`${vmName} to stand still`, () => stateOf() === 'T');
      const still = performance.now();
      await delay(ms);
      const leastMs = performance.now() - still;
      process.kill(pid, 'SIGCONT');
      return { leastMs, mostMs: performance.now() - asked };
    },
    [Symbol.asyncDispose]: async () => {
      await running[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

test('agents stopped for 3, 10 and 40 seconds say for how long, to within a second', async () => {
  await using imds = await startImdsEmulator({ vms: scaleSetVms(3) });
  const names = imds.vms.map(({ name }) => name);
  imds.show({ DocumentIncarnation: 2, Events: [{ ...freezeStarted, Resources: names }] });
  await using resources = new AsyncDisposableStack();
  const starting = names.map((name) => startWatching(imds, name));
  const agents = (await Promise.all(starting)).map((agent) => resources.use(agent));
  const stops = await Promise.all(agents.map((agent, index) => agent.stopFor(lengths[index] ?? 0)));
  imds.show({ DocumentIncarnation: 3, Events: [] });
  for (const [index, agent] of agents.entries()) {
    const { kind, measured, advertisedSeconds } = await until('the impact', agent.impact);
    const { leastMs, mostMs } = stops[index] ?? { leastMs: 0, mostMs: 0 };
    expect({ kind, advertisedSeconds }).toEqual({ kind: 'pause', advertisedSeconds: 5 });
    expect(measured?.lowerMs).toBeLessThanOrEqual(mostMs);
    expect(measured?.upperMs).toBeGreaterThanOrEqual(leastMs);
    expect((measured?.upperMs ?? 0) - (measured?.lowerMs ?? 0)).toBeLessThanOrEqual(1_000);
  }
}, 75_000);
