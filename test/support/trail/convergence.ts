// What every store must come to, whatever happened on the way: the roots and answers of one quiet pass over the hub.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { emptyStream, type StreamPosition, type TrailStore } from '../../../src/audit/store.ts';
import { type HubEvent, leafHash, leafOf } from '../../../src/core/leaf.ts';
import { emptyTree, growTree } from '../../../src/core/tree.ts';
import { asHubEvents } from '../synthetic.ts';
import { someBodies } from './projections.ts';
import {
  clean,
  headsOf,
  inHex,
  later,
  type OpenWorld,
  other,
  positionIn,
  stream,
  type TrailWorld,
} from './world.ts';

const streams = [stream, other, later] as const;
const writersMax = 3;

/** What the hub holds, stream by stream. */
type Hub = ReadonlyMap<string, readonly HubEvent[]>;

const hubs: fc.Arbitrary<Hub> = fc
  .tuple(...streams.map(() => fc.array(someBodies, { minLength: 1, maxLength: 12 })))
  .map((bodies) => new Map(streams.map((name, at) => [name, asHubEvents(bodies[at] ?? [], 100 * at)])));

/** What a writer does once with a stream. */
interface Step {
  readonly writer: number;
  readonly stream: string;
  readonly count: number;
  /**
   * `append` as a consumer does it. `unnoticed`: it is committed, and the writer dies before it hears of it.
   * `uncommitted`: the writer dies in the middle. `anew`: a new process, which reads where the trail stands.
   * `replay`: it reads from the beginning again, and offers what the trail has.
   */
  readonly kind: 'append' | 'unnoticed' | 'uncommitted' | 'anew' | 'replay';
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    writer: fc.nat(writersMax - 1),
    stream: fc.constantFrom(...streams),
    count: fc.integer({ min: 1, max: 6 }),
    kind: fc.constantFrom('append', 'append', 'append', 'unnoticed', 'uncommitted', 'anew', 'replay'),
  }),
  { maxLength: 40 },
);

/** What a test of one kind of store adds to what all of them are asked. */
export interface ConvergenceOptions {
  readonly runs: number;
  /** Lets an append fail in the middle; without it a writer dies before it. */
  readonly interrupt?: (world: TrailWorld, append: () => Promise<unknown>) => Promise<void>;
  /** Everything the projections hold, with streams by name. */
  readonly dump?: (world: TrailWorld) => unknown;
}

export function converges(openWorld: OpenWorld, { runs, interrupt, dump }: ConvergenceOptions): void {
  it('comes to the roots and the answers of a single pass, whoever wrote, died and began again on the way', () =>
    fc.assert(
      fc.asyncProperty(hubs, steps, async (hub, taken) => {
        await using quiet = await openWorld();
        await using busy = await openWorld();
        await singlePass(quiet, hub);
        await crowd(busy, hub, taken, interrupt);
        expect(await contentOf(busy, dump)).toEqual(await contentOf(quiet, dump));
        expect((await rootsOf(busy)).map(([name]) => name)).toEqual([...streams].sort());
        expect(await rootsOf(busy)).toEqual(rootsOver(hub));
      }),
      { numRuns: runs },
    ));
}

async function singlePass(world: TrailWorld, hub: Hub): Promise<void> {
  await using trail = await world.open();
  for (const [name, events] of hub) await trail.append(name, emptyStream, events);
}

/** A writer believes that a stream stands where it saw it last. */
interface Writer {
  readonly trail: TrailStore;
  readonly believed: Map<string, StreamPosition>;
}

async function crowd(
  world: TrailWorld,
  hub: Hub,
  taken: readonly Step[],
  interrupt: ConvergenceOptions['interrupt'],
): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const writers: Writer[] = [];
  for (let at = 0; at < writersMax; at++) {
    writers.push({ trail: resources.use(await world.open()), believed: new Map() });
  }
  for (const step of taken) {
    const writer = writers[step.writer];
    if (writer === undefined) continue;
    if (step.kind === 'anew') writer.believed.set(step.stream, await positionIn(writer.trail, step.stream));
    else if (step.kind !== 'uncommitted') await offer(writer, hub, step);
    else await interrupt?.(world, () => offer(writer, hub, step));
  }
  const [last] = writers;
  for (const [name, events] of hub) {
    if (last === undefined) continue;
    last.believed.set(name, await positionIn(last.trail, name));
    await offer(last, hub, { kind: 'append', writer: 0, stream: name, count: events.length });
  }
}

async function offer({ trail, believed }: Writer, hub: Hub, step: Step): Promise<void> {
  const at = (step.kind === 'replay' ? undefined : believed.get(step.stream)) ?? emptyStream;
  const events = (hub.get(step.stream) ?? [])
    .filter(({ sequenceNumber }) => sequenceNumber > at.lastSequenceNumber)
    .slice(0, step.count);
  if (events.length === 0) return;
  const result = await trail.append(step.stream, at, events);
  if (result.status === 'unavailable') throw new Error(result.reason);
  if (step.kind !== 'unnoticed') believed.set(step.stream, result.position);
}

async function rootsOf(world: TrailWorld): Promise<(readonly [string, unknown])[]> {
  await using trail = await world.open();
  const ofHub = (await headsOf(trail)).filter(({ kind }) => kind === 'hub');
  return ofHub.map(({ name, tree }) => [name, inHex(tree)] as const);
}

const rootsOver = (hub: Hub) =>
  [...hub]
    .map(([name, events]) => {
      const leaves = events.map((event) => leafHash(leafOf(event)));
      return [name, inHex(growTree(emptyTree, leaves))] as const;
    })
    .sort(([one], [two]) => (one < two ? -1 : 1));

async function contentOf(world: TrailWorld, dump: ConvergenceOptions['dump']) {
  await using trail = await world.open();
  await using reader = await world.reader();
  const counts = await reader.counts();
  expect(await trail.check()).toEqual(clean(counts.entries));
  return {
    ...{ counts, events: await reader.events({ limit: 100 }), facts: await reader.facts() },
    ...{ streams: await reader.streams(), rows: dump?.(world) },
  };
}
