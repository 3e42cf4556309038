// Reads the text of a scenario file and binds it to a fleet; what is wrong comes back as sentences.
import { parseDocument } from 'yaml';
import * as z from 'zod';
import { bindStep, sentence } from './scenario-step.ts';
import type { Scenario, ScenarioStep } from './script.ts';
import type { EmulatedVm } from './vm.ts';

/** Why a scenario cannot be played: one sentence per fault. */
export class ScenarioError extends Error {
  constructor(place: string, faults: readonly string[]) {
    super([`${place} cannot be played:`, ...faults.map((fault) => `  ${fault}`)].join('\n'));
  }
}

const fileSchema = z.strictObject({
  summary: z.string().min(1),
  steps: z.array(z.record(z.string(), z.unknown())).min(1).max(1000),
});

/**
 * Reads a scenario.
 * @param text YAML
 * @param place how the file is called in errors
 * @throws ScenarioError
 */
export function readScenario(text: string, place: string, vms: readonly EmulatedVm[]): Scenario {
  const { summary, steps: wire } = readFile(text, place);
  const faults: string[] = [];
  const steps = wire.map((step, index): ScenarioStep | null => {
    const bound = bindStep(step, vms);
    if ('atMs' in bound) return bound;
    faults.push(...bound.faults.map((fault) => `steps.${index}${fault}`));
    return null;
  });
  const good = steps.filter((step) => step !== null);
  if (faults.length === 0) faults.push(...castFaults(good));
  if (faults.length > 0) throw new ScenarioError(place, faults);
  return { name: place, summary, steps: good.toSorted((one, other) => one.atMs - other.atMs) };
}

/** The one sentence that says what a scenario is about. */
export const readSummary = (text: string, place: string): string => readFile(text, place).summary;

function readFile(text: string, place: string): z.output<typeof fileSchema> {
  const document = parseDocument(text);
  if (document.errors[0] !== undefined) throw new ScenarioError(place, [document.errors[0].message]);
  const parsed = fileSchema.safeParse(document.toJS({ maxAliasCount: 100 }));
  if (parsed.success) return parsed.data;
  throw new ScenarioError(
    place,
    parsed.error.issues.map((issue) => sentence(issue).replace(/^[.: ]+/, '')),
  );
}

/** What is wrong with the steps as a whole. */
function castFaults(steps: readonly ScenarioStep[]): readonly string[] {
  const scheduled = steps.map(({ action }) => action).filter((action) => action.kind === 'schedule');
  const deserted = scheduled.length > 0 && scheduled.every(({ events }) => events.length === 0);
  const strangers = steps.flatMap(({ action }, index) => {
    if (action.kind !== 'change' && action.kind !== 'remove') return [];
    const known = scheduled.some(({ name: scheduledName }) => scheduledName === action.name);
    return known ? [] : [`steps.${index}: there is no event called "${action.name}"`];
  });
  return deserted
    ? [...strangers, 'No event finds a VM: the fleet has none of those that are named']
    : strangers;
}
