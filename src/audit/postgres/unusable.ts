// Says in one sentence why a trail in PostgreSQL cannot be used.
import { TrailUnusable } from '../store.ts';
import { failureOf, sentenceFor } from './failure.ts';

/** What to throw instead of an error of the database, whose own text may hold anything; a bug stays what it is. */
export function unusable(error: unknown): unknown {
  if (error instanceof TrailUnusable || failureOf(error) === null) return error;
  return new TrailUnusable(`the trail in PostgreSQL cannot be used: ${sentenceFor(error)}`);
}
