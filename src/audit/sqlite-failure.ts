// What a failure of SQLite means for the trail, and in words for a person.
import type { UnavailableReason } from './store.ts';

// Result codes of SQLite, https://www.sqlite.org/rescode.html; the low byte is the kind.
const reasonOf: Readonly<Record<number, UnavailableReason>> = {
  5: 'locked',
  6: 'locked',
  8: 'read-only',
  10: 'unexpected',
  11: 'damaged',
  13: 'disk-full',
  14: 'unexpected',
  26: 'damaged',
};

/** The reason behind an error of SQLite; null for an error that is a bug of ours. */
export function failureOf(error: unknown): UnavailableReason | null {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return null;
  return reasonOf[errcode & 0xff] ?? null;
}

/** Why a file cannot be used, as the end of a sentence. */
export const wordsFor: Readonly<Record<UnavailableReason, string>> = {
  'disk-full': 'the disk is full',
  locked: 'another program holds it locked',
  damaged: 'it is damaged or no SQLite file: keep it, and restore the trail from a copy',
  'read-only': 'it may not be written to',
  unexpected: 'it cannot be read',
};
