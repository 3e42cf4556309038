// Says whether the consumer does its work: what `/healthz` and `/readyz` answer.
import type { UnavailableReason } from '../audit/store.ts';
import type { BlobReason } from '../blobs/fault.ts';
import type { OutboxHealth } from '../delivery/outbox/outbox.ts';
import { type SinkStanding, sinkStandings } from '../delivery/sink-standing.ts';
import { hubAdviceOf } from './hub-advice.ts';
import { type HubFault, isRefusal } from './hub-fault.ts';
import {
  isUnsealed,
  type KeepingReadiness,
  type KeepingWarning,
  keepingReadiness,
  warningsOf,
} from './keeping-readiness.ts';
import type { NoticesFault, NoticesRole, NoticesStanding } from './notify/standing.ts';
import { ownershipAdviceOf } from './ownership-advice.ts';
import type { PartitionOwner, SharingStanding } from './share-standing.ts';
import type { HubState, PartitionStanding, Standing } from './standing.ts';
import { trailAdviceOf } from './trail-advice.ts';

/** What `/healthz` answers. */
export interface Health {
  readonly healthy: boolean;
  /** By how much the latest step is behind its own promise. */
  readonly lateSeconds: number;
}

/** Why a consumer is not ready: the trail falls behind the fleet. */
export type Unreadiness =
  | 'hub-unread'
  | 'partition-stuck'
  | 'partition-refused'
  | 'partition-unowned'
  | 'ownership-unknown'
  | 'trail-unwritable'
  | 'trail-unsealed';

/** What `/readyz` answers. */
export interface Readiness extends KeepingReadiness {
  readonly ready: boolean;
  readonly reasons: readonly Unreadiness[];
  /** What a person should look at, although the trail goes on. */
  readonly warnings: readonly KeepingWarning[];
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
  /** Why it takes nothing, and what a person may do; null while it does. */
  readonly trail: { readonly fault: UnavailableReason | null; readonly advice: string | null };
  /** How the partitions are shared; null for the only reader of them all. */
  readonly sharing: SharingReadiness | null;
  /** How the notices stand, which hold nothing else up; null for a consumer that sends none. */
  readonly notices: NoticesReadiness | null;
  /** By id; empty before the first session. */
  readonly partitions: Readonly<Record<string, PartitionReadiness>>;
}

export interface NoticesReadiness {
  readonly role: NoticesRole;
  /** Why none are sent from here; null while they are, or another instance sends them. */
  readonly fault: NoticesFault;
  /** Entries of the trail that were not looked at yet. */
  readonly behindEntries: number;
  readonly outbox: OutboxHealth | null;
  /** By name; null while another instance sends them, or the outbox cannot be read. */
  readonly sinks: Readonly<Record<string, SinkStanding>> | null;
}

export interface PartitionReadiness {
  /** Null before the first look. */
  readonly lagEvents: number | null;
  readonly commitAgeSeconds: number;
  readonly owner: PartitionOwner;
  /** Why it brings nothing while others do, and what a person may do; null when it does. */
  readonly fault: HubFault | null;
  readonly advice: string | null;
}

export interface SharingReadiness {
  /** Why it is not known who reads what, and what a person may do; null while it is known. */
  readonly fault: BlobReason | null;
  readonly advice: string | null;
  /** Since it was last known. */
  readonly unknownSeconds: number;
  /** Consumers that own a partition, and the partitions that are owned here. */
  readonly consumers: number;
  readonly here: number;
}

// Each step promises its own time-outs: beyond that it is stuck. A machine that is overloaded is late by less.
const lateMsMax = 30_000;
// Several looks, and the pauses between sessions that fail: an outage that passes by itself is no news.
const readAgeMsMax = 60_000;
// A look finds a stall within half a minute, and a new connection mends it: beyond that, it did not.
const stuckMsMax = 120_000;
// So much is always on its way.
const lagEventsMax = 100;
// Two expiries of ownership: whoever died is followed within one, and a round or two.
const unownedMsMax = 60_000;

