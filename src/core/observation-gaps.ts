// Says which VMs should have seen an event, which of them did, and why the others may not have.
import type { TransitionKind } from './diff.ts';
import { canonicalName } from './document.ts';
import { isFinal, startedUnannounced } from './event-course.ts';
import { asleepSince, expectedBy, type KnownAgent, overdueAfter } from './silence.ts';
import type { Hearing, TimelineEvent, TimelineParts } from './timeline-parts.ts';

/**
 * Why a VM that should have seen the event did not tell of it. `silent`: its heartbeat was due, and it said nothing.
 * `gone`: the event ended it. `source-failing`: IMDS did not answer it. `joined-later`: its agent was first heard of
 * when the event was there already. `late`: the event was too short or is too young for it. `no-agent`: the event names
 * it, and no agent of it was ever heard of.
 */
export type MissingReason =
  | 'silent'
  | 'gone'
  | 'source-failing'
  | 'joined-later'
  | 'late'
  | 'no-agent'
  | 'unknown';

/** A VM that should have seen the event. */
export interface Expected {
  readonly vmName: string | null;
  readonly vmId: string | null;
  readonly faultDomain: string | null;
  /** Its installation that was heard of last; null when none ever was. */
  readonly agentId: string | null;
  /** Whether the event names it. */
  readonly named: boolean;
  /** How it is known that it saw the event: by its record, by its heartbeat alone, or not at all. */
  readonly saw: 'record' | 'heartbeat' | null;
  /** Null when it saw it. */
  readonly reason: MissingReason | null;
  /** Whether its own agent told how the event ended. */
  readonly toldEnd: boolean;
}

/** A VM with all installations that spoke for it; the one heard of last speaks now. */
export interface Vm {
  readonly agents: readonly KnownAgent[];
  readonly latest: KnownAgent;
}

/** The VMs of a group, and those that an event names. */
export interface Group {
  readonly members: readonly Vm[];
  /** By name as it is compared. A name that several VMs have, of which none is of the group, is none of them. */
  readonly named: ReadonlyMap<string, Vm>;
}

const dayMs = 24 * 60 * 60_000;

/**
 * Who should have seen an event: the VMs that get the same document. That is a scale set's placement group; VMs of an
 * availability set do not know theirs, so only those count that told of the event or are named by it.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#scope
 * @param now epoch ms
 * @returns named VMs first, then by name
 */
export function expectedOf(parts: TimelineParts, now: number): Expected[] {
  const { members, named } = groupOf(parts);
  const look = lookInto(parts, now);
  const bearers = new Set(named.values());
  const told = members
    .filter((vm) => isExpected(look, vm, bearers.has(vm)))
    .map((vm) => expectationOf(look, vm, bearers.has(vm)));
  const agentless = parts.event.vms.filter((name) => !named.has(canonicalName(name))).map(withoutAgent);
  return [...told, ...agentless].sort(
    (one, other) => Number(other.named) - Number(one.named) || byName(one, other),
  );
}

/** What is asked for each VM, found by agent. */
interface Look {
  readonly event: TimelineEvent;
  readonly now: number;
  readonly told: ReadonlyMap<string, readonly TransitionKind[]>;
  readonly heard: ReadonlyMap<string, Hearing>;
}

function lookInto({ event, tellings, heard }: TimelineParts, now: number): Look {
  const told = new Map<string, TransitionKind[]>();
  for (const { agentId, transition } of tellings) {
    const before = told.get(agentId);
    if (before === undefined) told.set(agentId, [transition]);
    else before.push(transition);
  }
  return { event, now, told, heard: new Map(heard.map((each) => [each.agentId, each])) };
}

const byName = (one: Expected, other: Expected): number =>
  (one.vmName ?? '').localeCompare(other.vmName ?? '', 'en', { numeric: true }) ||
  ((one.agentId ?? '') < (other.agentId ?? '') ? -1 : 1);

const withoutAgent = (vmName: string): Expected => ({
  ...{ vmName, vmId: null, faultDomain: null, agentId: null, named: true },
  ...{ saw: null, reason: 'no-agent', toldEnd: false },
});

/** The VMs that get the same document as those that told of an event or are named by it. */
export function groupOf(parts: TimelineParts): Group {
  const vms = vmsOf(parts.agents);
  const witnesses = new Set(parts.tellings.map(({ agentId }) => agentId));
  const told = new Set(vms.filter(({ agents }) => agents.some(({ agentId }) => witnesses.has(agentId))));
  const keys = new Set([...told].flatMap(({ latest }) => groupKeyOf(latest) ?? []));
  const named = namedVms(parts.event, vms, { told, keys });
  for (const { latest } of named.values()) keys.add(groupKeyOf(latest) ?? '');
  keys.delete('');
  const seeds = new Set([...told, ...named.values()]);
  const members = vms.filter((vm) => seeds.has(vm) || keys.has(groupKeyOf(vm.latest) ?? ''));
  return { members, named };
}

function vmsOf(agents: readonly KnownAgent[]): Vm[] {
  const byVm = new Map<string, KnownAgent[]>();
  for (const agent of agents) {
    const key = agent.vmId ?? agent.agentId;
    byVm.set(key, [...(byVm.get(key) ?? []), agent]);
  }
  return [...byVm.values()].flatMap((each) => {
    const [latest] = each.toSorted((one, other) => other.lastAt - one.lastAt);
    return latest === undefined ? [] : [{ agents: each, latest }];
  });
}

