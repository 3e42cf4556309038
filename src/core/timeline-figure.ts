// A figure of a timeline: its value, how sure it is, and in a phrase why.

/**
 * `said`: Azure or an agent's record says it. `measured`: from the clocks of agents. `inferred`: follows from what was
 * seen, though nobody said it. `estimated`: a bound, or part of what it should cover. `unknown`: there is no value.
 */
export type Confidence = 'said' | 'measured' | 'inferred' | 'estimated' | 'unknown';

export interface Figure<Value> {
  /** Null exactly when it is unknown. */
  readonly value: Value | null;
  readonly confidence: Confidence;
  /** Why it is what it is, or why there is none, where that is not plain. */
  readonly because: string | null;
}

export const figure = <Value>(
  value: Value,
  confidence: Exclude<Confidence, 'unknown'>,
  because: string | null = null,
): Figure<Value> => ({ value, confidence, because });

export const unknownFigure = (because: string): Figure<never> => ({
  ...{ value: null, confidence: 'unknown', because },
});
