// Says what a check proved, what it could not prove, and what it found.
import { type CheckName, checkNames, type Finding } from '../../core/finding.ts';
import { partitionOfStream } from '../../core/stream.ts';
import {
  countText,
  exitCodes,
  minuteText,
  type Summary,
  type VerdictWord,
  verdictOf,
  verdictSentence,
} from '../../core/verdict.ts';
import type { Verification } from './verify.ts';

export interface CheckReport {
  readonly name: CheckName;
  readonly status: 'proved' | 'not-proven' | 'failed';
  /** What it proves, or why it does not. */
  readonly text: string;
}

/** The whole report. Its names are those of the JSON. */
export interface VerifyReport {
  readonly schema: 'seb.audit-verify.v1';
  readonly verdict: VerdictWord;
  readonly exitCode: number;
  /** Without a secret. */
  readonly place: string;
  readonly trail: string | null;
  readonly entries: number;
  readonly inRange: number;
  readonly records: number;
  readonly pruned: number;
  readonly partitions: number;
  readonly agents: number;
  readonly seals: number;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly sealedAt: string | null;
  readonly anchoredAt: string | null;
  readonly checks: readonly CheckReport[];
  readonly findings: readonly Finding[];
  readonly sentence: string;
}

const iso = (at: number | null): string | null =>
  at === null || Math.abs(at) > 8.64e15 ? null : new Date(at).toISOString();

export function reportOf(verification: Verification): VerifyReport {
  const { findings, counted, seals, anchors, ledger } = verification;
  const all = findings.all();
  const summary = summaryOf(verification);
  const verdict = verdictOf(all);
  return {
    schema: 'seb.audit-verify.v1',
    ...{ verdict, exitCode: exitCodes[verdict], place: verification.place, trail: verification.trail },
    ...{
      entries: counted.entries,
      inRange: counted.inRange,
      records: ledger.records,
      pruned: counted.pruned,
    },
    ...{ partitions: summary.partitions, agents: ledger.agents, seals: seals.seals },
    ...{ firstAt: iso(counted.firstAt), lastAt: iso(counted.lastAt), sealedAt: iso(seals.newestAt) },
    anchoredAt: iso(anchors.newest?.at ?? null),
    checks: checkNames.map((name) => checkOf(verification, name, all)),
    findings: all,
    sentence: verdictSentence(all, summary),
  };
}

function summaryOf({ counted, walks, anchors }: Verification): Summary {
  const hubs = [...walks.values()].filter(({ pass }) => pass.stream.kind === 'hub');
  const partitions = new Set(hubs.map(({ pass }) => partitionOfStream(pass.stream.name))).size;
  const { entries, inRange, firstAt, lastAt } = counted;
  return { entries, inRange, firstAt, lastAt, partitions, anchored: anchors.newest };
}

function checkOf(verification: Verification, name: CheckName, all: readonly Finding[]): CheckReport {
  const mine = all.filter(({ check }) => check === name);
  const tampered = mine.find(({ severity }) => severity === 'tampered');
  if (tampered !== undefined) return { name, status: 'failed', text: tampered.text };
  // What is accepted, or lies outside of the time asked for, is not proven by that.
  const open = mine.find(
    ({ severity, code, accepted }) => severity === 'incomplete' || accepted || code === 'projections-absent',
  );
  if (open !== undefined) return { name, status: 'not-proven', text: open.text };
  const text = proofs[name](verification);
  return text === null
    ? { name, status: 'not-proven', text: 'there is nothing to compare' }
    : { name, status: 'proved', text };
}

const plural = (count: number, one: string, more: string): string =>
  `${countText(count)} ${count === 1 ? one : more}`;

/** What stands when nothing was found; null when there was nothing to check. */
const proofs: Readonly<Record<CheckName, (verification: Verification) => string | null>> = {
  signatures: ({ walks }) => {
    const all = [...walks.values()].map(({ standing }) => standing);
    const verified = all.reduce((sum, standing) => sum + standing.verified, 0);
    const names = [...new Set(all.flatMap(({ keys }) => [...keys]))].join(', ');
    return verified === 0
      ? null
      : `${plural(verified, 'signed head', 'signed heads')}, by ${names}, and every entry is covered by one of them`;
  },
  entries: ({ counted: { entries, pruned } }) =>
    `${plural(entries, 'entry', 'entries')}: each body is what was hashed, and each tree what its heads say${pruned === 0 ? '' : `; of ${countText(pruned)} pruned bodies the hashes`}`,
  seals: ({ seals: { seals, firstAt, newestAt } }) =>
    firstAt === null || newestAt === null
      ? null
      : `${plural(seals, 'seal', 'seals')}, ${minuteText(firstAt)} .. ${minuteText(newestAt)} UTC: the streams were what each says`,
  anchors: ({ anchors: { agreed, newest } }) =>
    newest === null
      ? null
      : `${plural(agreed, 'head', 'heads')} kept elsewhere ${agreed === 1 ? 'agrees' : 'agree'}, up to seal ${newest.size - 1} of ${minuteText(newest.at)} UTC in ${newest.place}`,
  sequences: () => 'no event is missing between the first and the last of each stream',
  agents: ({ ledger }) =>
    `of ${plural(ledger.agents, 'agent', 'agents')} and ${plural(ledger.records, 'record', 'records')} none is missing in between`,
  projections: ({ projections }) =>
    projections === 'same' ? 'what the questions are answered from is what the entries give' : null,
  freshness: ({ seals: { newestAt } }) =>
    newestAt === null ? null : `the newest seal is of ${minuteText(newestAt)} UTC`,
};
