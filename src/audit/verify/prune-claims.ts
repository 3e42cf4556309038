// What the journal says of prunings, as claims about the tree: the hashes stay, so the root of that time can be made again.
import { base64 } from '../../core/base64.ts';
import type { Findings } from '../../core/finding.ts';
import type { JournalFacts } from './journal-facts.ts';
import type { Claim } from './stream-pass.ts';

/** Each pruning of a stream names its size and its root then. */
export function pruneClaims({ pruned }: JournalFacts, stream: string, findings: Findings): Claim[] {
  return (pruned.get(stream) ?? []).map(({ from, to, size, root: said }) => {
    const what = `the pruning of entries ${from} to ${to} of ${stream} that the journal tells of`;
    const tell = (text: string) => findings.add('prune-forged', { stream, index: from, text });
    return {
      size,
      judge: (root) => {
        if (root !== null && base64(root) !== said) tell(`${what} names another root than the stream had`);
      },
      beyond: (sizeHere) => tell(`${what} names ${size} entries, and only ${sizeHere} are here`),
    };
  });
}
