// Finds what somebody probably meant to type.

/**
 * The candidate nearest to a mistyped text.
 * @returns undefined when none is within a third of the text's length
 */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(text.length / 3));
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(text, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= limit ? best.candidate : undefined;
}

/** How many letters to insert, drop, replace or swap with their neighbour to turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped = isSwap(a, b, row, column) ? (beforeLast[column - 2] ?? 0) + 1 : Infinity;
      current.push(Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? 0;
}

const isSwap = (a: string, b: string, row: number, column: number): boolean =>
  row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
