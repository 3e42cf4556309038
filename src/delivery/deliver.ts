// One loop per sink: a dead sink waits in its own, and holds up nobody else.
import { setImmediate } from 'node:timers/promises';
import type { OpenSink } from '../sinks/index.ts';
import { type LaneRuntime, openLane } from './lane.ts';
import type { Wake } from './wake.ts';

export interface DeliverRuntime extends LaneRuntime {
  readonly wake: Wake;
}

/** Delivers to one sink until `signal` aborts. */
export async function deliver(open: OpenSink, runtime: DeliverRuntime): Promise<void> {
  const { wake, signal } = runtime;
  const lane = openLane(open, runtime);
  while (!signal.aborted) {
    // Between looking and waiting nothing else may run: it could ring the bell unheard.
    const sight = lane.look();
    if (sight.status === 'wait') {
      await wake.wait(sight.ms, signal);
      continue;
    }
    if (sight.status === 'due') await lane.attempt(sight.due);
    // A long queue lets the others have their turn, even where nothing in it has to wait for a network.
    await setImmediate();
  }
}
