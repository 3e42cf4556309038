// What the commands that look after an outbox, an agent's or that of a consumer's notices, have in common: which deliveries are meant, and how they show.
import type { DatabaseSync } from 'node:sqlite';
import { nearest } from '../config/nearest.ts';
import { adviceOf } from '../core/advice.ts';
import type { DeliveryReason } from '../core/delivery.ts';
import {
  type CareRow,
  type CareSelection,
  type CareState,
  listDeliveries,
  openOutboxForCare,
} from '../delivery/outbox/care.ts';
import { UnknownSchema } from '../delivery/outbox/schema.ts';
import { faultOf, type StorageFault } from '../delivery/outbox/storage.ts';
import { type CommandContext, type CommandOptions, textOption, UsageError } from './command.ts';
import { chosenZone, readMoment, writeAge, writeMoment, zoneOptions } from './moment.ts';
import { type Delivering, fileOption, loadDelivering } from './program.ts';
import { type Column, outputFormat, outputOptions, printRows, type Tone } from './table.ts';

const states: readonly CareState[] = ['pending', 'suspended', 'dead', 'delivered', 'discarded', 'superseded'];

/** Those that a person may have to do something about. */
export const openStates: readonly CareState[] = ['pending', 'suspended', 'dead'];

/** The options of every command that chooses deliveries. */
export const selectionOptions: CommandOptions = {
  ...fileOption('agent'),
  sink: { type: 'string', value: 'NAME', description: 'Only deliveries to this sink.' },
  state: {
    type: 'string',
    multiple: true,
    value: 'STATE',
    description: `Only in this state: ${states.join(', ')}; may be repeated.`,
  },
  before: {
    type: 'string',
    value: 'TIME',
    description: 'Only records made before this time, such as 7d (ago).',
  },
  ...outputOptions,
  ...zoneOptions,
};

/**
 * The deliveries that the options and operands name.
 * @throws UsageError
 */
export function chosenDeliveries(context: CommandContext): CareSelection {
  const named = [context.options['state'] ?? []].flat().map(String);
  const wrong = named.find((name) => !states.some((state) => state === name));
  if (wrong !== undefined) throw new UsageError(`--state takes ${states.join(', ')}, not "${wrong}"`);
  const [sink, before] = [textOption(context, 'sink'), textOption(context, 'before')];
  const at = before === undefined ? undefined : readMoment(before, 'before', chosenZone(context), Date.now());
  return {
    ...(context.operands.length === 0 ? {} : { ids: context.operands }),
    ...(sink === undefined ? {} : { sink }),
    ...(named.length === 0 ? {} : { states: states.filter((state) => named.includes(state)) }),
    ...(at === undefined ? {} : { committedBefore: at }),
  };
}

/** The options of a command that changes deliveries. */
export const changingOptions: CommandOptions = {
  ...selectionOptions,
  all: { type: 'boolean', description: 'Every delivery that is not made yet.' },
};

/**
 * Changes the deliveries that were named and prints them as they stand then.
 * @returns 1 when ids were given and none of them is open
 */
export async function changeDeliveries(
  context: CommandContext,
  change: (database: DatabaseSync, selection: CareSelection, now: number) => readonly CareRow[],
): Promise<number> {
  const selection = meantDeliveries(context);
  return withOutbox(context, async (database, advise) => {
    const rows = change(database, selection, Date.now());
    await printRows(context, deliveryColumns(context, advise), rows, 'no open delivery fits');
    return rows.length === 0 && selection.ids !== undefined ? 1 : 0;
  });
}

/** Where something changes, it must be said what is meant. */
function meantDeliveries(context: CommandContext): CareSelection {
  const selection = chosenDeliveries(context);
  if (Object.keys(selection).length > 0 || context.options['all'] === true) return selection;
  throw new UsageError('say which deliveries are meant: ids, --sink, --state, --before or --all');
}

