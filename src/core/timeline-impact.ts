// What an event did to its VMs: how long it was under way, what was announced, and what the agents measured.
import { canonicalName } from './document.ts';
import type { EventSummary } from './event-fold.ts';
import type { ImpactDeed } from './read-deed.ts';
import { type Figure, figure, unknownFigure } from './timeline-figure.ts';
import type { TimelineParts } from './timeline-parts.ts';

/** The time in which Azure works on the host: the VM runs for most of it. */
export interface MaintenanceWindow {
  /** Epoch ms; `to` is null while it goes on. */
  readonly from: number;
  readonly to: number | null;
  readonly seconds: number | null;
}

/** Bounds of what VMs felt, in ms, and how many of the named VMs measured it. */
export interface MeasuredImpact {
  readonly lowerMs: number;
  readonly upperMs: number;
  readonly vms: number;
  readonly of: number;
}

/** Between which bounds the impact was a multiple of what was announced. */
export interface ImpactRatio {
  readonly lower: number;
  readonly upper: number;
}

export interface ImpactFigures {
  readonly window: Figure<MaintenanceWindow>;
  readonly impactAdvertisedSeconds: Figure<number>;
  readonly impactMeasured: Figure<MeasuredImpact>;
  readonly impactRatio: Figure<ImpactRatio>;
}

export function impactFigures(parts: TimelineParts): ImpactFigures {
  const { event } = parts;
  const impactMeasured = measured(parts);
  return {
    window: windowOf(event),
    impactAdvertisedSeconds:
      event.durationSeconds === null
        ? unknownFigure('Azure announced no duration')
        : figure(event.durationSeconds, 'said'),
    impactMeasured,
    impactRatio: ratio(impactMeasured, event.durationSeconds),
  };
}

function windowOf({ startedAt, endedAt, outcomeInferred }: EventSummary): Figure<MaintenanceWindow> {
  if (startedAt === null) return unknownFigure('nobody saw it start');
  if (endedAt === null) return figure({ from: startedAt, to: null, seconds: null }, 'measured', 'it goes on');
  const seconds = Math.max(Math.round((endedAt - startedAt) / 1_000), 0);
  const because = outcomeInferred
    ? 'its end is when it was gone: Azure says of no event that it is over'
    : null;
  return figure({ from: startedAt, to: endedAt, seconds }, 'measured', because);
}

/** What each VM that the event names measured last, by its name as names are compared. */
export function impactByVm({ event, deeds, agents }: TimelineParts): ReadonlyMap<string, ImpactDeed> {
  const names = new Set(event.vms.map(canonicalName));
  const vmOf = new Map(
    agents.flatMap(({ agentId, vmName }) =>
      vmName === null ? [] : [[agentId, canonicalName(vmName)] as const],
    ),
  );
  const byVm = new Map<string, ImpactDeed>();
  for (const { agentId, deed } of deeds.toSorted((one, other) => one.at - other.at)) {
    const vm = vmOf.get(agentId);
    if (deed.family === 'impact' && vm !== undefined && names.has(vm)) byVm.set(vm, deed);
  }
  return byVm;
}

function measured(parts: TimelineParts): Figure<MeasuredImpact> {
  const bounds = [...impactByVm(parts).values()].flatMap(({ lowerMs, upperMs }) =>
    lowerMs === null || upperMs === null ? [] : [{ lowerMs, upperMs }],
  );
  if (bounds.length === 0) return unknownFigure('no agent on a VM that it names measured it');
  const value = {
    lowerMs: Math.max(...bounds.map(({ lowerMs }) => lowerMs)),
    upperMs: Math.max(...bounds.map(({ upperMs }) => upperMs)),
    ...{ vms: bounds.length, of: parts.event.vms.length },
  };
  return value.vms === value.of
    ? figure(value, 'measured')
    : figure(value, 'estimated', 'not every VM that it names measured it');
}

function ratio({ value, confidence, because }: Figure<MeasuredImpact>, advertised: number | null) {
  if (value === null || confidence === 'unknown') return unknownFigure(because ?? '');
  if (advertised === null) return unknownFigure('Azure announced no duration');
  if (advertised === 0) return unknownFigure('Azure announced that nothing would be felt');
  const times = (ms: number): number => Math.round(ms / advertised / 10) / 100;
  return figure({ lower: times(value.lowerMs), upper: times(value.upperMs) }, confidence, because);
}