/** What VMs share that get the same document; null when the VM is of no scale set that it knows. */
function groupKeyOf({ placementGroupId, vmScaleSet, resourceId }: KnownAgent): string | null {
  if (placementGroupId !== null) return `placement-group ${placementGroupId.toLowerCase()}`;
  if (vmScaleSet === null) return null;
  const scope = /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+/i.exec(resourceId ?? '')?.[0] ?? '';
  return `scale-set ${scope}/${vmScaleSet}`.toLowerCase();
}

function namedVms(
  { vms: names }: TimelineEvent,
  vms: readonly Vm[],
  { told, keys }: { readonly told: ReadonlySet<Vm>; readonly keys: ReadonlySet<string> },
): Map<string, Vm> {
  const named = new Map<string, Vm>();
  for (const name of names) {
    const key = canonicalName(name);
    const bearers = vms.filter(
      ({ latest }) => latest.vmName !== null && canonicalName(latest.vmName) === key,
    );
    const near = bearers.filter((vm) => told.has(vm) || keys.has(groupKeyOf(vm.latest) ?? ''));
    const [only, ...others] = near.length > 0 ? near : bearers;
    if (only !== undefined && others.length === 0) named.set(key, only);
  }
  return named;
}

function isExpected(look: Look, vm: Vm, named: boolean): boolean {
  const { goneAt } = vm.latest;
  if (goneAt !== null && goneAt < look.event.firstSeenAt) return false;
  if (named || sightOf(look, vm) !== null) return true;
  const end = look.event.endedAt ?? look.now;
  const { before, last } = hearingOf(look, vm);
  return last !== null || (before !== null && before >= end - dayMs);
}

function sightOf({ told, event }: Look, { agents }: Vm): Expected['saw'] {
  if (agents.some(({ agentId }) => told.has(agentId))) return 'record';
  const beats = agents.some(({ seen }) => seen.some(({ eventId }) => eventId === event.eventId));
  return beats ? 'heartbeat' : null;
}

function hearingOf({ heard }: Look, { agents }: Vm): Omit<Hearing, 'agentId'> {
  const of = agents.flatMap(({ agentId }) => heard.get(agentId) ?? []);
  const times = (name: 'before' | 'first' | 'last') => of.flatMap((each) => each[name] ?? []);
  const [before, first, last] = [times('before'), times('first'), times('last')];
  return {
    before: before.length === 0 ? null : Math.max(...before),
    first: first.length === 0 ? null : Math.min(...first),
    last: last.length === 0 ? null : Math.max(...last),
  };
}

function expectationOf(look: Look, vm: Vm, named: boolean): Expected {
  const { vmName, vmId, faultDomain, agentId } = vm.latest;
  const saw = sightOf(look, vm);
  const kinds = vm.agents.flatMap((agent) => look.told.get(agent.agentId) ?? []);
  const toldEnd = kinds.includes('completed') || kinds.includes('canceled');
  const reason = saw === null ? reasonFor(look, vm, named) : null;
  return { vmName, vmId, faultDomain, agentId, named, saw, reason, toldEnd };
}

function reasonFor(look: Look, vm: Vm, named: boolean): MissingReason {
  const { event, now } = look;
  if (isGone(look, vm, named)) return 'gone';
  if (vm.agents.every(({ firstAt }) => firstAt > event.firstSeenAt)) return 'joined-later';
  if (wasSilent(look, vm)) return 'silent';
  if (wasAsleep(look, vm)) return 'source-failing';
  return (event.endedAt ?? now) - event.firstSeenAt <= lateMs(vm, event) ? 'late' : 'unknown';
}

/** A VM that the event ended, or that a failure of its host took with it and that never spoke again. */
function isGone({ event, now }: Look, { latest }: Vm, named: boolean): boolean {
  if (latest.goneAt !== null && latest.goneAt <= now) return true;
  const died = isFinal(event) || startedUnannounced(event);
  return named && died && event.startedAt !== null && latest.lastAt <= event.startedAt;
}

function wasSilent(look: Look, vm: Vm): boolean {
  const { event, now } = look;
  const { before, first } = hearingOf(look, vm);
  const { latest } = vm;
  if (latest.lastAt <= event.firstSeenAt) return expectedBy(latest) < now;
  const due = overdueAfter(before ?? latest.firstAt, latest.heartbeatIntervalMs);
  return (first ?? event.endedAt ?? now) > due;
}

/** Only what it said last of IMDS is known: it counts where that word is not older than the event by a heartbeat. */
function wasAsleep({ event, now }: Look, { latest }: Vm): boolean {
  const since = asleepSince(latest);
  if (since === null || latest.sourceAt === null) return false;
  const isOfThen = overdueAfter(latest.sourceAt, latest.heartbeatIntervalMs) >= event.firstSeenAt;
  return isOfThen && since <= (event.endedAt ?? now);
}

const pollMsUsual = 1_000;
// What was first seen a moment ago may still be on its way through another agent's outbox and the hub.
const underWayMs = 2 * 60_000;

const lateMs = ({ latest }: Vm, { endedAt }: TimelineEvent): number =>
  endedAt === null ? underWayMs : 2 * (latest.pollIntervalMs ?? pollMsUsual);
