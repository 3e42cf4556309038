// The files that settings point to: those of secrets, and those of certificates.
import { Secret } from './secret.ts';

const secretFile = 'file:';

/**
 * @param settings parsed; a setting whose name ends in `File` holds a path, as one given as `{ file: PATH }` does
 * @returns the paths, each once
 */
export function filesOf(settings: unknown): readonly string[] {
  return [...new Set(pathsIn(settings, ''))];
}

function pathsIn(value: unknown, key: string): string[] {
  if (value instanceof Secret) {
    return value.place.startsWith(secretFile) ? [value.place.slice(secretFile.length)] : [];
  }
  if (typeof value === 'string') return key.endsWith('File') ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => pathsIn(child, name));
}
