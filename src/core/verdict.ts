// What a check of a trail comes to: one word, one exit code, one sentence.
import type { Finding } from './finding.ts';

export type VerdictWord = 'verified' | 'incomplete' | 'tampered';

/** The exit codes of `seb audit verify`. */
export const exitCodes: Readonly<Record<VerdictWord, number>> = { verified: 0, incomplete: 11, tampered: 10 };

/** The worst finding decides; notes decide nothing. */
export function verdictOf(findings: readonly Finding[]): VerdictWord {
  if (findings.some(({ severity }) => severity === 'tampered')) return 'tampered';
  return findings.some(({ severity }) => severity === 'incomplete') ? 'incomplete' : 'verified';
}

/** What the sentence at the end is about. */
export interface Summary {
  readonly entries: number;
  /** Fewer than `entries` when a time was asked for. */
  readonly inRange: number;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly partitions: number;
  /** When the newest seal was made that an anchor keeps, and where; null when none does. */
  readonly anchored: { readonly at: number; readonly place: string } | null;
}

/** 41,208 */
export const countText = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');

const many = (count: number, one: string, more: string): string =>
  `${countText(count)} ${count === 1 ? one : more}`;

/** `2026-11-20 01:10`; what no calendar knows stays a number. */
export const minuteText = (at: number): string =>
  Math.abs(at) <= 8.64e15 ? new Date(at).toISOString().slice(0, 16).replace('T', ' ') : String(at);

/** One sentence, such as `VERIFIED 41,208 entries, 2026-10-01 00:00 .. 2026-11-20 01:10 UTC, 4 partitions, …`. */
export function verdictSentence(findings: readonly Finding[], summary: Summary): string {
  const verdict = verdictOf(findings);
  const facts = factsOf(summary, findings).join(', ');
  const deciding = findings.filter(({ severity }) => severity === verdict);
  const [first] = deciding;
  if (first === undefined) return `VERIFIED ${facts}.`;
  const more =
    deciding.length === 1 ? '' : `; and ${many(deciding.length - 1, 'more finding', 'more findings')}`;
  return `${verdict.toUpperCase()} ${facts}: ${first.text}${more}.`;
}

function factsOf(
  { entries, inRange, firstAt, lastAt, partitions, anchored }: Summary,
  findings: readonly Finding[],
) {
  const told =
    inRange === entries
      ? many(entries, 'entry', 'entries')
      : `${countText(inRange)} of ${many(entries, 'entry', 'entries')}`;
  const accepted = findings.filter((finding) => finding.accepted).map(({ code }) => code);
  return [
    told,
    ...(firstAt === null || lastAt === null ? [] : [`${minuteText(firstAt)} .. ${minuteText(lastAt)} UTC`]),
    many(partitions, 'partition', 'partitions'),
    anchored === null ? 'not anchored' : `anchored up to ${minuteText(anchored.at)} UTC in ${anchored.place}`,
    ...(accepted.length === 0 ? [] : [`accepted: ${[...new Set(accepted)].join(', ')}`]),
  ];
}
