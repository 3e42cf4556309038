// Says whether the consumer does its work: what `/healthz` and `/readyz` answer.
import type { UnavailableReason } from '../audit/store.ts';
import type { HubState, PartitionStanding, Standing } from './standing.ts';

/** What `/healthz` answers. */
export interface Health {
  readonly healthy: boolean;
  /** By how much the latest step is behind its own promise. */
  readonly lateSeconds: number;
}

/** Why a consumer is not ready: the trail falls behind the fleet. */
export type Unreadiness = 'hub-unread' | 'partition-stuck' | 'trail-unwritable';

/** What `/readyz` answers. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly Unreadiness[];
  readonly hub: {
    readonly state: HubState;
    readonly detail: string;
    /** What a person may do about it; null when there is nothing to do. */
    readonly advice: string | null;
    readonly since: string;
    readonly namespace: string | null;
    readonly name: string | null;
    /** Since all partitions were last known to be read; without that, since the run began. */
    readonly readAgeSeconds: number;
  };
  readonly trail: { readonly fault: UnavailableReason | null };
  /** By id; empty before the first session. */
  readonly partitions: Readonly<Record<string, PartitionReadiness>>;
}

export interface PartitionReadiness {
  /** Null before the first look. */
  readonly lagEvents: number | null;
  readonly commitAgeSeconds: number;
}

// Each step promises its own time-outs: beyond that it is stuck. A machine that is overloaded is late by less.
const lateMsMax = 30_000;
// Several looks, and the pauses between sessions that fail: an outage that passes by itself is no news.
const readAgeMsMax = 60_000;
// A look finds a stall within half a minute, and a new connection mends it: beyond that, it did not.
const stuckMsMax = 120_000;

/** Whether the process and its loops live. @param lateMs by which the latest step is behind its promise */
export const healthOf = (lateMs: number): Health => ({
  healthy: lateMs <= lateMsMax,
  lateSeconds: seconds(lateMs),
});

/** Whether every partition is read and what it brings can be made durable. */
export function readinessOf({ hub, trailFault, partitions }: Standing): Readiness {
  const reasons: Unreadiness[] = [];
  if (hub.readAgeMs > readAgeMsMax) reasons.push('hub-unread');
  if (stuckPartitions(partitions).length > 0) reasons.push('partition-stuck');
  if (trailFault !== null) reasons.push('trail-unwritable');
  const { state, detail, advice, since, description, readAgeMs } = hub;
  const { namespace = null, name = null } = description ?? {};
  return {
    ready: reasons.length === 0,
    reasons,
    hub: {
      ...{ state, detail, advice, since: new Date(since).toISOString(), namespace, name },
      readAgeSeconds: seconds(readAgeMs),
    },
    trail: { fault: trailFault },
    partitions: Object.fromEntries(
      Object.entries(partitions).map(([id, { lagEvents, commitAgeMs }]) => [
        id,
        { lagEvents, commitAgeSeconds: seconds(commitAgeMs) },
      ]),
    ),
  };
}

/** Ids of partitions whose events wait, and of which nothing was stored for longer than a new connection takes. */
export const stuckPartitions = (partitions: Readonly<Record<string, PartitionStanding>>): string[] =>
  Object.entries(partitions)
    .filter(([, { stuckMs }]) => stuckMs > stuckMsMax)
    .map(([id]) => id);

const seconds = (ms: number): number => Math.round(ms) / 1000;
