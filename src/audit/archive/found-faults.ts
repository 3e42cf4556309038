// Keeps what was found in a copy where something else should be: a place for each, however often it is read.
import type { SourceFault, SourceFaultKind } from '../store.ts';

/** More are counted and not named one by one. */
const placesMax = 10_000;

/** What one reading of one file finds. */
export interface FileFaults {
  /** @param line counted from 1; 0 when it is about the whole file */
  add(kind: SourceFaultKind, line: number): void;
}

/** What readings of the whole copy found. */
export interface FoundFaults {
  /** Begins to read a file: what earlier readings of it found is found again, and counts once. */
  within(file: string, stream: string | null): FileFaults;
  all(): readonly SourceFault[];
}

export function openFaults(): FoundFaults {
  const found = new Map<string, SourceFault>();
  return {
    within: (file, stream) => {
      const counts = new Map<SourceFaultKind, number>();
      return {
        add: (kind, line) => {
          const count = (counts.get(kind) ?? 0) + 1;
          counts.set(kind, count);
          const key = `${kind} ${file}`;
          const before = found.get(key);
          if (before === undefined && found.size >= placesMax) return;
          const place = before?.place ?? (line === 0 ? file : `${file}:${line}`);
          found.set(key, { kind, place, stream, count: Math.max(count, before?.count ?? 0) });
        },
      };
    },
    all: () => [...found.values()].sort((one, other) => (one.place < other.place ? -1 : 1)),
  };
}
