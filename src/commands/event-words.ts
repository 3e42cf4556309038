// Finds the slips of a pen among the types and sources of events that a setting names.
import { nearest } from '../config/nearest.ts';

/** What a setting may say of an event, as Microsoft documents it for Scheduled Events, api-version 2020-07-01. */
const documented = {
  type: ['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate'],
  source: ['User', 'Platform'],
} as const;

/** What is strange about words that a setting has. */
export interface StrangeWords {
  /** A sentence about a word that is a documented one misspelled; null when none is. */
  readonly slip: string | null;
  /** Those that are documented nowhere: Azure may yet invent some. */
  readonly undocumented: readonly string[];
}

/** @param words any case */
export function strangeWords(kind: keyof typeof documented, words: readonly string[]): StrangeWords {
  const known = documented[kind];
  const undocumented = words.filter((word) => !known.some((each) => isAlike(each, word)));
  const slips = undocumented.flatMap((word) => {
    const near = nearest(
      word.toLowerCase(),
      known.map((each) => each.toLowerCase()),
    );
    const meant = known.find((each) => near !== undefined && isAlike(each, near));
    return meant === undefined ? [] : [`no event has the ${kind} ${word}: did you mean ${meant}?`];
  });
  return { slip: slips[0] ?? null, undocumented };
}

const isAlike = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
