// Compares what the agents wrote down with what arrived: what is missing, and what came more than once.
import type { TrailCounts } from '../../audit/store.ts';
import type { TrailRecord } from '../../core/read-record.ts';

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
  /** POSTs that were due: every record about an event that names its observer. */
  readonly postsDue: number;
  /** One sentence for each thing that is not as it should be. */
  readonly faults: readonly string[];
}

/** Draws the balance. Whatever it says is counted, not assumed. */
export function balanceOf({ committed, inHub, posts, trail }: Stations): Balance {
  const written = [...committed.values()].reduce((sum, number) => sum + number, 0);
  const due = new Set(inHub.filter(({ event }) => event?.affected === true).map(keyOf));
  const posted = new Set(posts.map(keyOf));
  const unposted = [...due].filter((key) => !posted.has(key)).length;
  const faults = [
    [written - trail.records, 'that agents wrote down are missing in the trail'],
    [inHub.length - trail.entries, 'of the hub are missing in the trail'],
    [trail.repeats, 'came to the trail more than once'],
    [trail.conflicts, 'came to the trail with other bytes under the same name'],
    [trail.parked, 'of the trail could not be read'],
    [unposted, 'are missing at the webhook'],
    [posts.length - posted.size, 'came to the webhook more than once'],
  ] as const;
  const sentences = faults
    .filter(([number]) => number !== 0)
    .map(([number, what]) => `${number} records ${what}`);
  return { committed: written, postsDue: due.size, faults: sentences };
}

const keyOf = ({ source, id }: TrailRecord): string => `${source} ${id}`;
