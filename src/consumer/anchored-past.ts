// Compares the trail with what an anchor holds of it, and begins its own streams anew when they are of another past.
import type { TrailStore, Unavailable } from '../audit/store.ts';
import { type Checkpoint, parseCheckpoint } from '../core/checkpoint.ts';
import { openNote, type VerifierKey } from '../core/signed-note.ts';
import { localStreams } from '../core/stream.ts';
import type { Log } from '../log.ts';
import type { AnchorFailure, AnchorRead } from './anchors/anchor.ts';
import type { Comparison } from './continuation.ts';

export type Past =
  /** The trail goes on from there. @property size 0 when the anchor holds nothing of it */
  | { readonly status: 'continues'; readonly size: number }
  /** What stands there cannot be believed: nobody whom we know signed it, or it is no checkpoint. */
  | { readonly status: 'doubtful'; readonly reason: string }
  | { readonly status: 'other-past'; readonly checkpoint: Checkpoint }
  | AnchorFailure
  | Unavailable;

/**
 * @param held what the anchor gave
 * @param keys that may have signed it: ours, and those that signed before
 */
export async function pastOf(
  held: AnchorRead,
  keys: readonly VerifierKey[],
  compare: (checkpoint: Checkpoint) => ReturnType<Comparison['compare']>,
): Promise<Past> {
  if (held.status === 'failed') return held;
  if (held.note === null) return { status: 'continues', size: 0 };
  const opened = openNote(held.note, keys);
  if (opened.status !== 'verified') return { status: 'doubtful', reason: opened.status };
  const checkpoint = parseCheckpoint(opened.text);
  if (checkpoint === null) return { status: 'doubtful', reason: 'malformed' };
  const compared = await compare(checkpoint);
  if (compared.status !== 'compared') return compared;
  return compared.continues
    ? { status: 'continues', size: checkpoint.size }
    : { status: 'other-past', checkpoint };
}

/**
 * Two heads of one tree that contradict each other must never be signed: https://c2sp.org/tlog-checkpoint. So what the
 * trail says of itself goes on in new streams, which begin with the reason. The streams of hubs need none of that:
 * what is read again gives the same leaves.
 * @param anchor its name
 */
export async function beginAnew(
  trail: TrailStore,
  log: Log,
  anchor: string,
  { origin, size, root }: Checkpoint,
): Promise<'begun' | Unavailable> {
  const earlier = origin.split('/')[1] ?? origin;
  const renewed = await trail.renew({
    kind: 'restored',
    ...{ anchor, earlier, anchoredSize: size, anchoredRoot: Buffer.from(root).toString('base64') },
  });
  if (renewed.status === 'unavailable') return renewed;
  log.error(
    { anchor, anchoredSize: size, earlier: localStreams(earlier).seal, trail: renewed.trail },
    'the anchor holds a head that this trail does not have: an older copy of it was put back, or it was cut; what it says of itself begins anew, and what the hub still holds is read again',
  );
  return 'begun';
}
