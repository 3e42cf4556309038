// Holds what is kept elsewhere against the seals that are here: what was cut off or written anew shows in nothing else.
import { base64 } from '../../core/base64.ts';
import { type Checkpoint, parseCheckpoint } from '../../core/checkpoint.ts';
import type { Findings } from '../../core/finding.ts';
import { openNote, textOfNote, type VerifierKey } from '../../core/signed-note.ts';
import { localStreams } from '../../core/stream.ts';
import type { AnchorCopy } from './anchors.ts';
import type { JournalFacts } from './journal-facts.ts';
import type { Claim } from './stream-pass.ts';

/** A head that an anchor keeps. */
interface AnchoredHead extends Checkpoint {
  readonly place: string;
}

/** What the anchors came to. */
export interface AnchorStanding {
  /** Heads that were compared, and those that are what is here. */
  heads: number;
  agreed: number;
  /** The biggest one that is here, by the order of the trail's ids and its size. */
  newest: AnchoredUpTo | null;
}

export interface AnchoredUpTo {
  readonly place: string;
  readonly stream: string;
  readonly size: number;
  /** When the last seal in it was made, epoch ms. */
  readonly at: number;
}

export interface AnchorClaims {
  readonly standing: AnchorStanding;
  /** By the name of the stream of seals. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
}

interface Context {
  readonly findings: Findings;
  readonly facts: JournalFacts;
  readonly standing: AnchorStanding;
}

/** Sorts what the anchors keep by the stream it is about, and says what is about none of ours. */
export function anchorClaims(
  copies: readonly AnchorCopy[],
  keys: readonly VerifierKey[],
  facts: JournalFacts,
  findings: Findings,
): AnchorClaims {
  const standing: AnchorStanding = { heads: 0, agreed: 0, newest: null };
  const context: Context = { findings, facts, standing };
  const ours = new Set(facts.trails.map((trail) => localStreams(trail).seal));
  const heads = new Map<string, AnchoredHead>();
  for (const copy of copies) {
    if (copy.fault !== null) {
      findings.add('anchor-unreadable', { text: `the anchor ${copy.place} cannot be read: ${copy.fault}` });
    }
    for (const head of headsIn(copy, keys, findings)) {
      heads.set(`${head.origin} ${head.size} ${base64(head.root)}`, head);
    }
  }
  const mine = [...heads.values()].filter(({ origin }) => ours.has(origin));
  tellForeign(
    [...heads.values()].filter(({ origin }) => !ours.has(origin)),
    mine.length > 0,
    findings,
  );
  standing.heads = mine.length;
  if (heads.size === 0) {
    const text =
      copies.length === 0 ? 'no anchor was given' : 'no anchor that was given keeps a head of this trail';
    findings.add('no-anchor', {
      text: `${text}: that nothing was cut off at the end, or all written anew by somebody with the key, cannot be proven`,
    });
  }
  const claims = [...Map.groupBy(mine, ({ origin }) => origin)].map(
    ([origin, group]) =>
      [
        origin,
        group.sort((one, other) => one.size - other.size).map((head) => claimOf(context, head)),
      ] as const,
  );
  return { standing, claims: new Map(claims) };
}

function* headsIn(
  { place, notes }: AnchorCopy,
  keys: readonly VerifierKey[],
  findings: Findings,
): Iterable<AnchoredHead> {
  for (const note of notes) {
    const opened = openNote(note, keys);
    const text = opened.status === 'verified' || keys.length === 0 ? textOfNote(note) : null;
    const checkpoint = text === null ? null : parseCheckpoint(text);
    if (checkpoint !== null) yield { ...checkpoint, place };
    else
      findings.add('anchor-unverified', {
        text: `the anchor ${place} keeps a head that no key given signed`,
      });
  }
}

function tellForeign(foreign: readonly AnchoredHead[], hasOurs: boolean, findings: Findings): void {
  const [first] = foreign;
  if (first === undefined) return;
  const { origin, place } = first;
  if (hasOurs) {
    findings.add('anchor-of-others', {
      text: `the anchor ${place} also keeps heads of ${origin}, which is not here`,
    });
  } else {
    const text = `the anchor ${place} keeps heads of ${origin} and none of what is here: another trail was put in its place`;
    findings.add('trail-replaced', { stream: origin, text });
  }
}

const claimOf = (context: Context, head: AnchoredHead): Claim => ({
  size: head.size,
  judge: (root, at) => {
    if (root === null) return;
    const { origin, size, place } = head;
    if (Buffer.compare(root, head.root) === 0) {
      context.standing.agreed += 1;
      context.standing.newest = { place, size, stream: origin, at };
      return;
    }
    const text = `the first ${size} seals of ${origin} are not those that the anchor ${place} keeps: the trail was written anew`;
    context.findings.add('trail-rewritten', { stream: origin, index: size - 1, text });
  },
  beyond: (sizeHere) => tellCut(context, head, sizeHere),
});

/** The journal says so when the consumer itself found that an older copy had been put back. */
function tellCut(
  { findings, facts }: Context,
  { origin, size, place }: AnchoredHead,
  sizeHere: number,
): void {
  const restored = facts.restored.find(({ earlier }) => localStreams(earlier).seal === origin);
  const text = `the anchor ${place} keeps ${size} seals of ${origin}, and only ${sizeHere} are here`;
  if (restored !== undefined && size <= restored.anchoredSize) {
    const words = `${text}: an older copy was put back, as the journal says`;
    findings.add('restored', { stream: origin, index: sizeHere, at: restored.at, text: words });
  } else {
    const words = `${text}: the trail was cut, or put back from an older copy`;
    findings.add('trail-cut', { stream: origin, index: sizeHere, text: words });
  }
}
