// Folds the records about one deed of one agent into how it stands: the last word, and when it was first spoken of.
import type { Deed, DeedFacts, DeedFamily } from './read-deed.ts';
import type { TrailRecord } from './read-record.ts';

/** How one deed stands. Two states join in any order, any number of times. */
export interface DeedState {
  /** When it was first told, epoch ms. */
  readonly firstAt: number;
  /** When its last word was told, epoch ms, and the number that the agent gave that record; -1 for none. */
  readonly at: number;
  readonly sequence: number;
  readonly deed: Deed;
}

/** What names a deed: an agent does it to an event once, however many records tell of it. */
export interface DeedKey {
  readonly eventId: string;
  readonly agentId: string;
  readonly what: string;
}

/** The key of a deed in what is known. */
export const deedKey = ({ eventId, agentId, what }: DeedKey): string =>
  JSON.stringify([eventId, agentId, what]);

/** What a record says of the deed it tells. */
export const deedStateOf = ({ at, agent }: TrailRecord, { deed }: DeedFacts): DeedState => ({
  ...{ firstAt: at, at, sequence: agent.sequence ?? -1, deed },
});

/** The later word counts: by the agent's own numbering, since its clock may be set back between two of them. */
export function joinDeeds(one: DeedState, other: DeedState): DeedState {
  const later = isLater(one, other) ? one : other;
  return { ...later, firstAt: Math.min(one.firstAt, other.firstAt) };
}

function isLater(one: DeedState, other: DeedState): boolean {
  if (one.sequence !== other.sequence) return one.sequence > other.sequence;
  if (one.at !== other.at) return one.at > other.at;
  return JSON.stringify(one.deed) >= JSON.stringify(other.deed);
}

/**
 * Names a deed among those of its agent and event. A refusal and the approval that followed are two of them; a hook
 * that started and came to its end is one.
 */
export function whatOf(deed: Deed): string {
  switch (deed.family) {
    case 'approval':
      return `approval ${deed.decision}`;
    case 'hook':
      return `hook ${deed.phase} ${deed.hook}`;
    case 'impact':
      return 'impact';
  }
}

/** The family of the deed that is named so. */
export const familyOfDeed = (what: string): DeedFamily => what.split(' ', 1)[0] as DeedFamily;
