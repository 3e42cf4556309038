// Says of each agent whether it is heard of as it should be, and of its VM whether an event ended it.
import type { AgentSummary } from './agent-fold.ts';
import { canonicalName } from './document.ts';

/** An agent and, where an event ended its VM, when. */
export interface KnownAgent extends AgentSummary {
  /** Epoch ms at which a Preempt or Terminate that names its VM took effect; null when none did, or it spoke later. */
  readonly goneAt: number | null;
}

/**
 * `heard`: it speaks as it should. `silent`: its next heartbeat is overdue. `asleep`: it speaks, but IMDS does not
 * answer it, so it would see no event. `gone`: an event ended its VM. `unknown`: its last word lies in the future, so
 * nothing follows from it.
 */
export type AgentState = 'heard' | 'silent' | 'asleep' | 'gone' | 'unknown';

/** How one VM's agent stands. */
export interface AgentStanding {
  readonly vmName: string | null;
  readonly vmId: string | null;
  readonly agentId: string;
  readonly state: AgentState;
  /** Epoch ms: when it was last heard of, when IMDS last answered it, or when its VM was gone. */
  readonly since: number;
  /** Epoch ms: without a word by then it is silent. */
  readonly expectedBy: number;
}

const minuteMs = 60_000;
/** What an agent keeps to unless it says otherwise. */
export const heartbeatMsUsual = 60 * minuteMs;
// No agent can be set to more: what somebody else sends must not become a time that nobody can write.
const heartbeatMsMax = 24 * 60 * minuteMs;
// Half an interval more, because a heartbeat waits behind a busy poll, and a minute for the way through the hub.
const patience = 1.5;
// A clock that is further ahead than this is wrong, and says nothing about when its VM spoke.
const aheadMsMax = 5 * minuteMs;
// IMDS is asked each second and backs off to 30 s: a document that is this much older than the word about it is stale.
const documentMsMax = 10 * minuteMs;

type Spoken = Pick<KnownAgent, 'lastAt' | 'heartbeatIntervalMs'>;

/** When an agent is overdue that spoke last at this time, epoch ms. */
export const overdueAfter = (lastAt: number, heartbeatIntervalMs: number | null): number =>
  lastAt + Math.min(heartbeatIntervalMs ?? heartbeatMsUsual, heartbeatMsMax) * patience + minuteMs;

/** Without a word by then an agent is silent, epoch ms. */
export const expectedBy = ({ lastAt, heartbeatIntervalMs }: Spoken): number =>
  overdueAfter(lastAt, heartbeatIntervalMs);

/**
 * How each VM stands, in the order of the agents: of several installations on one VM only the one heard of last.
 * @param now epoch ms
 */
export const standingsOf = (agents: readonly KnownAgent[], now: number): AgentStanding[] =>
  currentOf(agents).map((agent) => standingOf(agent, now));

/** The installation of each VM that was heard of last; an agent that does not know its VM stands for itself. */
export function currentOf<Agent extends Pick<AgentSummary, 'vmId' | 'lastAt' | 'agentId'>>(
  agents: readonly Agent[],
): Agent[] {
  const latest = new Map<string, Agent>();
  for (const agent of agents) {
    const vm = agent.vmId ?? agent.agentId;
    const known = latest.get(vm);
    if (known === undefined || agent.lastAt > known.lastAt) latest.set(vm, agent);
  }
  const current = new Set(latest.values());
  return agents.filter((agent) => current.has(agent));
}

function standingOf(agent: KnownAgent, now: number): AgentStanding {
  const { vmName, vmId, agentId } = agent;
  return { vmName, vmId, agentId, ...stateOf(agent, now), expectedBy: expectedBy(agent) };
}

function stateOf(agent: KnownAgent, now: number): Pick<AgentStanding, 'state' | 'since'> {
  const { lastAt, goneAt } = agent;
  if (goneAt !== null && goneAt <= now) return { state: 'gone', since: goneAt };
  if (lastAt > now + aheadMsMax) return { state: 'unknown', since: lastAt };
  if (expectedBy(agent) < now) return { state: 'silent', since: lastAt };
  const asleep = asleepSince(agent);
  return asleep === null ? { state: 'heard', since: lastAt } : { state: 'asleep', since: asleep };
}

/** Since when IMDS does not answer an agent, as it said last, epoch ms; null when it does, or it never said. */
export function asleepSince({
  sourceState,
  sourceAt,
  lastDocumentAt,
}: Pick<AgentSummary, 'sourceState' | 'sourceAt' | 'lastDocumentAt'>): number | null {
  if (sourceState === null || sourceAt === null) return null;
  const stale = lastDocumentAt !== null && sourceAt - lastDocumentAt > documentMsMax;
  return sourceState === 'fresh' && !stale ? null : (lastDocumentAt ?? sourceAt);
}

/** An event that ends the VMs it names: a Preempt or a Terminate that was not called off. */
export interface FinalEvent {
  /** Of its VMs, as names are compared. */
  readonly vmKeys: readonly string[];
  /** Epoch ms: when it was first spoken of, and when it took or takes effect. */
  readonly firstAt: number;
  readonly at: number;
}

/** The types of events that end the VMs they name. */
export const finalTypes = ['preempt', 'terminate'] as const;

// The last words of a VM may be stamped a little after peers saw the event go.
const lastWordsMs = 5 * minuteMs;
const dayMs = 24 * 60 * minuteMs;

/**
 * Says of each agent when an event ended its VM. Names are not unique across subscriptions, so the VM must also have
 * been heard of in the day before the event, and no more after it.
 */
export function withEnds<Agent extends Pick<AgentSummary, 'vmName' | 'lastAt'>>(
  agents: readonly Agent[],
  events: readonly FinalEvent[],
): (Agent & Pick<KnownAgent, 'goneAt'>)[] {
  const byVm = new Map<string, FinalEvent[]>();
  for (const event of events) {
    for (const key of event.vmKeys) byVm.set(key, [...(byVm.get(key) ?? []), event]);
  }
  return agents.map((agent) => {
    const named = agent.vmName === null ? [] : (byVm.get(canonicalName(agent.vmName)) ?? []);
    const ends = named.filter(
      ({ firstAt, at }) => agent.lastAt >= firstAt - dayMs && agent.lastAt <= at + lastWordsMs,
    );
    return { ...agent, goneAt: ends.length === 0 ? null : Math.min(...ends.map(({ at }) => at)) };
  });
}
