// Keeps the copy of the trail going, and brings it up to date before a head goes to an anchor: a copy that is behind an
// anchor looks like one that was cut.
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { type ArchiveOptions, type ArchiveState, runArchive } from './archiving.ts';
import { openNap } from './nap.ts';

export interface CopyingOptions extends Pick<ArchiveOptions, 'settings' | 'openSource'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly onState: (state: ArchiveState) => void;
}

export interface Copying {
  /** Until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Copies now; returns when all that stands there by now is copied, when copying fails, or when the signal aborts. */
  upToNow(signal: AbortSignal): Promise<void>;
}

export function openCopying({ clock, onState, openSource, ...options }: CopyingOptions): Copying {
  const nap = openNap(clock);
  const waiting = new Set<(state: ArchiveState) => void>();
  let begun = 0;
  const take = (state: ArchiveState): void => {
    onState(state);
    for (const each of [...waiting]) each(state);
  };
  // Whoever began to wait during a step found no sleep to end: it must not begin.
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (waiting.size === 0) await nap.sleep(ms, signal);
  };
  const source = (): ReturnType<typeof openSource> => {
    begun += 1;
    return openSource();
  };
  return {
    run: (signal) =>
      runArchive({ ...options, openSource: source, clock: { ...clock, sleep }, signal, onState: take }),
    upToNow: async (signal) => {
      const before = begun;
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => {
        waiting.delete(look);
        resolve();
      };
      const look = ({ state }: ArchiveState): void => {
        // A step that began before may have passed by what came meanwhile: the one after it has not.
        if (state === 'failing' || (state === 'complete' && begun > before)) end();
      };
      waiting.add(look);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
      nap.wake();
      await promise;
      signal.removeEventListener('abort', end);
    },
  };
}
