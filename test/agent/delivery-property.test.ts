// Random outcomes, restarts and clocks that jump, through the real outbox and the real decisions: what must always hold.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chatPolicy, dataPolicy, type Outcome } from '../../src/core/delivery.ts';
import { openWorld, type World, type WorldOptions } from '../support/delivery-world.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

const outcome = fc.constantFrom<Outcome>(
  { status: 'delivered' },
  { status: 'delivered' },
  { status: 'rejected', reason: 'http-400' },
  { status: 'retryable', reason: 'http-503' },
  { status: 'retryable', reason: 'connection-reset', stale: true },
  { status: 'retryable', reason: 'throttled', retryAfterMs: 90 * second },
  { status: 'retryable', reason: 'throttled', retryAfterMs: 2 * hour },
  { status: 'retryable', reason: 'tls-expired', delayMsMin: 5 * minute },
  { status: 'unavailable', reason: 'http-410' },
  { status: 'unavailable', reason: 'http-404', passing: true },
  { status: 'unavailable', reason: 'unauthorized', retryAfterMs: 20 * minute },
);

const options: fc.Arbitrary<WorldOptions> = fc.record({
  policy: fc.constantFrom(dataPolicy, chatPolicy),
  batch: fc.constantFrom(1, 1, 3),
  spacingMs: fc.constantFrom(0, 0, 700),
  outcomes: fc.array(outcome, { minLength: 1, maxLength: 10 }),
  // Never quite nothing: it would be tried again and again while no time passes.
  chances: fc.array(fc.double({ min: 0.1, max: 1, maxExcluded: true, noNaN: true }), {
    minLength: 1,
    maxLength: 5,
  }),
});

type Move = (world: World) => Promise<unknown>;

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.tuple(fc.constantFrom('A', 'B', 'C'), fc.constantFrom(true, false, false, false)).map(
    ([event, urgent]): Move =>
      async (world) =>
        world.commit(event, urgent),
  ),
  fc.integer({ min: 1, max: 6 }).map(
    (steps): Move =>
      (world) =>
        world.run(steps),
  ),
  // A frozen VM: so much time at once.
  fc.constantFrom(1, 400, 2 * second, minute, 6 * minute, 16 * minute, 61 * minute, 8 * day).map(
    (ms): Move =>
      async (world) =>
        world.pass(ms),
  ),
  fc.constantFrom(30 * second, 3 * minute, 20 * minute).map(
    (ms): Move =>
      (world) =>
        passAwake(world, ms),
  ),
  fc.constantFrom(-10 * day, -hour, -minute, minute, hour, 10 * day).map(
    (ms): Move =>
      async (world) =>
        world.setClock(ms),
  ),
  fc.constant<Move>(async (world) => world.restart()),
);

/** So much time in the steps that the lane asks for. */
async function passAwake(world: World, ms: number): Promise<void> {
  for (let left = ms; left > 0; ) {
    const step = Math.min(Math.max(await world.run(1_000), 1), left);
    world.pass(step);
    left -= step;
  }
}

/** Delivers all that is left, within the day that no rule asks for more than. */
async function drain(world: World): Promise<void> {
  world.mend();
  const end = world.elapsedMs() + day + 10 * minute;
  while (world.elapsedMs() < end) {
    const askedMs = await world.run(10_000);
    if (world.rows().every(({ state }) => state !== 'pending')) return;
    world.pass(Math.max(askedMs, 1));
  }
  throw new Error(`something waits for ever: ${JSON.stringify(world.rows())}`);
}

/** What must be written about every record once nothing waits any more. */
function expectWhole(world: World, { policy }: WorldOptions): void {
  const rows = world.rows();
  expect(rows.map(({ sequence }) => sequence)).toEqual([...world.known.keys()]);
  for (const { sequence, state, reason, settledAt } of rows) {
    const record = world.known.get(sequence);
    const isRejected = reason === 'http-400';
    expect(state === 'delivered', `${sequence} ${state}`).toBe(record?.answer === 'delivered');
    expect(state === 'dead' && isRejected).toBe(record?.answer === 'rejected');
    if (state === 'dead' && !isRejected) expect(reason).toBe('expired');
    const later = [...world.known].filter(
      ([other, { event }]) => other > sequence && event === record?.event,
    );
    if (state === 'superseded') expect(policy.supersedes && later.length > 0).toBe(true);
    expect(settledAt).not.toBeNull();
  }
}

test('no record leaves its queue unless it is delivered, dead or superseded; the order, due times, pauses and ages hold', {
  timeout: 60_000,
}, async () => {
  const story = fc.tuple(options, fc.array(move, { minLength: 5, maxLength: 40 }));
  await fc.assert(
    fc.asyncProperty(story, async ([chosen, moves]) => {
      using directory = temporaryDirectory();
      using world = openWorld(directory.path, chosen);
      for (const make of moves) await make(world);
      await drain(world);
      expectWhole(world, chosen);
    }),
    { numRuns: 400, endOnFailure: true },
  );
});
