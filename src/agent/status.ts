// The status of the agent: which pages it offers, and what they say.
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Meters } from './meters.ts';
import { type Metrics, openMetrics } from './metrics.ts';
import type { Outbox } from './outbox/outbox.ts';
import { healthOf, readinessOf, type Standing } from './readiness.ts';
import type { AgentSettings } from './settings.ts';
import { type StatusPage, type StatusPages, serveStatus } from './status-server.ts';
import type { SourceView } from './watch-events.ts';

/** What the pages tell about, and what ends them. */
export interface StatusRuntime {
  readonly outbox: Outbox;
  readonly view: () => SourceView;
  readonly clock: Clock;
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
function statusPages(
  settings: AgentSettings,
  metrics: Metrics,
  runtime: Omit<StatusRuntime, 'signal' | 'log'>,
): StatusPages {
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

function standing(settings: AgentSettings, runtime: Omit<StatusRuntime, 'signal' | 'log'>): Standing {
  const { outbox, clock, view } = runtime;
  // Reads come first: they notice what is wrong with the file.
  const queues = outbox.queues();
  const bytes = outbox.usedBytes();
  return {
    now: clock.now(),
    view: view(),
    queues: queues.ok ? queues.value : null,
    outboxBytes: bytes.ok ? bytes.value : null,
    outboxBytesMax: settings.outbox.sizeMax,
    health: outbox.health(),
  };
}

const json = (isGood: boolean, body: object): StatusPage => ({
  status: isGood ? 200 : 503,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(body)}\n`,
});
