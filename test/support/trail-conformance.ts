// What every store of the trail must do: the same tests for each of them.
import { describe } from 'vitest';
import { type ConvergenceOptions, converges } from './trail/convergence.ts';
import { keepsALog } from './trail/log.ts';
import { keepsItsOwnStreams } from './trail/own-streams.ts';
import { keepsProjections } from './trail/projections.ts';
import { prunes } from './trail/prune.ts';
import { answersQuestions } from './trail/questions.ts';
import { canBeRead } from './trail/source.ts';
import type { OpenWorld } from './trail/world.ts';

/** Runs the whole contract against one kind of store. @param openWorld gives a new and empty trail each time */
export function describeTrail(
  name: string,
  openWorld: OpenWorld,
  convergence: ConvergenceOptions = { runs: 10 },
): void {
  describe(`the log in ${name}`, () => keepsALog(openWorld));
  describe(`what a trail in ${name} says of itself`, () => keepsItsOwnStreams(openWorld));
  describe(`the projections in ${name}`, () => keepsProjections(openWorld));
  describe(`pruning in ${name}`, () => prunes(openWorld));
  describe(`a trail in ${name} at one moment`, () => canBeRead(openWorld));
  describe(`several writers of a trail in ${name}`, () => converges(openWorld, convergence));
  describe(`questions to a trail in ${name}`, () => answersQuestions(openWorld));
}
