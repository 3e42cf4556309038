// One step of a scenario file: what it may say, and what it comes to for a given fleet.
import * as z from 'zod';
import { faultFrom, faultSettings } from './fault-spec.ts';
import type { ScenarioAction, ScenarioEvent, ScenarioStep } from './script.ts';
import { span } from './span.ts';
import type { EmulatedVm } from './vm.ts';
import { selectVms, vmSelector } from './vm-selector.ts';

const at = span.default(0);
const name = z.string().min(1);
const seconds = z.union(
  [z.literal('unknown').transform(() => -1), span.transform((ms) => Math.round(ms / 1000))],
  'Expected a span of time such as 5s, or unknown',
);

const scheduleStep = z
  .strictObject({
    at,
    schedule: name,
    type: z.string().regex(/^[A-Z][A-Za-z]*$/, 'Expected an event type such as Freeze, Reboot or Preempt'),
    status: z.enum(['Scheduled', 'Started']).default('Scheduled'),
    source: z.enum(['Platform', 'User']).default('Platform'),
    description: z.string().default(''),
    duration: seconds.default(-1),
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

/** A step for one fleet, or what is wrong with it: `.key: sentence`. */
export type BoundStep = ScenarioStep | { readonly faults: readonly string[] };

type Binder = (step: Readonly<Record<string, unknown>>, vms: readonly EmulatedVm[]) => BoundStep;

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

/** Reads one step and finds its VMs. */
export function bindStep(step: Readonly<Record<string, unknown>>, vms: readonly EmulatedVm[]): BoundStep {
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

/** What is wrong, after its path: `.key: sentence`. */
export function sentence(issue: z.core.$ZodIssue): string {
  const path = issue.path.map((key) => `.${String(key)}`).join('');
  return issue.code === 'unrecognized_keys'
    ? `${path}: there is no setting ${issue.keys.map((key) => `"${key}"`).join(', ')} here`
    : `${path}: ${issue.message}`;
}
