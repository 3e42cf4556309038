// Measures what an event does to this VM: pauses, reboots and moves.
import { noConsequence, type Reaction } from './reaction.ts';
import type { ReactionRuntime } from './reactions.ts';

export function openImpactMeter(_runtime: ReactionRuntime): Reaction {
  return {
    foresee: () => noConsequence,
    act: () => undefined,
    idle: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
