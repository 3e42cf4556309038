// What the demo will show: which VMs, which scenarios, and how fast.
import { loadScenario, type Scenario } from '../../emulators/imds/scenario.ts';
import { ScenarioError } from '../../emulators/imds/scenario-file.ts';
import { lengthMsMaxOf } from '../../emulators/imds/script.ts';
import { completeVm, type EmulatedVm, scaleSetVms } from '../../emulators/imds/vm.ts';
import { UsageError } from '../command.ts';

export interface DemoPlan {
  readonly vms: readonly EmulatedVm[];
  readonly scenarios: readonly Scenario[];
  readonly speed: number;
  /** Monotonic ms: when the command began. */
  readonly startedAt: number;
}

export interface DemoWishes {
  readonly vmCount: number;
  readonly startedAt: number;
  readonly scenarioNames?: readonly string[];
  readonly speed?: number;
}

const usualScenarios = ['live-migration', 'canceled', 'approved-redeploy'];
const usualSpeed = 100;
// A scenario of days is still to be over while somebody watches.
const scenarioMsMax = 60_000;

/** @throws UsageError when a scenario cannot be played */
export async function planDemo({
  vmCount,
  startedAt,
  scenarioNames = usualScenarios,
  speed,
}: DemoWishes): Promise<DemoPlan> {
  const vms = scaleSetVms(vmCount).map(completeVm);
  const scenarios = await Promise.all(scenarioNames.map((name) => loadScenario(name, vms))).catch(
    (error: unknown) => {
      throw error instanceof ScenarioError ? new UsageError(error.message) : error;
    },
  );
  return { vms, scenarios, speed: speed ?? speedFor(scenarios), startedAt };
}

function speedFor(scenarios: readonly Scenario[]): number {
  const longestMs = Math.max(...scenarios.map(lengthMsMaxOf));
  return Math.max(usualSpeed, Math.ceil(longestMs / scenarioMsMax));
}
