// Everything that checking a trail may find: a closed list, with what each finding is worth and what to do about it.

/** The parts of a check, in the order in which they are told. */
export const checkNames = [
  'signatures',
  'entries',
  'seals',
  'anchors',
  'sequences',
  'agents',
  'projections',
  'freshness',
] as const;
export type CheckName = (typeof checkNames)[number];

/** `tampered`: somebody changed it, or it contradicts itself. `incomplete`: something is missing or cannot be proven. */
export type Severity = 'tampered' | 'incomplete' | 'note';

interface FindingKind {
  readonly check: CheckName;
  readonly severity: Severity;
  /** What a person does about it. */
  readonly advice: string;
}

const kind = (check: CheckName, severity: Severity, advice: string): FindingKind => ({
  check,
  severity,
  advice,
});
const tampered = (check: CheckName, advice: string) => kind(check, 'tampered', advice);
const incomplete = (check: CheckName, advice: string) => kind(check, 'incomplete', advice);
const note = (check: CheckName, advice = '') => kind(check, 'note', advice);

const compare = 'keep this copy as it is, and compare it with the archive, a backup and the hub';
const explain = 'find out what happened to the trail before you believe anything that it says';

export const findingKinds = {
  'no-keys': incomplete('signatures', 'give the keys that sign with --key or --key-file'),
  unsigned: incomplete('signatures', 'set signing.keyFile; seb audit keygen makes a key'),
  'signature-wrong': tampered('signatures', explain),
  'signature-missing': tampered('signatures', explain),
  'signature-unknown': tampered('signatures', 'give this key with --key as well if you know whose it is'),
  'note-malformed': tampered('signatures', explain),
  'note-of-another': tampered('signatures', explain),
  'note-missing': incomplete(
    'signatures',
    'it was taken away, or nobody signed then; the seal vouches for it',
  ),
  'before-keys': note('signatures', 'nothing: nobody signed then, and later heads are over the same entries'),
  'head-unsigned': incomplete('signatures', 'see whether every consumer has signing.keyFile'),
  'head-unvouched': incomplete(
    'signatures',
    'give the key that signed then if there was one; otherwise compare with the hub, the archive and the anchors',
  ),
  'key-too-recent': incomplete(
    'signatures',
    'somebody may have signed an old head anew: compare it with the archive and the anchors',
  ),
  'older-keys': note(
    'signatures',
    'later heads, signed with a key that was given, vouch for the same entries',
  ),
  'body-changed': tampered('entries', compare),
  'body-missing': tampered('entries', compare),
  'entry-missing': tampered('entries', compare),
  'entry-repeated': tampered('entries', compare),
  'entries-missing': tampered('entries', compare),
  'entries-beyond-head': tampered('entries', compare),
  'sequence-falls': tampered('entries', compare),
  'root-differs': tampered('entries', compare),
  'head-differs': tampered('entries', compare),
  'prune-forged': tampered('entries', explain),
  pruned: note('entries'),
  'copy-damaged': tampered('entries', 'make the copy anew, and compare it with the store'),
  'copy-torn': incomplete('entries', 'the copy was cut short while it was written: let it be written on'),
  'foreign-file': note('entries', 'it was not looked at'),
  'trail-changed': tampered('seals', explain),
  'seal-unreadable': tampered('seals', explain),
  'seal-root-differs': tampered('seals', compare),
  'seal-beyond': tampered('seals', compare),
  'seal-falls': tampered('seals', explain),
  'seal-time-back': incomplete('seals', 'look after the clocks of the consumers'),
  'seal-in-future': incomplete('seals', 'look after the clock of this machine and those of the consumers'),
  'seal-hole': incomplete('seals', 'find out why no consumer sealed'),
  'journal-unreadable': incomplete('seals', 'use the newest version of this program'),
  unsealed: incomplete('seals', 'see whether a consumer runs and seals: seb audit status'),
  'unsealed-yet': note('seals'),
  'no-anchor': incomplete('anchors', 'give what is kept elsewhere with --anchor'),
  'anchor-unreadable': incomplete('anchors', 'see to it that this anchor can be read from here'),
  'anchor-unverified': incomplete('anchors', 'somebody else wrote it there, or its key was not given'),
  'anchor-behind': incomplete('anchors', 'see why nothing newer went there: seb audit status'),
  'anchor-of-others': incomplete('anchors', 'see whether another trail shares this anchor'),
  'trail-cut': tampered('anchors', 'look for the newer copy'),
  'trail-rewritten': tampered('anchors', explain),
  'trail-replaced': tampered('anchors', 'look for the trail that the anchor speaks of'),
  restored: incomplete('anchors', 'the copy that was replaced, and the hub, may still hold what is lost'),
  gap: incomplete('sequences', 'nothing brings them back; raise the retention of the hub'),
  'gap-unexplained': incomplete('sequences', 'compare with the hub or its Capture files'),
  'began-later': note('sequences'),
  'agent-hole': incomplete('agents', 'look into the outbox and the log of that agent'),
  'agent-under-way': note('agents'),
  'agent-before-pruning': note('agents'),
  'agent-anew': note('agents'),
  'projection-differs': tampered(
    'projections',
    'when nothing else was found, seb audit replay --rebuild makes the projections anew from the entries',
  ),
  'projection-unproven': incomplete('projections', 'compare with a copy from before the pruning'),
  'projections-absent': note('projections'),
  stale: incomplete('freshness', 'see whether a consumer runs: seb audit status'),
  'nothing-in-range': incomplete('freshness', 'ask for another time with --since and --until'),
} as const satisfies Readonly<Record<string, FindingKind>>;

