// Compares what the agents wrote down with what arrived: what is missing, and what came more than once.
import type { TrailCounts } from '../../audit/store.ts';
import type { TrailRecord } from '../../core/read-record.ts';
import { count } from './line.ts';

/** What is known of every station of a record's way. */
export interface Stations {
  /** Records that each agent wrote down. */
  readonly committed: ReadonlyMap<string, number>;
  readonly inHub: readonly TrailRecord[];
  readonly posts: readonly TrailRecord[];
  readonly trail: TrailCounts;
}

export interface Balance {
  /** Records that all agents wrote down. */
  readonly committed: number;
  /** POSTs that were due: one for every record about an event, unless the event does not name its observer. */
  readonly postsDue: number;
  /** One sentence for each thing that is not as it should be. */
  readonly faults: readonly string[];
}

/** Draws the balance. Whatever it says is counted, not assumed. */
export function balanceOf({ committed, inHub, posts, trail }: Stations): Balance {
  const written = [...committed.values()].reduce((sum, number) => sum + number, 0);
  const due = new Set(inHub.filter(({ event }) => event !== null && event.affected !== false).map(keyOf));
  const posted = new Set(posts.map(keyOf));
  const unposted = [...due].filter((key) => !posted.has(key)).length;
  const faults = [
    [written - trail.records, 'written down by agents but missing in the trail'],
    [inHub.length - trail.entries, 'in the hub but missing in the trail'],
    [trail.repeats, 'in the trail more than once'],
    [trail.conflicts, 'in the trail with other bytes under the same name'],
    [trail.parked, 'in the trail but not readable'],
    [unposted, 'missing at the webhook'],
    [posts.length - posted.size, 'at the webhook more than once'],
  ] as const;
  const sentences = faults
    .filter(([number]) => number !== 0)
    .map(([number, what]) => `${count(number, 'record')} ${what}`);
  return { committed: written, postsDue: due.size, faults: sentences };
}

const keyOf = ({ source, id }: TrailRecord): string => `${source} ${id}`;
