// `seb events`: what happened in the fleet, one line per event, whoever saw it.
import { type TrailEvent, TrailUnusable } from '../audit/store.ts';
import { type CommandContext, defineCommand, numberOption, textOption } from './command.ts';
import { chosenZone, readMoment, writeMoment, zoneOptions } from './moment.ts';
import { type Column, outputFormat, outputOptions, printRows, type Tone } from './table.ts';
import { openChosenTrail, trailOptions } from './trail.ts';

export const events = defineCommand({
  name: 'events',
  summary: 'Lists the maintenance events in the trail.',
  options: {
    ...trailOptions,
    type: {
      type: 'string',
      value: 'TYPE',
      description: 'Only this type: Freeze, Reboot, Redeploy, Preempt, Terminate.',
    },
    since: { type: 'string', value: 'TIME', description: 'Only events last heard of at this time or later.' },
    until: { type: 'string', value: 'TIME', description: 'Only events first heard of before this time.' },
    vm: {
      type: 'string',
      value: 'VM',
      description: 'Only events that name this VM: its name, VM id or resource id.',
    },
    open: { type: 'boolean', description: 'Only events that nobody told the end of.' },
    limit: { type: 'string', value: 'N', description: 'At most this many, the latest; default 1000.' },
    ...outputOptions,
    ...zoneOptions,
  },
  examples: [
    { line: 'events --type freeze --since yesterday', shows: 'which VMs were frozen last night' },
    { line: 'events --vm web-7 --since 7d --utc', shows: 'what happened to one VM in a week' },
    { line: 'events --open', shows: 'what is announced or under way now' },
    { line: 'events --trail ./trail.db -o jsonl', shows: 'everything, for a program' },
  ],
  notes: [
    'Times are given as now, today, yesterday, 2h or 7d (ago), 2026-11-10, "2026-11-10 22:27" or RFC 3339.',
    'A cell with ~ was inferred: Azure only removes an event, and never says how it ended.',
    '"seb timeline EVENT_ID" tells the story of one of them.',
  ],
  async run(context) {
    const zone = chosenZone(context);
    outputFormat(context);
    const query = queryOf(context, zone);
    try {
      await using trail = await openChosenTrail(context);
      await printRows(context, columnsIn(zone), await trail.events(query), 'no event matches');
      return 0;
    } catch (error) {
      if (!(error instanceof TrailUnusable)) throw error;
      context.stderr.write(`seb: ${error.message}\n`);
      return 1;
    }
  },
});

function queryOf(context: CommandContext, zone: string) {
  const now = Date.now();
  const [type, since, until, vm] = ['type', 'since', 'until', 'vm'].map((name) => textOption(context, name));
  return {
    limit: numberOption(context, 'limit', { fallback: 1_000, min: 1, max: 100_000 }),
    ...(type === undefined ? {} : { type }),
    ...(since === undefined ? {} : { since: readMoment(since, 'since', zone, now) }),
    ...(until === undefined ? {} : { until: readMoment(until, 'until', zone, now) }),
    ...(vm === undefined ? {} : { vm }),
    ...(context.options['open'] === true ? ({ open: true } as const) : {}),
  };
}

const tones: Readonly<Record<TrailEvent['status'], Tone | undefined>> = {
  scheduled: 'yellow',
  started: 'red',
  completed: 'green',
  canceled: 'dim',
};

const tilde = (text: string, inferred: boolean): string => `${inferred ? '~' : ''}${text}`;

function columnsIn(zone: string): readonly Column<TrailEvent>[] {
  const time = (
    name: string,
    heading: string,
    at: (event: TrailEvent) => number | null,
  ): Column<TrailEvent> => ({
    name,
    heading,
    value: (event) => isoOrNull(at(event)),
    text: (event) => momentOrNothing(at(event), zone),
  });
  return [
    { ...time('firstSeenAt', 'FIRST SEEN', (event) => event.firstSeenAt) },
    // Whole, because "seb timeline" wants all of it.
    { name: 'eventId', heading: 'EVENT', value: ({ eventId }) => eventId },
    { name: 'eventType', heading: 'TYPE', value: ({ eventType }) => eventType },
    {
      name: 'status',
      value: ({ status }) => status,
      text: ({ status, outcomeInferred }) => tilde(status, outcomeInferred),
      tone: ({ status }) => tones[status],
    },
    {
      name: 'outcome',
      value: ({ outcome }) => outcome,
      text: ({ outcome, outcomeInferred }) => (outcome === null ? '' : tilde(outcome, outcomeInferred)),
    },
    { name: 'observers', align: 'right', value: ({ observers }) => observers },
    { ...time('startedAt', 'STARTED', (event) => event.startedAt) },
    { name: 'vms', heading: 'VMS', elastic: true, value: ({ vms }) => vms },
    ...hiddenColumns,
  ];
}

const hidden = (name: string, value: Column<TrailEvent>['value']): Column<TrailEvent> => ({
  name,
  value,
  hidden: true,
});

const hiddenColumns: readonly Column<TrailEvent>[] = [
  hidden('outcomeInferred', ({ outcomeInferred }) => outcomeInferred),
  hidden('eventSource', ({ eventSource }) => eventSource),
  hidden('notBefore', ({ notBefore }) => notBefore),
  hidden('durationSeconds', ({ durationSeconds }) => durationSeconds),
  hidden('description', ({ description }) => description),
  hidden('scheduledAt', ({ scheduledAt }) => isoOrNull(scheduledAt)),
  hidden('updatedAt', ({ updatedAt }) => isoOrNull(updatedAt)),
  hidden('endedAt', ({ endedAt }) => isoOrNull(endedAt)),
  hidden('lastSeenAt', ({ lastSeenAt }) => isoOrNull(lastSeenAt)),
  hidden('phaseObservers', ({ phaseObservers }) => phaseObservers),
];

const isoOrNull = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

const momentOrNothing = (at: number | null, zone: string): string =>
  at === null ? '' : writeMoment(at, zone);