export type FindingCode = keyof typeof findingKinds;

/** What was found, where, and how often. */
export interface Finding {
  readonly code: FindingCode;
  readonly check: CheckName;
  readonly severity: Severity;
  /** Whether it would be `incomplete`, but whoever checks knows of it. */
  readonly accepted: boolean;
  readonly stream: string | null;
  /** Of the first entry that it is about, and of the last. */
  readonly index: number | null;
  readonly lastIndex: number | null;
  readonly count: number;
  /** One sentence about the first, without a full stop. */
  readonly text: string;
  readonly advice: string;
}

/** One thing that was found. */
export interface Found {
  readonly stream?: string;
  readonly index?: number;
  /** Epoch ms at which it happened: outside of the range that was asked for, what is incomplete is only a note. */
  readonly at?: number;
  readonly text: string;
}

/** Which times count. */
export interface TimeRange {
  readonly since: number;
  readonly until: number;
}

export const always: TimeRange = { since: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

export const isWithin = ({ since, until }: TimeRange, at: number): boolean => at >= since && at < until;

export interface FindingsOptions {
  readonly range?: TimeRange;
  /** Incompleteness that is known and taken as it is; tampering never is. */
  readonly accept?: ReadonlySet<FindingCode>;
}

/** Keeps what is found: one finding for each code and stream, however often it is found, so that memory stays bounded. */
export class Findings {
  readonly #found = new Map<string, Finding>();
  readonly #range: TimeRange;
  readonly #accept: ReadonlySet<FindingCode>;

  constructor({ range = always, accept = new Set() }: FindingsOptions = {}) {
    this.#range = range;
    this.#accept = accept;
  }

  add(code: FindingCode, { stream, index, at, text }: Found): void {
    const { check, severity, advice }: FindingKind = findingKinds[code];
    const counts = at === undefined || isWithin(this.#range, at);
    const accepted = severity === 'incomplete' && this.#accept.has(code);
    const worth = severity === 'incomplete' && (accepted || !counts) ? 'note' : severity;
    const key = `${worth} ${code} ${stream ?? ''}`;
    const known = this.#found.get(key);
    this.#found.set(key, {
      ...(known ?? { code, check, severity: worth, accepted, stream: stream ?? null, text, advice }),
      index: known === undefined ? (index ?? null) : known.index,
      lastIndex: index ?? known?.lastIndex ?? null,
      count: (known?.count ?? 0) + 1,
    });
  }

  has(code: FindingCode): boolean {
    return this.all().some((finding) => finding.code === code);
  }

  /** In the order of the checks, the worst first. */
  all(): Finding[] {
    const rank: Readonly<Record<Severity, number>> = { tampered: 0, incomplete: 1, note: 2 };
    return [...this.#found.values()].sort(
      (one, other) =>
        checkNames.indexOf(one.check) - checkNames.indexOf(other.check) ||
        rank[one.severity] - rank[other.severity],
    );
  }
}
