// Reads the text of a scenario file and binds it to a fleet; what is wrong comes back as sentences.
import { parseDocument } from 'yaml';
import * as z from 'zod';
import { faultFrom, faultSettings } from './fault-spec.ts';
import type { Scenario, ScenarioAction, ScenarioEvent, ScenarioStep } from './script.ts';
import { span } from './span.ts';
import type { EmulatedVm } from './vm.ts';
import { selectVms, vmSelector } from './vm-selector.ts';

/** Why a scenario cannot be played: one sentence per fault. */
export class ScenarioError extends Error {
  constructor(place: string, faults: readonly string[]) {
    super([`${place} cannot be played:`, ...faults.map((fault) => `  ${fault}`)].join('\n'));
  }
}

const at = span.default(0);
const name = z.string().min(1);
const seconds = z
  .union([z.literal('unknown').transform(() => -1), span.transform((ms) => Math.round(ms / 1000))])
  .default(-1);

const scheduleStep = z
  .strictObject({
    at,
    schedule: name,
    type: z.string().regex(/^[A-Z][A-Za-z]*$/, 'Expected an event type such as Freeze, Reboot or Preempt'),
    status: z.enum(['Scheduled', 'Started']).default('Scheduled'),
    source: z.enum(['Platform', 'User']).default('Platform'),
    description: z.string().default(''),
    duration: seconds,
    notice: span.optional(),
    lasts: span.default(10 * 60_000),
    vms: vmSelector.default('all'),
    each: z.literal('vm').optional(),
    eventId: z.guid('Expected a GUID').optional(),
  })
  .refine(({ status, notice }) => status === 'Started' || notice !== undefined, {
    path: ['notice'],
    message: 'An event that is Scheduled needs a notice such as 15m',
  });

const changeStep = z.strictObject({
  at,
  change: name,
  notice: span.optional(),
  duration: seconds.optional(),
  description: z.string().optional(),
  vms: vmSelector.optional(),
});

const removeStep = z.strictObject({ at, remove: name });
const faultStep = faultSettings.extend({ at });
const documentStep = z.strictObject({
  at,
  document: z.union(
    [z.string(), z.record(z.string(), z.unknown())],
    'Expected a document, or a body as text',
  ),
});

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

type Bound = ScenarioStep | { readonly faults: readonly string[] };
type Binder = (step: Readonly<Record<string, unknown>>, vms: readonly EmulatedVm[]) => Bound;

/** A step is what its one verb says it is. */
const binders: Readonly<Record<string, Binder>> = {
  schedule: binder(scheduleStep, ({ schedule, ...event }, vms) => ({
    kind: 'schedule',
    name: schedule,
    events: eventsOf(event, vms),
  })),
  change: binder(changeStep, ({ change, notice, duration, description, vms: selector }, vms) => ({
    kind: 'change',
    name: change,
    changes: {
      ...(notice === undefined ? {} : { noticeMs: notice }),
      ...(duration === undefined ? {} : { durationSeconds: duration }),
      ...(description === undefined ? {} : { description }),
      ...(selector === undefined ? {} : { resources: selectVms(selector, vms).map((vm) => vm.name) }),
    },
  })),
  remove: binder(removeStep, ({ remove }) => ({ kind: 'remove', name: remove })),
  fault: binder(faultStep, ({ at: _, ...settings }) => ({ kind: 'fault', ...faultFrom(settings) })),
  document: binder(documentStep, ({ document }) => ({
    kind: 'document',
    body: typeof document === 'string' ? document : JSON.stringify(document),
  })),
};

function bindStep(step: Readonly<Record<string, unknown>>, vms: readonly EmulatedVm[]): Bound {
  const verbs = Object.keys(binders).filter((verb) => verb in step);
  const bind = binders[verbs[0] ?? ''];
  if (verbs.length !== 1 || bind === undefined) {
    return { faults: [`: Expected one of ${Object.keys(binders).join(', ')}, and only one`] };
  }
  return bind(step, vms);
}

function binder<Schema extends z.ZodType<{ at: number }>>(
  schema: Schema,
  actionOf: (step: z.output<Schema>, vms: readonly EmulatedVm[]) => ScenarioAction,
): Binder {
  return (step, vms) => {
    const parsed = schema.safeParse(step);
    if (!parsed.success) return { faults: parsed.error.issues.map(sentence) };
    return { atMs: parsed.data.at, action: actionOf(parsed.data, vms) };
  };
}

function eventsOf(step: Omit<z.output<typeof scheduleStep>, 'schedule'>, vms: readonly EmulatedVm[]) {
  const names = selectVms(step.vms, vms).map((vm) => vm.name);
  const groups = step.each === 'vm' ? names.map((vmName) => [vmName]) : [names];
  // Where no VM is, nothing happens: the same file fits a fleet of any size.
  return groups
    .filter((resources) => resources.length > 0)
    .map(
      (resources): ScenarioEvent => ({
        eventId: step.eventId ?? null,
        eventType: step.type,
        eventSource: step.source,
        description: step.description,
        durationSeconds: step.duration,
        resources,
        noticeMs: step.status === 'Started' ? null : (step.notice ?? 0),
        lastsMs: step.lasts,
      }),
    );
}

function castFaults(steps: readonly ScenarioStep[]): readonly string[] {
  const names = steps.map(({ action }) => (action.kind === 'schedule' ? action.name : null));
  return steps.flatMap(({ action }, index) => {
    if (action.kind !== 'change' && action.kind !== 'remove') return [];
    return names.includes(action.name) ? [] : [`steps.${index}: there is no event called "${action.name}"`];
  });
}

function sentence(issue: z.core.$ZodIssue): string {
  const path = issue.path.map((key) => `.${String(key)}`).join('');
  return issue.code === 'unrecognized_keys'
    ? `${path}: there is no setting ${issue.keys.map((key) => `"${key}"`).join(', ')} here`
    : `${path}: ${issue.message}`;
}
