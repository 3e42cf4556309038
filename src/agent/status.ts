// The status of the agent: which pages it offers, and what they say.
import type { Log } from '../log.ts';
import type { Meters } from './meters.ts';
import { type Metrics, openMetrics } from './metrics.ts';
import { healthOf, readinessOf } from './readiness.ts';
import type { AgentSettings } from './settings.ts';
import { type StandingRuntime, standing } from './standing.ts';
import { type StatusPage, type StatusPages, serveStatus } from './status-server.ts';

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
      return json(health.healthy, health);
    },
    '/readyz': () => {
      const readiness = readinessOf(standing(settings, runtime), settings.imds.pollInterval);
      return json(readiness.ready, readiness);
    },
    '/metrics': async () => ({ status: 200, ...(await metrics.page(standing(settings, runtime))) }),
  };
}

const json = (isGood: boolean, body: object): StatusPage => ({
  status: isGood ? 200 : 503,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(body)}\n`,
});
