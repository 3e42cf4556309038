// How the demo ends: a table of the events, the balance of what was said and what arrived, and what to try next.
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
}

/** Prints the summary. */
export async function printSummary(context: CommandContext, facts: SummaryFacts): Promise<void> {
  const { stdout } = context;
  stdout.write('\n');
  await printRows({ ...context, options: { output: 'table' } }, columnsOf(facts), facts.events);
  stdout.write(`\n${balanceText(context, facts)}\n${nextText()}`);
}

function columnsOf({ recordsOf, posts, fleetSize }: SummaryFacts): Column<TrailEvent>[] {
  const postsOf = Map.groupBy(posts, ({ event }) => event?.eventId ?? '');
  return [
    { name: 'event', value: ({ eventId }) => shortId(eventId) },
    { name: 'type', value: ({ eventType }) => eventType },
    { name: 'life', value: lifeOf, elastic: true },
    { name: 'witnesses', value: (event) => witnessesOf(event, fleetSize) },
    { name: 'vms', value: ({ vms }) => vms.length, align: 'right' },
    { name: 'records', value: ({ eventId }) => recordsOf.get(eventId) ?? 0, align: 'right' },
    { name: 'posts', value: ({ eventId }) => postsOf.get(eventId)?.length ?? 0, align: 'right' },
  ];
}

function balanceText({ stdout }: CommandContext, { posts, trail, balance, events }: SummaryFacts): string {
  const [fine, bad] = ['green', 'red'] as const;
  const sum = events.length === 1 ? 'one event' : count(events.length, 'event');
  const verdict =
    balance.faults.length === 0
      ? styleText(fine, 'Nothing is missing and nothing came twice.', { stream: stdout })
      : balance.faults.map((fault) => styleText(bad, `${fault}.`, { stream: stdout })).join('\n');
  const inferred = events.some(({ outcomeInferred }) => outcomeInferred)
    ? '~ inferred: Azure never says that an event is over; it takes it out of the document.\n'
    : '';
  return (
    `The agents wrote down ${count(balance.committed, 'record')}; the trail holds ${trail.records}, in ${count(trail.entries, 'entry').replace('entrys', 'entries')}, about ${sum} and ${count(trail.agents, 'agent')}.\n` +
    `The webhook was due ${count(balance.postsDue, 'POST')} and got ${posts.length}.\n${verdict}\n${inferred}`
  );
}

function nextText(): string {
  const seb = process.argv[1]?.endsWith('.ts') ? 'npm run --silent seb --' : 'seb';
  const lines = [
    ['demo --vms 100 --scenario fault-domains', 'a hundred VMs, rebooted back to back'],
    ['emulate imds --list', 'every scenario there is; docs/scenarios.md says how to write one'],
    ['emulate imds --scenario user-reboot --speed 60', 'an endpoint for an agent of your own'],
    ['emulate eventhubs', 'a hub for it to send to'],
    ['config docs', 'every setting of agent.yaml, for "agent -c agent.yaml" on a real VM'],
  ];
  const width = Math.max(...lines.map(([command = '']) => command.length));
  const list = lines.map(([command = '', shows]) => `  ${seb} ${command.padEnd(width)}  ${shows}`);
  return `Everything lived in a temporary directory, which is gone now. Next:\n${list.join('\n')}\n`;
}
