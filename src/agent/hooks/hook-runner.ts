// Runs the hooks of events: before they start, and after they are over.
import { noConsequence, type Reaction } from '../reaction.ts';
import type { PreparationOf, ReactionRuntime } from '../reactions.ts';

export interface HookRunner extends Reaction {
  readonly preparationOf: PreparationOf;
}

export function openHookRunner(_runtime: ReactionRuntime): HookRunner {
  return {
    preparationOf: () => 'none',
    foresee: () => noConsequence,
    act: () => undefined,
    idle: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
