// `seb audit prune`: drops bodies whose time is over, and lays and releases the legal holds that forbid it.
import { holdsIn } from '../audit/holds.ts';
import { type TrailSource, TrailUnusable } from '../audit/store.ts';
import { type CommandContext, defineCommand, textOption, UsageError } from './command.ts';
import { chosenZone, readMoment, writeMoment, zoneOptions } from './moment.ts';
import { type Column, outputFormat, outputOptions, printRows } from './table.ts';
import { openChosenSource, trailOptions } from './trail.ts';
import { openForCare, sureOf } from './trail-care.ts';

export const auditPrune = defineCommand({
  name: 'audit prune',
  summary: 'Drops the bodies of old entries and keeps their hashes, unless a legal hold stands.',
  options: {
    ...trailOptions,
    before: {
      type: 'string',
      value: 'TIME',
      description: 'Bodies of entries that the hub stored before this time, such as 400d (ago).',
    },
    'dry-run': { type: 'boolean', description: 'Only say how many bodies would go.' },
    hold: {
      type: 'string',
      value: 'NAME',
      description: 'Lay a legal hold of this name instead: nothing is pruned until it is released.',
    },
    release: { type: 'string', value: 'NAME', description: 'Release the legal hold of this name instead.' },
    ...outputOptions,
    ...zoneOptions,
  },
  examples: [
    { line: 'audit prune -c consumer.yaml --before 400d --dry-run', shows: 'how much would go' },
    { line: 'audit prune -c consumer.yaml --before 2025-01-01', shows: 'how many bodies went, by stream' },
    { line: 'audit prune -c consumer.yaml --hold case-2026-17', shows: 'the holds that stand' },
  ],
  notes: [
    'What goes is the body of an entry: what an agent said, word for word. Its hash stays, so the trail is verified as before; and so do the answers to questions. From each stream the oldest go, without a hole.',
    'It can run beside a consumer: it goes in slices, each with a line in the journal, and neither waits long for the other. Afterwards a SQLite file has room for as much again, but is not smaller: for that, stop the consumer and have SQLite run VACUUM.',
    'Copies and backups that were made before keep what they have. Once a body is gone, a record of it can no longer be proven to say what it said, only that it was there: "seb audit prove" it before.',
    'Exit code 1 while a legal hold stands; the holds are named.',
  ],
  async run(context) {
    outputFormat(context);
    const zone = chosenZone(context);
    const [before, hold, release] = ['before', 'hold', 'release'].map((name) => textOption(context, name));
    if ([before, hold, release].filter((given) => given !== undefined).length !== 1) {
      throw new UsageError('"seb audit prune" takes one of --before, --hold and --release');
    }
    const isDry = context.options['dry-run'] === true;
    if (isDry && before === undefined) throw new UsageError('--dry-run belongs to --before');
    try {
      if (before === undefined) return await changeHold(context, { hold, release });
      const at = readMoment(before, 'before', zone, Date.now());
      return isDry ? await foresee(context, at) : await prune(context, at, writeMoment(at, zone));
    } catch (error) {
      if (context.signal.aborted) return 130;
      if (!(error instanceof TrailUnusable)) throw error;
      context.stderr.write(`seb: ${error.message}\n`);
      return 1;
    }
  },
});

interface Row {
  readonly stream: string;
  readonly bodies: number;
}

const columns: readonly Column<Row>[] = [
  { name: 'stream', elastic: true, value: ({ stream }) => stream },
  { name: 'bodies', align: 'right', value: ({ bodies }) => bodies },
];

async function prune(context: CommandContext, at: number, moment: string): Promise<number> {
  await using trail = await openForCare(context, { makes: false });
  const result = await sureOf(() => trail.prune(at, context.signal), context.signal);
  if (result.status === 'held') return refuse(context, result.holds);
  await printRows(context, columns, result.streams, `nothing is older than ${moment}`);
  return context.signal.aborted ? 130 : 0;
}

function refuse(context: CommandContext, holds: readonly string[]): number {
  context.stderr.write(`seb: nothing is pruned: ${standing(holds)}\n`);
  return 1;
}

const standing = (holds: readonly string[]): string =>
  holds.length === 0 ? 'no legal hold stands' : `a legal hold stands: ${holds.join(', ')}`;

/** What a prune would do now. */
async function foresee(context: CommandContext, at: number): Promise<number> {
  await using source = await openChosenSource(context);
  const holds = await holdsIn(source);
  if (holds.length > 0) return refuse(context, holds);
  const rows: Row[] = [];
  for (const { name, kind } of await source.streams()) {
    const bodies = kind === 'hub' ? await oldBodies(source, name, at) : 0;
    if (bodies > 0) rows.push({ stream: name, bodies });
  }
  await printRows(context, columns, rows, 'nothing is old enough');
  return 0;
}

async function oldBodies(source: TrailSource, stream: string, at: number): Promise<number> {
  let bodies = 0;
  for await (const chunk of source.entries(stream)) {
    for (const { enqueuedMs, body } of chunk) {
      if (body === null) continue;
      if (enqueuedMs >= at) return bodies;
      bodies += 1;
    }
  }
  return bodies;
}

interface HoldChange {
  readonly hold: string | undefined;
  readonly release: string | undefined;
}

// A hold is named in sentences and in the journal for good.
const holdName = /^[\p{L}\p{N}][\p{L}\p{N} ._/-]{0,99}$/u;

async function changeHold(context: CommandContext, { hold, release }: HoldChange): Promise<number> {
  const name = hold ?? release ?? '';
  if (!holdName.test(name)) {
    throw new UsageError('a legal hold has a name of up to 100 letters, digits, spaces and ._/-');
  }
  await using trail = await openForCare(context, { makes: false });
  const before = await holdsNow(context);
  if (release !== undefined && !before.includes(name)) {
    context.stderr.write(`seb: there is no legal hold "${name}" to be released; ${standing(before)}\n`);
    return 1;
  }
  const kind = hold === undefined ? 'released' : 'held';
  if (kind === 'released' || !before.includes(name)) {
    await sureOf(() => trail.journal([{ kind, hold: name }]), context.signal);
  }
  context.stderr.write(`${standing(await holdsNow(context))}\n`);
  return 0;
}

async function holdsNow(context: CommandContext): Promise<string[]> {
  await using source = await openChosenSource(context);
  return await holdsIn(source);
}
