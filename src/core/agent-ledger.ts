// Counts what each agent sent: an agent numbers its records without a hole, so a hole is a record that never came here.
import type { AgentFacts } from './read-record.ts';

/** Numbers that are missing between two that are here, inclusive. */
export interface AgentHole {
  readonly agentId: string;
  readonly vmName: string | null;
  readonly from: number;
  readonly to: number;
  /** When the hub stored what comes behind the hole, epoch ms. */
  readonly at: number;
}

interface Stretch {
  from: number;
  to: number;
  /** When the hub stored its first number, as far as it came here. */
  at: number;
}

interface Agent {
  vmName: string | null;
  vmId: string | null;
  readonly stretches: Stretch[];
}

/** Takes records in any order. It grows with the agents and with what is missing, not with the records. */
export class AgentLedger {
  readonly #agents = new Map<string, Agent>();
  #records = 0;

  /** How many records were taken. */
  get records(): number {
    return this.#records;
  }

  get agents(): number {
    return this.#agents.size;
  }

  take({ agentId, sequence, observer }: AgentFacts, enqueuedMs: number): void {
    this.#records += 1;
    const agent = this.#agent(agentId);
    agent.vmName = observer.vmName ?? agent.vmName;
    agent.vmId = observer.vmId ?? agent.vmId;
    if (sequence !== null) add(agent.stretches, sequence, enqueuedMs);
  }

  #agent(agentId: string): Agent {
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const made: Agent = { vmName: null, vmId: null, stretches: [] };
    this.#agents.set(agentId, made);
    return made;
  }

  *holes(): Iterable<AgentHole> {
    for (const [agentId, { vmName, stretches }] of this.#agents) {
      for (const [place, { from, at }] of stretches.entries()) {
        const before = stretches[place - 1];
        if (before !== undefined) yield { agentId, vmName, from: before.to + 1, to: from - 1, at };
      }
    }
  }

  /** VMs on which several installations spoke: what an earlier one had to say after its last record, nobody can tell. */
  *installedAnew(): Iterable<{ readonly vm: string; readonly agents: number }> {
    const installations = new Map<string, { readonly vm: string; agents: number }>();
    for (const { vmId, vmName } of this.#agents.values()) {
      if (vmId === null) continue;
      const known = installations.get(vmId);
      if (known === undefined) installations.set(vmId, { vm: vmName ?? vmId, agents: 1 });
      else known.agents += 1;
    }
    for (const each of installations.values()) if (each.agents > 1) yield each;
  }
}

/** Adds a number to sorted stretches that neither touch nor overlap; most numbers follow the last. */
function add(stretches: Stretch[], number: number, at: number): void {
  const last = stretches.at(-1);
  if (last !== undefined && number === last.to + 1) {
    last.to = number;
    return;
  }
  const place = placeOf(stretches, number);
  const [before, after] = [stretches[place - 1], stretches[place]];
  if (before !== undefined && number <= before.to) return;
  const touchesBefore = before !== undefined && before.to + 1 === number;
  const touchesAfter = after !== undefined && after.from - 1 === number;
  if (touchesBefore && touchesAfter) {
    before.to = after.to;
    stretches.splice(place, 1);
  } else if (touchesBefore) before.to = number;
  else if (touchesAfter) {
    after.from = number;
    after.at = Math.min(after.at, at);
  } else stretches.splice(place, 0, { from: number, to: number, at });
}

/** How many stretches begin at or before a number. */
function placeOf(stretches: readonly Stretch[], number: number): number {
  let [low, high] = [0, stretches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stretches[middle]?.from ?? number) <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}
