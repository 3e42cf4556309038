// Waits for a condition instead of for a time.
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves with the first value that is neither false, null nor undefined.
 * @param what named in the error
 * @throws after `withinMs`
 */
export async function until<Value>(
  what: string,
  probe: () => Value | Promise<Value>,
  withinMs = 15_000,
): Promise<Exclude<Value, false | null | undefined>> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await probe();
    if (value !== false && value !== null && value !== undefined)
      return value as Exclude<Value, false | null | undefined>;
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain: ${what}`);
    await delay(10);
  }
}
