// Goes through the seals of a trail, and leads all other streams along: each must be what the seals say at that size.
import { base64 } from '../../core/base64.ts';
import type { Findings } from '../../core/finding.ts';
import { type SealedHead, sealOf } from '../../core/seal.ts';
import { localStreams } from '../../core/stream.ts';
import type { StoredEntry } from '../store.ts';
import type { Standing } from './claims.ts';
import type { JournalFacts } from './journal-facts.ts';
import { checkTime, type SealPlace, type SealStanding } from './seal-time.ts';
import { type Claims, rangeText, type StreamPass } from './stream-pass.ts';

export { clockSkewMs, type SealPlace, type SealStanding } from './seal-time.ts';

/** A stream on its way through the check. */
export interface Walk {
  readonly pass: StreamPass;
  readonly standing: Standing;
  readonly claims: Claims;
  /** Up to where a seal names it. */
  sealedSize: number;
  /** The seal that named it last. */
  sealedBy: SealPlace | null;
}

export interface SealPassOptions {
  readonly walks: ReadonlyMap<string, Walk>;
  readonly findings: Findings;
  readonly facts: JournalFacts;
  /** Epoch ms. */
  readonly now: number;
  readonly standing: SealStanding;
}

/** Takes the entries of one stream of seals as they go by. */
export interface SealReader {
  /** Remembers a seal that is read. */
  take(entry: StoredEntry): void;
  /** Holds what was remembered against the streams it names. */
  settle(): Promise<void>;
}

export function openSealReader(options: SealPassOptions, stream: string): SealReader {
  let pending: { readonly place: SealPlace; readonly heads: readonly SealedHead[] }[] = [];
  let suspects: Suspect[] = [];
  return {
    take: (entry) => {
      const { index, body } = entry;
      const seal = body === null ? null : sealOf({ body, enqueuedMs: entry.enqueuedMs });
      if (seal === null) {
        const text = `entry ${index} of ${stream} is no seal that can be read`;
        options.findings.add('seal-unreadable', { stream, index, text });
        return;
      }
      const place = { stream, index, at: seal.at };
      checkTime(options, place);
      pending.push({ place, heads: seal.heads });
    },
    settle: async () => {
      const due = pending;
      pending = [];
      for (const { place, heads } of due) {
        // A stream of seals that names itself says nothing that its own tree does not say.
        for (const head of heads) if (head.stream !== stream) await checkHead(options, place, head);
        suspects = checkSigners(options, place, heads, suspects);
      }
    },
  };
}

/** A copy that was put back is sealed from where it stood then; what replaced it in the archive was sealed further. */
const isPutBack = ({ restored }: JournalFacts, { stream }: SealPlace, before: SealPlace | null): boolean =>
  before !== null &&
  before.stream !== stream &&
  restored.some(({ earlier }) => localStreams(earlier).seal === before.stream);

async function checkHead(options: SealPassOptions, place: SealPlace, head: SealedHead): Promise<void> {
  const { walks, findings } = options;
  const { stream: name, size } = head;
  const sealText = `seal ${place.index} of ${place.stream}`;
  const walk = walks.get(name);
  if (walk === undefined) {
    findings.add('seal-beyond', { stream: name, text: `${sealText} names ${name}, which is not here` });
    return;
  }
  if (size < walk.sealedSize) {
    if (isPutBack(options.facts, place, walk.sealedBy)) return;
    const text = `${sealText} says that ${name} has ${size} entries, and an earlier one said ${walk.sealedSize}`;
    findings.add('seal-falls', { stream: name, index: size, text });
    return;
  }
  await walk.pass.advance(size);
  if (walk.pass.size < size) {
    const text = `${sealText} says that ${name} has ${size} entries, and only ${walk.pass.size} are here`;
    findings.add('seal-beyond', { stream: name, index: walk.pass.size, text });
    return;
  }
  settleHead(options, { walk, place, head, sealText });
}

/** A head that is signed by keys which the journal does not name yet. */
interface Suspect {
  readonly head: SealedHead;
  readonly place: SealPlace;
  readonly keys: readonly string[];
}

/** Whether no key is named by the journal up to where it is sealed now: then none can have signed the head so far. */
function areUnnamed(
  { walks, facts }: SealPassOptions,
  keys: readonly string[],
  { stream }: SealPlace,
): boolean {
  return keys.every((key) => {
    const since = facts.keysSince.get(key);
    const journal = since === undefined ? undefined : walks.get(since.stream);
    if (since === undefined || journal === undefined) return false;
    return since.stream.split('/')[1] === stream.split('/')[1] && journal.sealedSize <= since.index;
  });
}

/**
 * A consumer that starts says which keys sign, and a seal may come before that is written; the seal after it comes
 * later. @returns the suspects of this seal
 */
function checkSigners(
  options: SealPassOptions,
  place: SealPlace,
  heads: readonly SealedHead[],
  suspects: readonly Suspect[],
): Suspect[] {
  for (const { head, place: then, keys } of suspects) {
    if (!areUnnamed(options, keys, place)) continue;
    const { stream, size } = head;
    const text = `the head of size ${size} of ${stream} stands in seal ${then.index}, and is signed by a key that the journal only names later`;
    options.findings.add('key-too-recent', { stream, index: size, text });
  }
  return heads.flatMap((head) => {
    const signers = options.walks.get(head.stream)?.standing.signers ?? null;
    const isOfThis = signers?.size === head.size && areUnnamed(options, signers.keys, place);
    return isOfThis ? [{ head, place, keys: signers.keys }] : [];
  });
}

interface Settling {
  readonly walk: Walk;
  readonly place: SealPlace;
  readonly head: SealedHead;
  readonly sealText: string;
}

function settleHead({ findings, facts }: SealPassOptions, { walk, place, head, sealText }: Settling) {
  const { stream: name, size } = head;
  // A stream that was gone through to its end for an earlier trail is beyond this size: its claims were judged then.
  const root = walk.pass.size === size ? walk.pass.root() : null;
  if (root !== null && !compareSealed(findings, walk.standing, { name, sealText, head, root })) return;
  walk.sealedSize = size;
  walk.sealedBy = place;
  const { pinnedSize } = walk.standing;
  if (pinnedSize >= size) return;
  const what = `the signed head of size ${size} of ${name}, which ${sealText} names, is not here`;
  const inForce = facts.keys.findLast(({ at }) => at <= place.at);
  // The journal, which later heads do sign, says since when somebody signs: nothing from before can be missing.
  const isBefore = inForce === undefined && facts.keys.length > 0;
  const isSigned = inForce === undefined ? isBefore || pinnedSize >= 0 : inForce.keys.length > 0;
  const code = isBefore ? 'before-keys' : 'note-missing';
  if (isSigned) findings.add(code, { stream: name, index: size - 1, text: what });
}

interface SealedRoot {
  readonly name: string;
  readonly sealText: string;
  readonly head: SealedHead;
  readonly root: Uint8Array;
}

function compareSealed(
  findings: Findings,
  standing: Standing,
  { name, sealText, head, root }: SealedRoot,
): boolean {
  if (Buffer.compare(root, head.root) === 0) {
    standing.agreedSize = Math.max(standing.agreedSize, head.size);
    return true;
  }
  const where = rangeText(standing.agreedSize, head.size - 1, 'entry', 'entries');
  const text = `${where} of ${name} are not what ${sealText} sealed, whose root is ${base64(head.root)}`;
  findings.add('seal-root-differs', { stream: name, index: standing.agreedSize, text });
  return false;
}
