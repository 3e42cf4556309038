// What `/readyz` says of the proofs of the trail, and which of it a person should look at.
import type { KeepingStanding } from './keeping-standing.ts';

/** What a person should look at, although the trail goes on. */
export type KeepingWarning = 'unsigned' | 'anchor-failing' | 'archive-failing';

export interface KeepingReadiness {
  readonly seals: {
    readonly signed: boolean;
    readonly sealedAt: string | null;
    readonly entries: number;
    readonly unsealed: number;
    /** For how long something that makes a seal due has been waiting. */
    readonly waitingSeconds: number;
  };
  /** By name. */
  readonly anchors: Readonly<
    Record<string, { readonly anchoredAt: string | null; readonly fault: string | null }>
  >;
  /** Null without a copy. */
  readonly archive: {
    readonly state: string;
    readonly fault: string | null;
    /** Since it was complete. */
    readonly ageSeconds: number;
  } | null;
}

// Five intervals: one that was missed, or a store that was away for a moment, is no news.
const unsealedMsMax = 150_000;

/** Whether what came has not been sealed for too long. */
export const isUnsealed = ({ seals }: KeepingStanding): boolean => seals.waitingMs > unsealedMsMax;

/** Names of the anchors that take no heads. */
export const failingAnchors = ({ anchors }: KeepingStanding): readonly string[] =>
  Object.entries(anchors).flatMap(([name, { fault }]) => (fault === null ? [] : [name]));

export function warningsOf(standing: KeepingStanding): readonly KeepingWarning[] {
  const found: Readonly<Record<KeepingWarning, boolean>> = {
    unsigned: !standing.signed,
    'anchor-failing': failingAnchors(standing).length > 0,
    'archive-failing': standing.archive?.state === 'failing',
  };
  return (Object.keys(found) as KeepingWarning[]).filter((warning) => found[warning]);
}

export function keepingReadiness({ signed, seals, anchors, archive }: KeepingStanding): KeepingReadiness {
  const { sealedAt, entries, unsealed, waitingMs } = seals;
  return {
    seals: { signed, sealedAt: timeOf(sealedAt), entries, unsealed, waitingSeconds: seconds(waitingMs) },
    anchors: Object.fromEntries(
      Object.entries(anchors).map(([name, { anchoredAt, fault }]) => [
        name,
        { anchoredAt: timeOf(anchoredAt), fault },
      ]),
    ),
    archive: archive && { state: archive.state, fault: archive.fault, ageSeconds: seconds(archive.ageMs) },
  };
}

const timeOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
const seconds = (ms: number): number => Math.round(ms) / 1000;
