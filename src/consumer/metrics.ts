// The metrics page of the consumer. A label's value is the id of a partition, the name of an anchor, or comes from a closed set.
import type { AppendCounts, UnavailableReason } from '../audit/store.ts';
import { describeProcess } from '../status/process-metrics.ts';
import { Counter, Gauge, Registry } from '../status/prometheus.ts';
import type { StatusPage } from '../status/server.ts';
import type { ConsumerProgress } from './consumer.ts';
import { isRefusal } from './hub-fault.ts';
import { showKeeping } from './keeping-metrics.ts';
import { openNoticeMetrics } from './notify/metrics.ts';
import type { SessionEnd } from './session.ts';
import type { HubState, Standing } from './standing.ts';

export interface Metrics {
  /** Counts what the consumer tells. */
  take(progress: ConsumerProgress): void;
  /** @param lateMs of the latest step */
  page(standing: Standing, lateMs: number): Promise<StatusPage>;
}

// The compiler notices a name that is missing here.
const hubStates = Object.keys({
  opening: 0,
  reading: 0,
  failing: 0,
  refused: 0,
} satisfies Record<HubState, 0>);
const trailFaults = Object.keys({
  'disk-full': 0,
  locked: 0,
  damaged: 0,
  'read-only': 0,
  unreachable: 0,
  unauthorized: 0,
  unexpected: 0,
} satisfies Record<UnavailableReason, 0>);
const sessionEnds = Object.keys({
  stopped: 0,
  failed: 0,
  'trail-unavailable': 0,
  hole: 0,
  silent: 0,
  stalled: 0,
  'sharing-stalled': 0,
  'hub-changed': 0,
  refresh: 0,
} satisfies Record<SessionEnd['reason'], 0>);
const entryResults: readonly (readonly [result: string, count: keyof AppendCounts])[] = [
  ['record', 'records'],
  ['repeat', 'repeats'],
  ['conflict', 'conflicts'],
  ['parked', 'parked'],
];

/** Starts counting at zero. */
export function openMetrics(): Metrics {
  const registry = new Registry();
  const take = countProgress([registry]);
  const shows = [showHub([registry]), showTrail([registry]), showSharing([registry])];
  const showProofs = showKeeping([registry]);
  const notices = openNoticeMetrics([registry]);
  const measureProcess = describeProcess(registry, 'consumer');
  return {
    take: (progress) => {
      take(progress);
      notices.take(progress);
    },
    async page(standing, lateMs) {
      for (const show of shows) show(standing, lateMs);
      showProofs(standing.keeping);
      notices.show(standing.notices);
      measureProcess();
      return { status: 200, contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

function countProgress(registers: Registry[]): Metrics['take'] {
  const entries = new Counter({
    name: 'seb_trail_entries_total',
    help: 'Events of the hub that were made durable, by what they turned out to be.',
    labelNames: ['result'],
    registers,
  });
  const sessions = new Counter({
    name: 'seb_hub_sessions_total',
    help: 'Connections to the hub that have come to their end, by why.',
    labelNames: ['end'],
    registers,
  });
  for (const [result] of entryResults) entries.inc({ result }, 0);
  for (const end of sessionEnds) sessions.inc({ end }, 0);
  return (progress) => {
    if (progress.kind === 'ended') sessions.inc({ end: progress.end.reason });
    if (progress.kind !== 'stored') return;
    for (const [result, count] of entryResults) entries.inc({ result }, progress.counts[count]);
  };
}

type Show = (standing: Standing, lateMs: number) => void;

function showHub(registers: Registry[]): Show {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const state = new Gauge({
    name: 'seb_hub_state',
    help: 'State of the connection to the hub: 1 for the one it is in.',
    labelNames: ['state'],
    registers,
  });
  const age = gauge(
    'seb_hub_read_age_seconds',
    'Time since all partitions were known to be read; without that, since the consumer began.',
  );
  const partitions = gauge('seb_hub_partitions', 'Partitions of the hub; 0 = not known yet.');
  const late = gauge('seb_read_late_seconds', 'By how much reading and storing is behind its own promise.');
  return ({ hub }, lateMs) => {
    for (const each of hubStates) state.set({ state: each }, each === hub.state ? 1 : 0);
    age.set(hub.readAgeMs / 1000);
    partitions.set(hub.description?.partitions.length ?? 0);
    late.set(lateMs / 1000);
  };
}

function showSharing(registers: Registry[]): Show {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const owned = new Gauge({
    name: 'seb_partition_owned',
    help: 'Whether this consumer reads the partition: 1 = yes.',
    labelNames: ['partition'],
    registers,
  });
  const unowned = gauge('seb_partitions_unowned', 'Partitions that no consumer reads.');
  const refused = gauge(
    'seb_partitions_refused',
    'Partitions of which the hub holds less than the trail, or something else.',
  );
  const unknown = gauge(
    'seb_ownership_unknown_seconds',
    'Time since it was last known who reads which partition; 0 = known, or nothing is shared.',
  );
  return ({ sharing, partitions }) => {
    owned.reset();
    const each = Object.entries(partitions);
    for (const [partition, { owner }] of each) owned.set({ partition }, owner === 'here' ? 1 : 0);
    unowned.set(each.filter(([, { owner }]) => owner === 'nobody').length);
    refused.set(each.filter(([, { fault }]) => isRefusal(fault)).length);
    unknown.set(sharing === null || sharing.fault === null ? 0 : sharing.unknownMs / 1000);
  };
}

function showTrail(registers: Registry[]): Show {
  const partitionGauge = (name: string, help: string): Gauge<'partition'> =>
    new Gauge({ name, help, labelNames: ['partition'], registers });
  const fault = new Gauge({
    name: 'seb_trail_fault',
    help: 'Why the trail takes nothing: 1 for the fault it has.',
    labelNames: ['fault'],
    registers,
  });
  const lag = partitionGauge(
    'seb_partition_lag_events',
    'Events of the hub that the trail does not have yet.',
  );
  const stuck = partitionGauge(
    'seb_partition_stuck_seconds',
    'For how long events have been waiting without a commit; 0 = none wait.',
  );
  const age = partitionGauge(
    'seb_partition_commit_age_seconds',
    'Time since the last commit; without one, since the consumer began.',
  );
  return ({ trailFault, partitions }) => {
    for (const each of trailFaults) fault.set({ fault: each }, each === trailFault ? 1 : 0);
    for (const each of [lag, stuck, age]) each.reset();
    for (const [partition, { lagEvents, stuckMs, commitAgeMs }] of Object.entries(partitions)) {
      if (lagEvents !== null) lag.set({ partition }, lagEvents);
      stuck.set({ partition }, stuckMs / 1000);
      age.set({ partition }, commitAgeMs / 1000);
    }
  };
}