/** Whether the process and its loops live. @param lateMs by which the latest step is behind its promise */
export const healthOf = (lateMs: number): Health => ({
  healthy: lateMs <= lateMsMax,
  lateSeconds: seconds(lateMs),
});

/** Whether every partition is read and what it brings can be made durable. */
export function readinessOf(standing: Standing): Readiness {
  const { hub, trailFault, sharing, keeping, notices, partitions } = standing;
  const reasons = reasonsOf(standing);
  const { state, detail, advice, since, description, readAgeMs } = hub;
  const { namespace = null, name = null } = description ?? {};
  return {
    ready: reasons.length === 0,
    reasons,
    warnings: warningsOf(keeping),
    hub: {
      ...{ state, detail, advice, since: new Date(since).toISOString(), namespace, name },
      readAgeSeconds: seconds(readAgeMs),
    },
    trail: { fault: trailFault, advice: trailFault && trailAdviceOf(trailFault) },
    ...keepingReadiness(keeping),
    sharing: sharing && sharingReadiness(sharing),
    notices: notices && noticesReadiness(notices),
    partitions: Object.fromEntries(
      Object.entries(partitions).map(([id, each]) => [id, partitionReadiness(each)]),
    ),
  };
}

/** Whether all that the fleet says arrives in the trail now. */
export const hearsAll = (standing: Standing): boolean =>
  standing.hub.state === 'reading' &&
  reasonsOf(standing).length === 0 &&
  Object.values(standing.partitions).every(({ lagEvents }) => (lagEvents ?? 0) <= lagEventsMax);

const noticesReadiness = ({
  now,
  role,
  fault,
  behind,
  outbox,
  queues,
}: NoticesStanding): NoticesReadiness => ({
  ...{ role, fault, behindEntries: behind, outbox },
  sinks: queues && sinkStandings(queues, now),
});

function reasonsOf({ hub, trailFault, sharing, keeping, partitions }: Standing): readonly Unreadiness[] {
  const each = Object.values(partitions);
  const found: Readonly<Record<Unreadiness, boolean>> = {
    'hub-unread': hub.readAgeMs > readAgeMsMax,
    'partition-stuck': stuckPartitions(partitions).length > 0,
    'partition-refused': each.some(({ fault }) => isRefusal(fault)),
    'partition-unowned': each.some(({ unownedMs }) => unownedMs > unownedMsMax),
    'ownership-unknown': sharing !== null && sharing.unknownMs > unownedMsMax,
    'trail-unwritable': trailFault !== null,
    'trail-unsealed': trailFault === null && isUnsealed(keeping),
  };
  return (Object.keys(found) as Unreadiness[]).filter((reason) => found[reason]);
}

const sharingReadiness = ({ fault, unknownMs, consumers, here }: SharingStanding): SharingReadiness => ({
  ...{
    fault,
    advice: fault && ownershipAdviceOf(fault),
    unknownSeconds: seconds(unknownMs),
    consumers,
    here,
  },
});

const partitionReadiness = (standing: PartitionStanding): PartitionReadiness => {
  const { lagEvents, commitAgeMs, owner, fault } = standing;
  return {
    lagEvents,
    commitAgeSeconds: seconds(commitAgeMs),
    owner,
    fault,
    advice: fault && hubAdviceOf(fault),
  };
};

/** Ids of partitions whose events wait, and of which nothing was stored for longer than a new connection takes. */
export const stuckPartitions = (partitions: Readonly<Record<string, PartitionStanding>>): string[] =>
  Object.entries(partitions)
    .filter(([, { stuckMs, unreadMs }]) => Math.max(stuckMs, unreadMs) > stuckMsMax)
    .map(([id]) => id);

const seconds = (ms: number): number => Math.round(ms) / 1000;
