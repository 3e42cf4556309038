// `seb audit replay`: reads the hub again and compares it with the trail, or makes the answers anew from the entries.
import { TrailUnusable } from '../audit/store.ts';
import { loadConfiguration } from '../config/load.ts';
import { hubConnector } from '../consumer/hub.ts';
import { hubAdviceOf } from '../consumer/hub-advice.ts';
import { hubFaultOf } from '../consumer/hub-fault.ts';
import { describeHub, HubSilent, type Replayed, replayPartition } from '../consumer/replay.ts';
import { type Difference, HubJumps, type Sure } from '../consumer/replay-comparison.ts';
import { consumerSettings } from '../consumer/settings.ts';
import { type CommandContext, defineCommand, numberOption, textOption, UsageError } from './command.ts';
import { chosenFile } from './program.ts';
import { type Column, outputFormat, outputOptions, printRows } from './table.ts';
import { trailOptions } from './trail.ts';
import { openForCare, sureOf } from './trail-care.ts';

export const auditReplay = defineCommand({
  name: 'audit replay',
  summary: 'Reads the hub again and compares it with the trail; appends what the trail lacks at its end.',
  options: {
    ...trailOptions,
    partition: {
      type: 'string',
      multiple: true,
      value: 'P',
      description: 'Only this partition; may be repeated.',
    },
    'from-sequence-number': {
      type: 'string',
      value: 'N',
      description: 'Where to begin in the one partition that is named; else with what the hub holds longest.',
    },
    'consumer-group': {
      type: 'string',
      value: 'NAME',
      description: 'Read in this consumer group, instead of the consumer’s own.',
    },
    rebuild: {
      type: 'boolean',
      description:
        'Leave the hub: make the answers to questions anew from the entries, and say what changed.',
    },
    ...outputOptions,
  },
  examples: [
    { line: 'audit replay -c consumer.yaml', shows: 'whether the trail says what the hub says' },
    {
      line: 'audit replay -c consumer.yaml --partition 3 --from-sequence-number 1000',
      shows: 'the same of one partition, from one event on',
    },
    {
      line: 'audit replay -c consumer.yaml --rebuild',
      shows: 'which answers were not what the entries give',
    },
  ],
  notes: [
    'Exit codes: 0 the same; 10 the trail says something else than the hub, or --rebuild changed something; 11 the hub holds events inside a gap of the trail, which can no longer be appended; 1 it could not be read.',
    'It compares hashes, so it also compares entries whose bodies were pruned; it reaches back as far as the hub keeps events.',
    'It can run beside a consumer. Where several consumers share the partitions, give it a consumer group of its own: in theirs the hub would refuse it. --rebuild lets the consumer wait until it is done.',
    'The journal says that it was done, and how much differed.',
  ],
  async run(context) {
    outputFormat(context);
    try {
      return context.options['rebuild'] === true ? await rebuild(context) : await replay(context);
    } catch (error) {
      if (context.signal.aborted) return 130;
      if (!(error instanceof TrailUnusable)) throw error;
      context.stderr.write(`seb: ${error.message}\n`);
      return 1;
    }
  },
});

const columns: readonly Column<Replayed>[] = [
  { name: 'partition', value: ({ partition }) => partition },
  { name: 'from', align: 'right', value: ({ from }) => from },
  { name: 'to', align: 'right', value: ({ to }) => to },
  { name: 'compared', align: 'right', value: ({ compared }) => compared },
  { name: 'different', align: 'right', value: ({ different }) => different },
  { name: 'missing', align: 'right', value: ({ missing }) => missing },
  { name: 'appended', align: 'right', value: ({ appended }) => appended },
  { name: 'stream', hidden: true, value: ({ stream }) => stream },
  {
    name: 'differences',
    hidden: true,
    value: ({ differences }) => differences.map((difference) => ({ ...difference })),
  },
];

