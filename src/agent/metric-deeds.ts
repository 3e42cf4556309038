// Counts what the agent does about events and measures of them, from the records that say so.
import type {
  ApprovalData,
  ApprovalReason,
  HookData,
  HookOutcome,
  HookPhase,
  ImpactData,
} from '../core/deed.ts';
import { type BridgeRecord, familyOf } from '../core/record.ts';
import { Counter, Gauge, Histogram, type Registry } from '../status/prometheus.ts';

// The compiler notices a reason that is missing here.
const decisions = {
  rule: 'approved',
  person: 'approved',
  'no-rule': 'refused',
  never: 'refused',
  shared: 'refused',
  'terminates-others': 'refused',
  'prepare-failed': 'refused',
  'refused-by-imds': 'failed',
  'too-late': 'failed',
  gone: 'failed',
} as const satisfies Record<ApprovalReason, ApprovalData['decision']>;
const phases = Object.keys({ prepare: 0, recover: 0 } satisfies Record<HookPhase, 0>);
const outcomes = Object.keys({
  started: 0,
  succeeded: 0,
  failed: 0,
  'timed-out': 0,
  interrupted: 0,
  unknown: 0,
  'not-started': 0,
} satisfies Record<HookOutcome, 0>);
const kinds = Object.keys({ none: 0, pause: 0, reboot: 0 } satisfies Record<
  Exclude<ImpactData['kind'], 'unknown'>,
  0
>);

// A freeze is announced with up to 9 s, a reboot takes minutes.
const impactSeconds = [0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600, 1_800];

/** @returns what takes in the records that are on disk now */
export function deedMeters(registry: Registry): (committed: readonly BridgeRecord[]) => void {
  const registers = [registry];
  const counts: Readonly<Record<string, (record: BridgeRecord) => void>> = {
    approval: approvalMeter(registers),
    hook: hookMeter(registers),
    impact: impactMeter(registers),
  };
  return (committed) => {
    for (const record of committed) counts[familyOf(record.type) ?? '']?.(record);
  };
}

function approvalMeter(registers: Registry[]): (record: BridgeRecord) => void {
  const approvals = new Counter({
    name: 'seb_approvals_total',
    help: 'Decisions whether to let an event start, by what came of them and why.',
    labelNames: ['decision', 'reason'],
    registers,
  });
  for (const [reason, decision] of Object.entries(decisions)) approvals.inc({ decision, reason }, 0);
  return ({ data }) => {
    const { decision, reason } = data as ApprovalData;
    approvals.inc({ decision, reason });
  };
}

function hookMeter(registers: Registry[]): (record: BridgeRecord) => void {
  const hooks = new Counter({
    name: 'seb_hooks_total',
    help: 'What became of hooks: each that starts is counted again when it ends.',
    labelNames: ['phase', 'outcome'],
    registers,
  });
  for (const phase of phases) for (const outcome of outcomes) hooks.inc({ phase, outcome }, 0);
  const running = new Gauge({ name: 'seb_hooks_running', help: 'Hooks that run now.', registers });
  // By name and not by number: the end of one that an earlier run began is told in this one.
  const names = new Set<string>();
  return ({ data, correlationid }) => {
    const { phase, outcome, hook } = data as HookData;
    hooks.inc({ phase, outcome });
    const name = `${correlationid} ${phase} ${hook}`;
    if (outcome === 'started') names.add(name);
    else names.delete(name);
    running.set(names.size);
  };
}

function impactMeter(registers: Registry[]): (record: BridgeRecord) => void {
  const impacts = new Histogram({
    name: 'seb_impact_seconds',
    help: 'How long this VM was away for an event at the most, as it was measured.',
    labelNames: ['kind'],
    buckets: impactSeconds,
    registers,
  });
  for (const kind of kinds) impacts.zero({ kind });
  return ({ data }) => {
    const { kind, measured } = data as ImpactData;
    if (measured !== null) impacts.observe({ kind }, measured.upperMs / 1_000);
  };
}
