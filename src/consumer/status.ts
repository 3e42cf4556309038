// The status of the consumer: which pages it offers, and what they say.
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { type StatusPages, serveStatus, verdictPage } from '../status/server.ts';
import { type Metrics, openMetrics } from './metrics.ts';
import { healthOf, readinessOf } from './readiness.ts';
import type { ConsumerSettings } from './settings.ts';
import type { Standing } from './standing.ts';

/** What the pages tell about, and what ends them. */
export interface StatusRuntime extends StatusSubject {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

interface StatusSubject {
  readonly standing: () => Standing;
  /** By which the latest step is behind its promise. */
  readonly lateMs: () => number;
}

export interface Status {
  /** Counts what the consumer tells. */
  readonly take: Metrics['take'];
  /** Answers until the signal aborts. */
  serve(runtime: StatusRuntime): Promise<void>;
}

/** Begins to count; nothing listens before `serve`. */
export function openStatus({ listen }: NonNullable<ConsumerSettings['status']>): Status {
  const metrics = openMetrics();
  return {
    take: metrics.take,
    serve: (runtime) => serveStatus(listen, statusPages(metrics, runtime), runtime),
  };
}

/** `/healthz` for a liveness probe, `/readyz` for readiness and people, `/metrics` for Prometheus. */
function statusPages(metrics: Metrics, { standing, lateMs }: StatusSubject): StatusPages {
  return {
    '/healthz': () => {
      const health = healthOf(lateMs());
      return verdictPage(health.healthy, health);
    },
    '/readyz': () => {
      const readiness = readinessOf(standing());
      return verdictPage(readiness.ready, readiness);
    },
    '/metrics': () => metrics.page(standing(), lateMs()),
  };
}
