// The contract of what acts on events, beside telling of them: hooks, approvals, and the measuring of impact.
import type { Observation, Watch } from '../core/watch.ts';
import type { Draft, Notes } from '../delivery/outbox/draft.ts';

/** What one good document came to, before it is written down. */
export interface SeenDocument {
  /** As it will be remembered. */
  readonly watch: Watch;
  /** As it was remembered before. */
  readonly before: Watch;
  readonly observations: readonly Observation[];
  /** Epoch ms. */
  readonly now: number;
  readonly firstSinceStart: boolean;
}

/** What is to be written down in one commit with the document. */
export interface Consequence {
  readonly drafts: readonly Draft[];
  /** Keys begin with `deed/` and the name of the part. */
  readonly notes: Notes;
}

export const noConsequence: Consequence = { drafts: [], notes: {} };

/** A part of the agent that acts on events. Neither method waits or throws. */
export interface Reaction extends AsyncDisposable {
  /** Before a document that changed something is committed; nothing may begin here. */
  foresee(seen: SeenDocument): Consequence;
  /** After each good document, once all that was seen is durable: begins what is due. */
  act(watch: Watch, now: number): void;
  /** Resolves when nothing is in hand that a change of the configuration should wait for. */
  idle(): Promise<void>;
}

/** Joins several parts, in this order; they end in reverse. */
export function joinReactions(parts: readonly Reaction[]): Reaction {
  return {
    foresee: (seen) => {
      const all = parts.map((part) => part.foresee(seen));
      return {
        drafts: all.flatMap(({ drafts }) => drafts),
        notes: Object.assign({}, ...all.map(({ notes }) => notes)),
      };
    },
    act: (watch, now) => {
      for (const part of parts) part.act(watch, now);
    },
    idle: async () => {
      // Hooks hold back only for a moment once they are idle, so they are asked after the approvals behind them.
      for (const part of parts.toReversed()) await part.idle();
    },
    [Symbol.asyncDispose]: async () => {
      for (const part of parts.toReversed()) await part[Symbol.asyncDispose]();
    },
  };
}
