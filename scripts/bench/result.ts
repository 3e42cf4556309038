// What a measurement gives: one figure, and the figure of the bare thing measured in the same run.

export interface BenchResult {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the figure is to be judged by, measured in the same run. */
  readonly baseline?: { readonly name: string; readonly value: number };
}

export interface BenchOptions {
  /** Short runs: to see that it works, not to quote. */
  readonly quick: boolean;
  /** How long what does nothing is watched, s; what is usual unless given. */
  readonly idleSeconds?: number;
}

/** What each file of this folder that measures something exports as `run`. */
export type Bench = (options: BenchOptions) => Promise<readonly BenchResult[]>;

/** The value below which the share `share` (0 to 1) of all values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? Number.NaN;
}
