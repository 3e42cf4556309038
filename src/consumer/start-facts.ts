// What the journal says of a start beside the start itself: whether settings or keys are others than the last time.
import type { TrailStore, Unavailable } from '../audit/store.ts';
import type { JournalFact } from '../core/journal.ts';
import { lastFact } from './journal-tail.ts';

/** What a run goes by. */
export interface StartConditions {
  readonly instance: string;
  /** SHA-256 in hex over the effective settings without their secrets; null when nobody says. */
  readonly settingsSha256: string | null;
  /** The keys that sign, as C2SP verifier keys. */
  readonly keys: readonly string[];
}

/** What changed since the journal last said it. */
export async function changedSettings(
  trail: TrailStore,
  { instance, settingsSha256, keys }: StartConditions,
): Promise<readonly JournalFact[] | Unavailable> {
  const configuration = await lastFact(trail, 'configuration-changed');
  if (configuration.status === 'unavailable') return configuration;
  const signing = await lastFact(trail, 'keys-changed');
  if (signing.status === 'unavailable') return signing;
  const facts: JournalFact[] = [];
  if (settingsSha256 !== null && configuration.fact?.settingsSha256 !== settingsSha256) {
    facts.push({ kind: 'configuration-changed', instance, settingsSha256 });
  }
  const before = signing.fact?.keys ?? [];
  const now = keys.toSorted();
  if (before.join('\n') !== now.join('\n')) facts.push({ kind: 'keys-changed', keys: now });
  return facts;
}
