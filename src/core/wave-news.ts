// Which moments of a wave are worth a word of their own: an updated message wakes nobody.
import type { Severity } from './record.ts';
import type { StandingEvent } from './wave-view.ts';

// A wave in which each fault domain waits for the one before makes news again and again.
const newsMax = 12;

interface News {
  readonly at: number;
  readonly name: string;
}

/**
 * What has been news so far, by what is known now: that it began, that all of it is over, that more is announced after
 * that, and that it asks more of people than it did. Names stay the same whatever the order of facts.
 */
export function newsOf(events: readonly StandingEvent[], severity: Severity): readonly string[] {
  const rounds = roundsOf(events);
  const starts = events.flatMap(({ summary }) => summary.startedAt ?? []);
  const found: News[] = rounds.flatMap(({ from, to }, index) => [
    ...(index === 0 ? [] : [{ at: from, name: `announced-${index + 1}` }]),
    ...(to === null ? [] : [{ at: to, name: `over-${index + 1}` }]),
  ]);
  if (starts.length > 0) found.push({ at: Math.min(...starts), name: 'started' });
  const names = [...found, ...changesOf(events)]
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name);
  return [...names.slice(-newsMax), ...(severity === 'INFO' ? [] : [`severity-${severity}`])];
}

interface Round {
  readonly from: number;
  /** Null while it goes on. */
  readonly to: number | null;
}

/** Stretches of time in which at least one event was open. */
function roundsOf(events: readonly StandingEvent[]): readonly Round[] {
  const rounds: Round[] = [];
  for (const { summary } of events) {
    const { firstSeenAt: from, endedAt: to } = summary;
    const last = rounds.at(-1);
    if (last === undefined || (last.to !== null && from > last.to)) rounds.push({ from, to });
    else rounds[rounds.length - 1] = { from: last.from, to: laterOf(last.to, to) };
  }
  return rounds;
}

const laterOf = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : Math.max(one, other);

/** While there is one event alone, each change of it is news. */
function changesOf(events: readonly StandingEvent[]): readonly News[] {
  const [only, ...others] = events;
  const at = only?.summary.updatedAt ?? null;
  return others.length > 0 || at === null ? [] : [{ at, name: `updated-${at}` }];
}
