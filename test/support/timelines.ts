// The timeline of the synthetic event after whatever records a test lets come into a real trail.
import type { JournalFact } from '../../src/core/journal.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { type Timeline, timelineOf } from '../../src/core/timeline.ts';
import { asHubEvents, eventIdOf, synthesisAt } from './synthetic.ts';
import { sqliteWorld } from './trail/sqlite-world.ts';
import { append, stream } from './trail/world.ts';

export interface Asked {
  /** Ms after `synthesisAt`; 20 minutes unless given. */
  readonly now?: number;
  readonly event?: number;
  readonly facts?: readonly JournalFact[];
}

/** @param records as they come to the hub */
export async function timelineAfter(records: readonly BridgeRecord[], asked: Asked = {}): Promise<Timeline> {
  const { now = 20 * 60_000, event = 0, facts = [] } = asked;
  await using world = sqliteWorld();
  await using trail = await world.open({ now: () => synthesisAt + now });
  await append(trail, asHubEvents(records), stream, facts);
  await using reader = await world.reader();
  const parts = await reader.timeline(eventIdOf(event));
  if (parts === null) throw new Error('the trail knows no such event');
  return timelineOf(parts, synthesisAt + now);
}
