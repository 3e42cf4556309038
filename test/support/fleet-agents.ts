// Five hundred agents in one process: each sees the documents of its own VM, and publishes its records through the real SDK.
import { EventHubProducerClient } from '@azure/event-hubs';
import { readDocument } from '../../src/core/document.ts';
import { type Observer, unknownObserver } from '../../src/core/observer.ts';
import {
  agentRecord,
  type BridgeRecord,
  encodeRecord,
  eventRecord,
  factId,
  type Stamp,
} from '../../src/core/record.ts';
import { emptyWatch, observe, type Watch } from '../../src/core/watch.ts';
import type { HubPlace } from './running-consumer.ts';

/** VMs of one placement group, whose fault domains are maintained one after another. */
export interface AgentGroup {
  readonly name: string;
  readonly eventType: string;
  readonly vms: readonly Observer[];
}

export interface FleetPlan {
  readonly groups: readonly AgentGroup[];
  /** Epoch ms at which the first document is seen. */
  readonly beginsAt: number;
}

export const faultDomains = 5;
const vmsOfDomain = 5;
const stepMs = 10 * 60_000;
const subscription = '11111111-2222-3333-4444-555555555555';

/** Groups of 25 VMs; their types take turns. */
export const groupsOf = (count: number, eventTypes: readonly string[]): AgentGroup[] =>
  Array.from({ length: count }, (_, group) => ({
    name: `set-${group}`,
    eventType: eventTypes[group % eventTypes.length] ?? 'Freeze',
    vms: Array.from({ length: faultDomains * vmsOfDomain }, (_unused, vm) => vmOf(group, vm)),
  }));

function vmOf(group: number, vm: number): Observer {
  const [set, resourceGroup] = [`set-${group}`, 'rg-fleet'];
  return {
    ...unknownObserver,
    vmId: `00000000-0000-4000-8000-${String(group * 1_000 + vm).padStart(12, '0')}`,
    vmName: `${set}_${vm}`,
    resourceId: `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/Microsoft.Compute/virtualMachineScaleSets/${set}/virtualMachines/${vm}`,
    ...{ subscriptionId: subscription, resourceGroup, location: 'norwaywest', vmScaleSet: set },
    placementGroupId: `group-${group}`,
    faultDomain: String(vm % faultDomains),
  };
}

/** The VMs that the event of a fault domain names. */
export const namedIn = ({ vms }: AgentGroup, faultDomain: number): Observer[] =>
  vms.filter((vm) => vm.faultDomain === String(faultDomain));

export const eventIdOf = ({ name }: AgentGroup, faultDomain: number): string => {
  const number = Number(name.split('-')[1]) * 100 + faultDomain;
  return `C7061BAC-AFDC-4513-B24B-${String(number).padStart(12, '0')}`;
};

/** Steps of the whole story: each fault domain is announced, begins, and is over as the next one is announced. */
export const stepsMax = 2 * faultDomains + 1;

/** What IMDS says in a group at a step; before the first one, nothing. */
function documentOf(group: AgentGroup, step: number, at: number): string {
  const faultDomain = Math.floor(step / 2);
  const isThere = step >= 0 && faultDomain < faultDomains;
  const begun = step % 2 === 1;
  const event = {
    EventId: eventIdOf(group, faultDomain),
    EventStatus: begun ? 'Started' : 'Scheduled',
    EventType: group.eventType,
    ResourceType: 'VirtualMachine',
    Resources: namedIn(group, faultDomain).map(({ vmName }) => vmName),
    NotBefore: begun ? '' : new Date(at + stepMs).toUTCString(),
    Description: 'Host server is undergoing maintenance.',
    EventSource: 'Platform',
    DurationInSeconds: group.eventType === 'Freeze' ? 5 : -1,
  };
  return JSON.stringify({ DocumentIncarnation: step + 2, Events: isThere ? [event] : [] });
}

interface Agent {
  watch: Watch;
  sequence: number;
  readonly observer: Observer;
}

export interface FleetAgents extends AsyncDisposable {
  /** Every agent says that it has started. */
  greet(): Promise<void>;
  /** Every agent of every group sees the documents of this step, and publishes what it makes of them. */
  see(step: number): Promise<void>;
  /** The ids of all facts that were told so far, each told by many. */
  readonly factIds: ReadonlySet<string>;
  readonly published: number;
}

/** Opens the agents; nothing is published yet. */
export function openFleetAgents({ groups, beginsAt }: FleetPlan, hub: HubPlace): FleetAgents {
  const { connectionString, eventHubName } = hub;
  const client = new EventHubProducerClient(connectionString, eventHubName);
  const agents = groups.map(({ vms }) =>
    vms.map((observer): Agent => ({ watch: emptyWatch('boot-0'), sequence: 0, observer })),
  );
  const factIds = new Set<string>();
  let published = 0;
  const publish = async (records: readonly BridgeRecord[]): Promise<void> => {
    published += records.length;
    for (const [partitionKey, batch] of Map.groupBy(records, ({ partitionkey }) => partitionkey))
      await client.sendBatch(
        batch.map((record) => ({ body: encodeRecord(record) })),
        { partitionKey },
      );
  };
  return {
    factIds,
    get published() {
      return published;
    },
    greet: async () => {
      for (const agent of agents.flat()) await publish([greetingOf(agent, beginsAt - stepMs)]);
      groups.forEach((group, index) => {
        const text = documentOf(group, -1, beginsAt);
        for (const agent of agents[index] ?? []) look(agent, text, beginsAt - 1_000, true);
      });
    },
    see: async (step) => {
      const at = beginsAt + step * stepMs;
      for (const [index, group] of groups.entries()) {
        const text = documentOf(group, step, at);
        // Within a second of each other, as polling has it.
        const records = (agents[index] ?? []).flatMap((agent, vm) => look(agent, text, at + vm * 40, false));
        for (const { id } of records) factIds.add(id);
        await publish(records);
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** One installation and the number of its next record. */
function stampOf(agent: Agent): Stamp {
  agent.sequence += 1;
  const instanceId = `agent-${agent.observer.vmId}`;
  return { observer: agent.observer, agent: { version: '1.0.0', instanceId, sequence: agent.sequence } };
}

const greetingOf = (agent: Agent, at: number): BridgeRecord =>
  agentRecord('started', at, { bootId: 'boot-0', api: '2020-07-01' }, stampOf(agent));

/** What one agent makes of one document. */
function look(agent: Agent, text: string, now: number, firstSinceStart: boolean): BridgeRecord[] {
  const reading = readDocument(text);
  if (reading.status !== 'document') throw new Error('the script of the test is a document');
  const moment = { now, pollGapMs: 1_000, bootId: 'boot-0', firstSinceStart };
  const { watch, observations } = observe(agent.watch, reading.document, moment);
  agent.watch = watch;
  const { incarnation } = reading.document;
  const provenance = { incarnation, apiVersion: '2020-07-01', bootId: 'boot-0', pollGapMs: 1_000 };
  return observations.map((observation) =>
    eventRecord(observation, factId(observation.kind, observation.event), stampOf(agent), provenance),
  );
}
