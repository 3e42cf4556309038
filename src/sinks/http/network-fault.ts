// Names what went wrong on the way to another machine, from the codes of errors and never from their texts.
import { type Fault, faultOfCode } from '../../core/answer-table.ts';
import type { DeliveryReason } from '../../core/delivery.ts';

/** The reason for an error code; null for a code that nobody foresaw. */
export const networkReason = (code: string): DeliveryReason | null => faultOfCode(code)?.[1] ?? null;

/** What an error, its parts or its cause means for an attempt; null when nobody foresaw any of them. */
export function faultOf(error: unknown): Fault | null {
  for (const code of codesOf(error)) {
    const fault = faultOfCode(code);
    if (fault !== null) return fault;
  }
  return null;
}

// Deeper than any error that was ever seen, and a bound for one that contains itself.
const depthMax = 5;

/**
 * What an error calls itself: its `code` where that is a text, else its `name`; then the same for its parts
 * (several addresses or attempts that failed together) and its cause.
 */
export function codesOf(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > depthMax) return [];
  const { code, name, cause, errors, innerError } = error as Readonly<Record<string, unknown>>;
  const parts = [...(Array.isArray(errors) ? errors : []), innerError, cause];
  const own = [code, name].find((text) => typeof text === 'string' && text !== '');
  return [...(own === undefined ? [] : [String(own)]), ...parts.flatMap((part) => codesOf(part, depth + 1))];
}
