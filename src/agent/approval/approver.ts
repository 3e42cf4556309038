// Approves events as the rules say.
import { noConsequence, type Reaction } from '../reaction.ts';
import type { PreparationOf, ReactionRuntime } from '../reactions.ts';

export interface ApproverRuntime extends ReactionRuntime {
  readonly preparationOf: PreparationOf;
}

export function openApprover(_runtime: ApproverRuntime): Reaction {
  return {
    foresee: () => noConsequence,
    act: () => undefined,
    idle: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
