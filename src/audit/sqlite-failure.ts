// What a failure of SQLite means for the trail, and in words for a person.
import { resultCodeOf, resultKind } from '../sqlite.ts';
import type { UnavailableReason } from './store.ts';

const reasonOf: Readonly<Record<number, UnavailableReason>> = {
  [resultKind.busy]: 'locked',
  [resultKind.locked]: 'locked',
  [resultKind.readOnly]: 'read-only',
  [resultKind.inputOutput]: 'unexpected',
  [resultKind.corrupt]: 'damaged',
  [resultKind.full]: 'disk-full',
  [resultKind.cannotOpen]: 'unexpected',
  [resultKind.notADatabase]: 'damaged',
};

/** The reason behind an error of SQLite; null for an error that is a bug of ours. */
export function failureOf(error: unknown): UnavailableReason | null {
  const result = resultCodeOf(error);
  return result === null ? null : (reasonOf[result.kind] ?? null);
}

/** Why a file cannot be used, as the end of a sentence. */
export const wordsFor: Readonly<Record<UnavailableReason, string>> = {
  'disk-full': 'the disk is full',
  locked: 'another program holds it locked',
  damaged: 'it is damaged or no SQLite file: keep it, and restore the trail from a copy',
  'read-only': 'it may not be written to',
  unreachable: 'its server cannot be reached',
  unauthorized: 'its server refuses this user',
  unexpected: 'it cannot be read',
};