const explanations: Readonly<Record<StorageFault, string>> = {
  full: 'there is no room on its disk',
  damaged: 'it is damaged; its program sets it aside and begins a new one when it starts',
  unavailable: 'another program holds it, or this user may not use it',
};

const otherVersion =
  'it is of another version of the program; one of this version brings an older one up to date when it starts';

/** Why a delivery stands as it does, and what to do about it; null when there is nothing to say. */
export type Advise = (row: CareRow) => string | null;

/**
 * Does something with the outbox of the program whose file `-c` names, beside the one that may be running.
 * @returns the exit code of `work`, or 1 when there is no outbox that can be used
 */
export async function withOutbox(
  context: CommandContext,
  work: (database: DatabaseSync, advise: Advise) => number | Promise<number>,
): Promise<number> {
  outputFormat(context);
  const delivering = await loadDelivering(context);
  const { stateDir, sinks } = delivering;
  const advise: Advise = ({ sink, reason }) =>
    reason === null ? null : (adviceOf(reason as DeliveryReason, sinks[sink]?.type ?? '') ?? null);
  try {
    using database = openOutboxForCare(stateDir);
    if (database !== null) {
      refuseUnknownSink(context, database, Object.keys(sinks));
      return await work(database, advise);
    }
    context.stderr.write(`seb: there is no outbox in ${stateDir}; ${makers[delivering.program]}\n`);
  } catch (error) {
    const why = whyUnusable(error);
    if (why === null) throw error;
    context.stderr.write(`seb: the outbox in ${stateDir} cannot be used: ${why}\n`);
  }
  return 1;
}

const makers: Readonly<Record<Delivering['program'], string>> = {
  agent: 'the agent makes it when it first runs',
  consumer: 'the consumer that sends the notices makes it, on its own disk',
};

function whyUnusable(error: unknown): string | null {
  if (error instanceof UnknownSchema) return otherVersion;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EACCES') return 'this user may not look into the directory; try it as root, with sudo';
  if (syscall === 'stat') return `the system says ${code}`;
  const fault = faultOf(error);
  return fault === null ? null : explanations[fault];
}

/** A mistyped name would look like a queue that is empty. A sink that is configured no more may still have a queue. */
function refuseUnknownSink(context: CommandContext, database: DatabaseSync, configured: readonly string[]) {
  const sink = textOption(context, 'sink');
  if (sink === undefined || configured.includes(sink)) return;
  if (listDeliveries(database, { sink }).length > 0) return;
  const meant = nearest(sink, configured);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw new UsageError(`neither the configuration nor the outbox has a sink "${sink}"${hint}`);
}

const tones: Readonly<Record<CareState, Tone | undefined>> = {
  pending: undefined,
  suspended: 'yellow',
  dead: 'red',
  delivered: 'green',
  discarded: 'dim',
  superseded: 'dim',
};

/** The columns of a table of deliveries. */
export function deliveryColumns(context: CommandContext, advise: Advise): readonly Column<CareRow>[] {
  const zone = chosenZone(context);
  const now = Date.now();
  const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  return [
    // Never cut short, however narrow the terminal: the other commands take it as it stands here.
    { name: 'id', value: ({ id }) => id },
    { name: 'sink', value: ({ sink }) => sink },
    { name: 'state', value: ({ state }) => state, tone: ({ state }) => tones[state] },
    { name: 'attempts', value: ({ attempts }) => attempts, align: 'right' },
    {
      name: 'dueAt',
      heading: 'DUE',
      value: ({ dueAt }) => iso(dueAt),
      text: ({ dueAt }) => (dueAt === null ? '' : writeMoment(dueAt, zone)),
    },
    { name: 'reason', value: ({ reason }) => reason },
    {
      name: 'committedAt',
      heading: 'AGE',
      value: ({ committedAt }) => iso(committedAt),
      text: ({ committedAt }) => writeAge(now - committedAt),
    },
    { name: 'advice', value: advise, hidden: true },
    { name: 'sequence', value: ({ sequence }) => sequence, hidden: true },
  ];
}
