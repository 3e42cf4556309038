// Lanes for tests: on a real outbox, with a clock that the test turns, and no time of their own.

import type { Outcome } from '../../src/core/delivery.ts';
import { emptyWatch } from '../../src/core/watch.ts';
import { type Lane, type LaneRuntime, openLane } from '../../src/delivery/lane.ts';
import { type Meters, silentMeters } from '../../src/delivery/meters.ts';
import { listDeliveries, openOutboxForCare } from '../../src/delivery/outbox/care.ts';
import type { Outbox } from '../../src/delivery/outbox/outbox.ts';
import { announcement, type ManualClock, openOutbox } from './outboxes.ts';
import type { RecordingLog } from './recording-log.ts';
import { type ScriptedSink, scriptedSink } from './scripted-sink.ts';

export const busy = { status: 'retryable', reason: 'http-503' } as const satisfies Outcome;
/** The sink asks to be left alone for an hour. */
export const throttled = {
  status: 'retryable',
  reason: 'throttled',
  retryAfterMs: 3_600_000,
} as const satisfies Outcome;
export const revoked = { status: 'unavailable', reason: 'http-410' } as const satisfies Outcome;
export const missing = {
  status: 'unavailable',
  reason: 'http-404',
  passing: true,
} as const satisfies Outcome;

/** What the file says of every delivery: `1 dead expired`. */
export function written(directory: string): string[] {
  using database = openOutboxForCare(directory);
  if (database === null) return [];
  return listDeliveries(database, {}).map(({ sequence, state, reason }) =>
    [sequence, state, reason ?? ''].join(' ').trim(),
  );
}

/** Announces events by these ids, one by one: those of different ids do not overtake each other. */
export function announceEach(outbox: Outbox, ids: readonly string[], urgent = false): void {
  for (const eventId of ids) {
    const { watch, draft } = announcement({ eventId }, emptyWatch('boot'), urgent);
    if (!outbox.commit(watch, [draft]).ok) throw new Error('the commit failed');
  }
}

/** Takes every step that needs no waiting. @returns how long the lane wants to wait then, ms */
export async function run(lane: Lane): Promise<number> {
  for (;;) {
    const sight = lane.look();
    if (sight.status === 'wait') return sight.ms;
    if (sight.status === 'due') await lane.attempt(sight.due);
  }
}

/** A lane from an outbox in `directory` to the sink `a`. Its chance is always one half. */
export function openTestLane(
  directory: string,
  also: Parameters<typeof scriptedSink>[1] & { meters?: Meters } = {},
) {
  const { meters = silentMeters, ...sinkOptions } = also;
  const open = openOutbox(directory, ['a']);
  const sink: ScriptedSink = scriptedSink('a', sinkOptions);
  const stop = new AbortController();
  const runtime: LaneRuntime = {
    ...{ outbox: open.outbox, clock: open.clock, log: open.log, meters },
    ...{ signal: stop.signal, attemptSignal: stop.signal, random: () => 0.5 },
  };
  const lane = openLane(sink.open, runtime);
  return {
    ...{ outbox: open.outbox, clock: open.clock as ManualClock, log: open.log as RecordingLog },
    ...{ sink, lane, stop, runtime },
    run: () => run(lane),
    /** Lets so much time pass, with the lane awake whenever it asked for it. */
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; ) {
        const step = Math.min(Math.max(await run(lane), 1), left);
        open.clock.advance(step);
        left -= step;
      }
      await run(lane);
    },
    [Symbol.dispose]: () => open[Symbol.dispose](),
  };
}
