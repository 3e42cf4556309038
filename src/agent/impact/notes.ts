// How a measurement is kept beyond the end of the process: one note for each event.
import type { Measurement } from '../../core/impact.ts';

/** What a note holds. */
export interface KeptMeasurement extends Measurement {
  readonly version: 1;
  /** In which boot it was written. */
  readonly bootId: string;
  /** The event might already have been under way. */
  readonly near: boolean;
}

/** What the keys of all these notes begin with; the event key follows. */
export const notePrefix = 'deed/impact/';

export const noteOf = (kept: Omit<KeptMeasurement, 'version'>): string =>
  JSON.stringify({ version: 1, ...kept });

/** Reads what `noteOf` made; null for what another program made. */
export function readNote(text: string): KeptMeasurement | null {
  let kept: Partial<KeptMeasurement> | null;
  try {
    kept = JSON.parse(text);
  } catch {
    return null;
  }
  return kept?.version === 1 ? (kept as KeptMeasurement) : null;
}
