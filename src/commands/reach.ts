// One thing that `seb check` tries, and the one that both programs have: a directory of their own.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CheckResult } from '../sinks/sink.ts';

/** One thing to try, and what it came to. It leaves nothing behind. */
export interface Check {
  readonly name: string;
  run(signal: AbortSignal): Promise<CheckResult>;
}

/** A directory that the program will make itself is fine when it may be made. */
export const directoryCheck = (name: string, path: string): Check => ({
  name,
  run: async () => {
    try {
      const place = nearestExisting(path);
      if (!statSync(place).isDirectory()) return { ok: false, detail: `${place} is not a directory` };
      accessSync(place, constants.W_OK | constants.X_OK);
      return { ok: true, detail: place === path ? path : `${path} (will be made)` };
    } catch (error) {
      return { ok: false, detail: `${path}: ${(error as NodeJS.ErrnoException).code ?? 'cannot be used'}` };
    }
  },
});

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
