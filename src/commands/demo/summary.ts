// How the demo ends: a table of the events, and the balance of what was written down and what arrived.
import { styleText } from 'node:util';
import type { TrailCounts, TrailEvent } from '../../audit/store.ts';
import type { TrailRecord } from '../../core/read-record.ts';
import type { CommandContext } from '../command.ts';
import { type Column, printRows } from '../table.ts';
import type { Balance } from './balance.ts';
import { count, shortId } from './line.ts';
import { lifeOf, witnessesOf } from './trail-view.ts';

export interface SummaryFacts {
  readonly events: readonly TrailEvent[];
  /** Observations of each event in the trail, by its id. */
  readonly recordsOf: ReadonlyMap<string, number>;
  readonly posts: readonly TrailRecord[];
  readonly trail: TrailCounts;
  readonly balance: Balance;
  readonly fleetSize: number;
  /** What was approved, line by line. */
  readonly approved: readonly string[];
}

/** Prints the summary. */
export async function printSummary(context: CommandContext, facts: SummaryFacts): Promise<void> {
  const { stdout } = context;
  stdout.write('\n');
  await printRows({ ...context, options: { output: 'table' } }, columnsOf(facts), facts.events);
  stdout.write(`\n${balanceText(context, facts)}`);
}

function columnsOf({ recordsOf, posts, fleetSize }: SummaryFacts): Column<TrailEvent>[] {
  const postsOf = Map.groupBy(posts, ({ event }) => event?.eventId ?? '');
  return [
    { name: 'event', value: ({ eventId }) => shortId(eventId) },
    { name: 'type', value: ({ eventType }) => eventType },
    { name: 'life', value: lifeOf, elastic: 'in-lines' },
    { name: 'witnesses', value: (event) => witnessesOf(event, fleetSize) },
    { name: 'vms', value: ({ vms }) => vms.length, align: 'right' },
    { name: 'records', value: ({ eventId }) => recordsOf.get(eventId) ?? 0, align: 'right' },
    { name: 'posts', value: ({ eventId }) => postsOf.get(eventId)?.length ?? 0, align: 'right' },
  ];
}

function balanceText(
  { stdout }: CommandContext,
  { posts, trail, balance, events, approved }: SummaryFacts,
): string {
  const entries = trail.entries === 1 ? '1 entry' : `${trail.entries} entries`;
  const verdict =
    balance.faults.length === 0
      ? styleText('green', 'Nothing is missing and nothing came twice.', { stream: stdout })
      : balance.faults.map((fault) => styleText('red', `WRONG: ${fault}`, { stream: stdout })).join('\n');
  const inferred = events.some(({ outcomeInferred }) => outcomeInferred)
    ? ['~ inferred: Azure never says that an event is over, it takes it out of the document.']
    : [];
  return [
    `Written down by the agents  ${count(balance.committed, 'record')}`,
    `In the trail                ${count(trail.records, 'record')} in ${entries}, from ${count(trail.agents, 'agent')}`,
    `At the webhook              ${count(posts.length, 'POST')} of ${balance.postsDue} that were due`,
    ...approved,
    verdict,
    ...inferred,
    '',
  ].join('\n');
}
