// The middle and the end of the demo: scenarios play while every place is looked at, then all is counted.
import { systemClock } from '../../clock.ts';
import type { ImdsEmulator } from '../../emulators/imds/emulator.ts';
import type { CommandContext } from '../command.ts';
import { approvedLines } from './approver.ts';
import type { ArrivalView } from './arrival-view.ts';
import { type Balance, balanceOf } from './balance.ts';
import { type Line, note } from './line.ts';
import type { DemoPlan } from './plan.ts';
import type { Receiver } from './receiver.ts';
import type { SourceView } from './source-view.ts';
import { printSummary } from './summary.ts';
import type { TrailView } from './trail-view.ts';

export interface Story {
  readonly plan: DemoPlan;
  readonly context: CommandContext;
  readonly imds: ImdsEmulator;
  readonly receiver: Receiver;
  readonly source: SourceView;
  readonly arrivals: ArrivalView;
  readonly trail: TrailView;
  readonly print: (line: Line) => void;
}

const lookIntervalMs = 400;
// A hundred agents on a busy machine need long; whoever watches can interrupt.
const settleMsMax = 120_000;
const eventsMax = 10_000;

/** @returns the exit code: 1 when something is missing or came twice */
export async function tellStory(story: Story): Promise<number> {
  const { signal } = story.context;
  const over = new AbortController();
  const act = async (): Promise<void> => {
    await playAll(story);
    over.abort();
  };
  await Promise.all([narrate(story, AbortSignal.any([signal, over.signal])), act()]);
  return signal.aborted ? 0 : conclude(story);
}

async function playAll(story: Story): Promise<void> {
  const { plan, imds, print } = story;
  const { signal } = story.context;
  for (const scenario of plan.scenarios) {
    if (signal.aborted) return;
    print({ ...note('scenario', `${scenario.name}: ${scenario.summary}`), opening: true });
    await imds.play(scenario, { signal });
    await settle(story);
  }
}

/** Tells what changed everywhere, again and again, and once more at the end. */
async function narrate(story: Story, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await look(story);
    await systemClock.sleep(lookIntervalMs, signal);
  }
  if (!story.context.signal.aborted) await look(story);
}

async function look({ source, arrivals, trail, print }: Story): Promise<void> {
  for (const line of [...source.look(), ...arrivals.look(), ...(await trail.look())]) print(line);
}

/** Waits until every agent saw the last document and all it wrote down has arrived; not for ever. */
async function settle(story: Story): Promise<void> {
  const { imds, context } = story;
  const playedAt = systemClock.now();
  const patience = AbortSignal.any([context.signal, AbortSignal.timeout(settleMsMax)]);
  while (!patience.aborted) {
    if (everyonePolled(imds, playedAt) && (await draw(story)).faults.length === 0) return;
    await systemClock.sleep(lookIntervalMs, patience);
  }
}

/** The second poll proves that what the first one brought has been dealt with. */
function everyonePolled({ requests, vms }: ImdsEmulator, since: number): boolean {
  const polls = requests.filter(({ at, endedAt, path }) => at >= since && endedAt !== null && isPoll(path));
  const perVm = Map.groupBy(polls, ({ vm }) => vm);
  return vms.every(({ name }) => (perVm.get(name)?.length ?? 0) >= 2);
}

const isPoll = (path: string): boolean => path.startsWith('/metadata/scheduledevents');

async function draw({ source, arrivals, receiver, trail }: Story): Promise<Balance> {
  const counts = await trail.reader.counts();
  const { committed } = source;
  return balanceOf({ committed, inHub: arrivals.inHub, posts: receiver.records, trail: counts });
}

async function conclude(story: Story): Promise<number> {
  const { trail, receiver, plan, context, arrivals, source } = story;
  const facts = await trail.reader.facts();
  const recordsOf = new Map<string, number>();
  for (const { eventId, observers } of facts) {
    recordsOf.set(eventId, (recordsOf.get(eventId) ?? 0) + observers);
  }
  const balance = await draw(story);
  await printSummary(context, {
    events: await trail.reader.events({ limit: eventsMax }),
    recordsOf,
    posts: receiver.records,
    trail: await trail.reader.counts(),
    balance,
    fleetSize: plan.vms.length,
    approved: approvedLines(arrivals.inHub, source.labelOf),
  });
  return balance.faults.length === 0 ? 0 : 1;
}
