// Waits for work no longer than it may take: what hangs is left behind, and told to stop.
import type { Clock } from '../clock.ts';

/**
 * @param work is told by its signal when its time is up
 * @returns when the work is over, its time is up, or `signal` aborts
 */
export async function within(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const [stop, done] = [new AbortController(), new AbortController()];
  const end = (): void => stop.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const late = clock.sleep(ms, AbortSignal.any([done.signal, signal])).then(end);
  try {
    await Promise.race([work(stop.signal), late]);
  } finally {
    done.abort();
    signal.removeEventListener('abort', end);
  }
}
