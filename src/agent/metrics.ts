// The metrics page of the agent. A label's value is the name of a sink or comes from a closed set: never an event id, a
// VM's name or a URL.

import type { Meters } from '../delivery/meters.ts';
import { describeProcess } from '../status/process-metrics.ts';
import { Registry } from '../status/prometheus.ts';
import type { StatusPage } from '../status/server.ts';
import { countingMeters } from './metric-counters.ts';
import { standingGauges } from './metric-gauges.ts';
import type { Standing } from './readiness.ts';

export interface Metrics {
  /** Counts what the loops tell. */
  readonly meters: Meters;
  /** What was counted since this run of the agent began, and how it stands now. */
  page(standing: Standing): Promise<StatusPage>;
}

/**
 * Starts counting at zero.
 * @param sinks their names, so that each has its series before its first delivery
 */
export function openMetrics(sinks: readonly string[]): Metrics {
  const registry = new Registry();
  const meters = countingMeters(registry, sinks);
  const show = standingGauges(registry);
  const measureProcess = describeProcess(registry, 'agent');
  return {
    meters,
    async page(standing) {
      show(standing);
      measureProcess();
      return { status: 200, contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}