async function replay(context: CommandContext): Promise<number> {
  const settings = loadConfiguration(chosenFile(context, 'consumer'), consumerSettings);
  const group = textOption(context, 'consumer-group');
  const connect = hubConnector({ ...settings.hub, ...(group === undefined ? {} : { consumerGroup: group }) });
  const named = [context.options['partition'] ?? []].flat().map(String);
  const from = firstNumber(context, named);
  const { signal } = context;
  const sure: Sure = (attempt) => sureOf(attempt, signal);
  await using trail = await openForCare(context, { makes: true });
  const rows: Replayed[] = [];
  try {
    const hub = await describeHub(connect);
    const stranger = named.find((partition) => !hub.partitions.includes(partition));
    if (stranger !== undefined) throw new UsageError(`the hub ${hub.name} has no partition "${stranger}"`);
    for (const partition of named.length === 0 ? hub.partitions : named) {
      signal.throwIfAborted();
      rows.push(await replayPartition(hub, partition, { trail, connect, from, signal, sure }));
    }
  } catch (error) {
    if (error instanceof TrailUnusable || error instanceof UsageError || signal.aborted) throw error;
    throw new TrailUnusable(whyOf(error));
  } finally {
    for (const row of rows) for (const line of linesOf(row)) context.stderr.write(`${line}\n`);
    if (rows.length > 0) await printRows(context, columns, rows);
  }
  if (rows.some(({ different }) => different > 0)) return 10;
  return rows.some(({ missing }) => missing > 0) ? 11 : 0;
}

function firstNumber(context: CommandContext, partitions: readonly string[]): number | null {
  if (textOption(context, 'from-sequence-number') === undefined) return null;
  if (partitions.length !== 1) {
    throw new UsageError('--from-sequence-number belongs to one --partition: each counts for itself');
  }
  const bounds = { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER };
  return Math.trunc(numberOption(context, 'from-sequence-number', bounds));
}

function whyOf(error: unknown): string {
  if (error instanceof HubJumps) {
    return 'the hub’s numbers jumped while it was read, so nothing was appended behind the jump; try again';
  }
  if (error instanceof HubSilent) return 'the hub stopped giving events before its end; try again';
  const fault = hubFaultOf(error);
  if (fault === 'taken-over') {
    return 'the hub gives this partition to the consumers that share it: name another consumer group with --consumer-group';
  }
  return `the hub cannot be read: ${fault}; ${hubAdviceOf(fault)}`;
}

const sentences: Readonly<Record<Difference['kind'], string>> = {
  'other-bytes': 'the trail holds other bytes than the hub',
  'other-time': 'the trail says that the hub stored it at another time',
  'not-in-hub': 'the trail holds it, and the hub does not',
  'not-in-trail': 'the hub holds it, and the trail goes on without it',
};

function linesOf({ stream, differences, different, missing }: Replayed): string[] {
  const lines = differences.map(({ sequenceNumber, kind }) => {
    return `seb: ${stream}, sequence number ${sequenceNumber}: ${sentences[kind]}`;
  });
  const rest = different + missing - differences.length;
  return rest === 0 ? lines : [...lines, `seb: ${stream}: ${rest} more`];
}

async function rebuild(context: CommandContext): Promise<number> {
  const others = ['partition', 'from-sequence-number', 'consumer-group'];
  const given = others.find((name) => context.options[name] !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} has no meaning with --rebuild: it reads no hub`);
  await using trail = await openForCare(context, { makes: false });
  const { different, damaged, entries } = await sureOf(() => trail.rebuild(), context.signal);
  const rows = different.map((projection) => ({ projection }));
  const projection: Column<{ projection: string }> = { name: 'projection', value: (row) => row.projection };
  await printRows(context, [projection], rows, `all answers were what ${entries} entries give`);
  for (const { stream, index } of damaged.slice(0, 20)) {
    context.stderr.write(
      `seb: ${stream}, index ${index}: its bytes do not match its hash; it says nothing\n`,
    );
  }
  return different.length > 0 || damaged.length > 0 ? 10 : 0;
}
