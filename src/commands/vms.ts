// `seb vms`: the fleet as the trail knows it, one row per VM, and whether its agent is heard of.
import { type TrailAgent, type TrailReader, TrailUnusable } from '../audit/store.ts';
import { canonicalName } from '../core/document.ts';
import type { Ranges } from '../core/join.ts';
import { type AgentStanding, type AgentState, standingsOf } from '../core/silence.ts';
import { type CommandContext, defineCommand, textOption, UsageError } from './command.ts';
import { chosenZone, writeMoment, zoneOptions } from './moment.ts';
import { type Column, outputFormat, outputOptions, printRows, type Tone } from './table.ts';
import { openChosenTrail, trailOptions } from './trail.ts';

const states: readonly AgentState[] = ['heard', 'silent', 'asleep', 'gone', 'unknown'];

export const vms = defineCommand({
  name: 'vms',
  summary: 'Lists the VMs of the fleet: whether their agents are heard of, and what is under way there.',
  options: {
    ...trailOptions,
    state: {
      type: 'string',
      value: 'STATE',
      description: `Only VMs in this state: ${states.join(', ')}; all but gone unless given.`,
    },
    ...outputOptions,
    ...zoneOptions,
  },
  examples: [
    { line: 'vms --state silent', shows: 'which agents should have spoken by now and did not' },
    { line: 'vms --trail ./trail.db -o json', shows: 'the whole fleet, for a program' },
  ],
  notes: [
    'heard: it speaks as it should. silent: its next heartbeat is overdue. asleep: it speaks, but IMDS does not answer it. gone: a Preempt or Terminate ended its VM. unknown: its last word lies in the future.',
    'Of several installations on one VM the one that was heard of last stands here. A VM without an agent is not known.',
  ],
  async run(context) {
    const zone = chosenZone(context);
    const state = chosenState(context);
    outputFormat(context);
    try {
      const rows = (await fleetOf(context, Date.now())).filter((row) =>
        state === null ? row.state !== 'gone' : row.state === state,
      );
      await printRows(context, columnsIn(zone), rows, 'no VM matches');
      return 0;
    } catch (error) {
      if (!(error instanceof TrailUnusable)) throw error;
      context.stderr.write(`seb: ${error.message}\n`);
      return 1;
    }
  },
});

/** @throws UsageError */
function chosenState(context: CommandContext): AgentState | null {
  const asked = textOption(context, 'state');
  if (asked === undefined) return null;
  const state = states.find((name) => name === asked);
  if (state === undefined) throw new UsageError(`--state takes ${states.join(', ')}, not "${asked}"`);
  return state;
}

interface VmRow extends AgentStanding {
  readonly agent: TrailAgent;
  /** How many events that name it are under way. */
  readonly openEvents: number;
}

async function fleetOf(context: CommandContext, now: number): Promise<VmRow[]> {
  await using trail = await openChosenTrail(context);
  const agents = await trail.agents();
  const [byId, open] = [new Map(agents.map((agent) => [agent.agentId, agent])), await openByVm(trail)];
  const rows = standingsOf(agents, now).flatMap((standing) => {
    const agent = byId.get(standing.agentId);
    const openEvents = open.get(canonicalName(standing.vmName ?? '')) ?? 0;
    return agent === undefined ? [] : [{ ...standing, agent, openEvents }];
  });
  const name = ({ vmName, agentId }: VmRow): string => vmName ?? agentId;
  return rows.sort((one, other) => name(one).localeCompare(name(other), 'en', { numeric: true }));
}

const eventsMax = 100_000;

async function openByVm(trail: TrailReader): Promise<Map<string, number>> {
  const open = new Map<string, number>();
  for (const event of await trail.events({ open: true, limit: eventsMax })) {
    for (const name of event.vms.map(canonicalName)) open.set(name, (open.get(name) ?? 0) + 1);
  }
  return open;
}

const tones: Readonly<Record<AgentState, Tone | undefined>> = {
  ...{ heard: 'green', silent: 'red', asleep: 'yellow', gone: 'dim', unknown: 'yellow' },
};

const countOf = (missing: Ranges): number => missing.reduce((sum, [from, to]) => sum + to - from + 1, 0);

const columnsIn = (zone: string): readonly Column<VmRow>[] => [
  { name: 'vmName', heading: 'VM', elastic: true, value: ({ vmName, agentId }) => vmName ?? agentId },
  { name: 'state', value: ({ state }) => state, tone: ({ state }) => tones[state] },
  {
    name: 'lastAt',
    heading: 'LAST HEARD',
    value: ({ agent }) => iso(agent.lastAt),
    text: ({ agent }) => writeMoment(agent.lastAt, zone),
  },
  { name: 'version', value: ({ agent }) => agent.version },
  { name: 'faultDomain', heading: 'FD', align: 'right', value: ({ agent }) => agent.faultDomain },
  { name: 'vmScaleSet', heading: 'SCALE SET', elastic: true, value: ({ agent }) => agent.vmScaleSet },
  { name: 'missing', align: 'right', value: ({ agent }) => countOf(agent.missing) },
  { name: 'openEvents', heading: 'EVENTS', align: 'right', value: ({ openEvents }) => openEvents },
  hidden('since', ({ since }) => iso(since)),
  hidden('expectedBy', ({ expectedBy }) => iso(expectedBy)),
  hidden('agentId', ({ agentId }) => agentId),
  hidden('vmId', ({ vmId }) => vmId),
  hidden('resourceId', ({ agent }) => agent.resourceId),
  hidden('location', ({ agent }) => agent.location),
  hidden('zone', ({ agent }) => agent.zone),
  hidden('placementGroupId', ({ agent }) => agent.placementGroupId),
  hidden('sourceState', ({ agent }) => agent.sourceState),
  hidden('lastDocumentAt', ({ agent }) => (agent.lastDocumentAt === null ? null : iso(agent.lastDocumentAt))),
  hidden('heartbeatIntervalMs', ({ agent }) => agent.heartbeatIntervalMs),
  hidden('firstAt', ({ agent }) => iso(agent.firstAt)),
];

const hidden = (name: string, value: Column<VmRow>['value']): Column<VmRow> => ({
  ...{ name, value, hidden: true },
});

const iso = (at: number): string => new Date(at).toISOString();
