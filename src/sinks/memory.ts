// The memory of a sink that is opened for a moment only, such as for a check: it ends with the process.
import type { SinkMemory } from './sink.ts';

export function openPassingMemory(): SinkMemory {
  const values = new Map<string, string>();
  return {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => void values.set(key, value),
  };
}
