// Says on a metrics page which program this is, and what its process uses.
import { version } from '../version.ts';
import { Counter, Gauge, type Registry } from './prometheus.ts';

/**
 * Says which program this is, and what it uses.
 * @returns what brings the numbers up to date
 */
export function describeProcess(registry: Registry, program: string): () => void {
  describeBuild(registry, program);
  return processMetrics(registry);
}

function describeBuild(registry: Registry, program: string): void {
  new Gauge({
    name: 'seb_build_info',
    help: 'Always 1; its labels say which program this is.',
    labelNames: ['program', 'version', 'node_version'],
    registers: [registry],
  }).set({ program, version, node_version: process.version }, 1);
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
