// The contract of an anchor: a place, out of reach of whoever can change the trail, that keeps its signed heads.
import type { ConsumerSettings } from '../settings.ts';

/** The settings of one anchor, of whichever type. */
export type AnchorSettings = ConsumerSettings['anchors'][number];

/** One word or two from a closed list of each anchor: never a text from outside. */
export interface AnchorFailure {
  readonly status: 'failed';
  readonly reason: string;
}

export type AnchorPut =
  /** Durable there. @property reference where it stands, for a person; null when there is nothing to say */
  { readonly status: 'anchored'; readonly reference: string | null } | AnchorFailure;

export type AnchorRead =
  /** The newest note that the place holds of this origin, whoever signed it; null when it holds none. */
  { readonly status: 'known'; readonly note: string | null } | AnchorFailure;

/** One attempt each, without waiting, logging or counting: when it is tried again, `anchoring.ts` decides. */
export interface Anchor extends AsyncDisposable {
  /** Where it is, without a secret; the same for every start. */
  readonly place: string;
  /** Adds a signed note of `origin`. */
  put(origin: string, note: string, signal: AbortSignal): Promise<AnchorPut>;
  /** Null for a place that cannot be read again. */
  readonly newest: ((origin: string, signal: AbortSignal) => Promise<AnchorRead>) | null;
  /** Tries whether the next `put` would work, and leaves nothing behind. @returns what was tried, or what is wrong */
  check(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }>;
}

export const failedAnchor = (reason: string): AnchorFailure => ({ status: 'failed', reason });
