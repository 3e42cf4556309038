// Lanes for tests: on a real outbox, with a clock that the test turns, and no time of their own.
import { type Lane, type LaneRuntime, openLane } from '../../src/agent/lane.ts';
import type { Meters } from '../../src/agent/meters.ts';
import { silentMeters } from '../../src/agent/meters.ts';
import { type ManualClock, openOutbox } from './outboxes.ts';
import type { RecordingLog } from './recording-log.ts';
import { type ScriptedSink, scriptedSink } from './scripted-sink.ts';

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
