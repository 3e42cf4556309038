// The status of the agent: which pages it offers, and what they say.

import type { Meters } from '../delivery/meters.ts';
import type { Log } from '../log.ts';
import { type StatusPages, serveStatus, verdictPage } from '../status/server.ts';
import { type Metrics, openMetrics } from './metrics.ts';
import { healthOf, readinessOf } from './readiness.ts';
import type { AgentSettings } from './settings.ts';
import { type StandingRuntime, standing } from './standing.ts';

/** What the pages tell about, and what ends them. */
export interface StatusRuntime extends StandingRuntime {
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface Status {
  /** Counts what the loops tell. */
  readonly meters: Meters;
  /** Answers until the signal aborts. */
  serve(runtime: StatusRuntime): Promise<void>;
}

/** Begins to count; nothing listens before `serve`. */
export function openStatus(
  settings: AgentSettings,
  { listen }: NonNullable<AgentSettings['status']>,
): Status {
  const metrics = openMetrics(Object.keys(settings.sinks));
  return {
    meters: metrics.meters,
    serve: (runtime) => serveStatus(listen, statusPages(settings, metrics, runtime), runtime),
  };
}

/** `/healthz` for a liveness probe, `/readyz` for readiness and people, `/metrics` for Prometheus. */
function statusPages(settings: AgentSettings, metrics: Metrics, runtime: StandingRuntime): StatusPages {
  return {
    '/healthz': () => {
      const health = healthOf(runtime.view());
      return verdictPage(health.healthy, health);
    },
    '/readyz': () => {
      const readiness = readinessOf(standing(settings, runtime), settings.imds.pollInterval);
      return verdictPage(readiness.ready, readiness);
    },
    '/metrics': () => metrics.page(standing(settings, runtime)),
  };
}
