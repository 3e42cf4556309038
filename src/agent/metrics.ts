// The metrics page of the agent. A label's value is the name of a sink or comes from a closed set: never an event id, a
// VM's name or a URL.
import { version } from '../version.ts';
import type { Meters } from './meters.ts';
import { countingMeters } from './metric-counters.ts';
import { standingGauges } from './metric-gauges.ts';
import { Counter, Gauge, Registry } from './prometheus.ts';
import type { Standing } from './readiness.ts';

/** A page as Prometheus reads it. */
export interface MetricsPage {
  readonly contentType: string;
  readonly body: string;
}

export interface Metrics {
  /** Counts what the loops tell. */
  readonly meters: Meters;
  /** What was counted since this run of the agent began, and how it stands now. */
  page(standing: Standing): Promise<MetricsPage>;
}

/**
 * Starts counting at zero.
 * @param sinks their names, so that each has its series before its first delivery
 */
export function openMetrics(sinks: readonly string[]): Metrics {
  const registry = new Registry();
  const meters = countingMeters(registry, sinks);
  const show = standingGauges(registry);
  describeBuild(registry);
  const measureProcess = processMetrics(registry);
  return {
    meters,
    async page(standing) {
      show(standing);
      measureProcess();
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

function describeBuild(registry: Registry): void {
  new Gauge({
    name: 'seb_build_info',
    help: 'Always 1; its labels say which agent this is.',
    labelNames: ['version', 'node_version'],
    registers: [registry],
  }).set({ version, node_version: process.version }, 1);
}

/** A few facts about the process; prom-client's own set would load and measure much more. */
function processMetrics(registry: Registry): () => void {
  const registers = [registry];
  const cpu = new Counter({
    name: 'seb_process_cpu_seconds_total',
    help: 'Processor time that the process has used, in seconds.',
    registers,
  });
  const memory = new Gauge({
    name: 'seb_process_resident_memory_bytes',
    help: 'Memory that the process holds, in bytes.',
    registers,
  });
  new Gauge({
    name: 'seb_process_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()));
  return () => {
    const { user, system } = process.cpuUsage();
    cpu.reset();
    cpu.inc((user + system) / 1e6);
    memory.set(process.memoryUsage.rss());
  };
}
