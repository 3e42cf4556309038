// Judges when seals were made: none from the future, none out of order, no hours without one while a consumer ran.
import type { Findings } from '../../core/finding.ts';
import type { JournalFacts } from './journal-facts.ts';

export interface SealPlace {
  readonly stream: string;
  readonly index: number;
  /** Epoch ms at which it was made. */
  readonly at: number;
}

/** What the seals came to. */
export interface SealStanding {
  seals: number;
  /** Epoch ms of the first and of the newest seal. */
  firstAt: number | null;
  newestAt: number | null;
}

/** What the times of seals are judged by. */
export interface SealTimes {
  readonly findings: Findings;
  readonly facts: JournalFacts;
  readonly now: number;
  readonly standing: SealStanding;
}

/** The clocks of several consumers are this close together. */
export const clockSkewMs = 60_000;
/** A seal is due each hour, and may take a while. */
const sealGapMsMax = 65 * 60_000;
const seconds = (ms: number): number => Math.round(ms / 1_000);

/** Judges the time of a seal, and counts it. @param options `now` is in epoch ms */
export function checkTime({ findings, facts, now, standing }: SealTimes, place: SealPlace): void {
  const { stream, index, at } = place;
  const before = standing.newestAt;
  standing.seals += 1;
  standing.firstAt ??= at;
  standing.newestAt = at;
  const what = `seal ${index} of ${stream}`;
  if (at > now + clockSkewMs) {
    const text = `${what} says that it was made ${seconds(at - now)} s from now`;
    findings.add('seal-in-future', { stream, index, text });
  }
  if (before === null) return;
  if (at < before - clockSkewMs && !hasJumped(facts, at - before, [at, before])) {
    const text = `${what} is ${seconds(before - at)} s older than the seal before it, and the journal knows of no clock that was set back`;
    findings.add('seal-time-back', { stream, index, at: before, text });
  }
  if (
    at - before > sealGapMsMax &&
    !wasStopped(facts, before, at) &&
    !hasJumped(facts, at - before, [before, at])
  ) {
    const text = `nothing was sealed for ${Math.round((at - before) / 60_000)} minutes before ${what}, and no consumer was started in between`;
    findings.add('seal-hole', { stream, index, at, text });
  }
}

/** Whether the journal tells of a clock that was set by about this much at about this time. */
function hasJumped({ jumps }: JournalFacts, byMs: number, [from, to]: readonly [number, number]): boolean {
  return jumps.some(
    (jump) =>
      Math.sign(jump.byMs) === Math.sign(byMs) &&
      Math.abs(jump.byMs) >= Math.abs(byMs) - sealGapMsMax &&
      jump.at >= from - clockSkewMs &&
      jump.at <= to + clockSkewMs,
  );
}

/** Whether a consumer was started in between, and not long before the seal: it had been down until then. */
const wasStopped = ({ starts }: JournalFacts, from: number, to: number): boolean => {
  const last = starts.findLast((at) => at > from && at <= to + clockSkewMs);
  return last !== undefined && to - last <= sealGapMsMax;
};
