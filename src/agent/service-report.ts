// What the agent tells the service manager: whether its watch goes on, and one line for `systemctl status`.
import type { SinkStanding } from '../delivery/sink-standing.ts';
import type { ServiceReport } from '../service-notify.ts';
import { healthOf, type Readiness, readinessOf } from './readiness.ts';
import type { AgentSettings } from './settings.ts';
import { type StandingRuntime, standing } from './standing.ts';

/**
 * Only the watch loop counts as life: a delivery that hangs ends at its own time-out, its records are on disk, and a
 * restart would cost sight of the events for nothing. The line changes when something does, not with the time.
 */
export function serviceReport(settings: AgentSettings, runtime: StandingRuntime): ServiceReport {
  const view = runtime.view();
  const { healthy } = healthOf(view);
  const readiness = readinessOf(standing(settings, runtime), settings.imds.pollInterval);
  const watching = healthy ? sourceWords(readiness, view.events) : 'the poll loop is stuck';
  const words = [watching, ...outboxWords(readiness), ...queueWords(readiness.sinks ?? {})];
  return { alive: healthy, status: words.join('; ') };
}

function sourceWords({ source, reasons }: Readiness, events: number): string {
  const { state, since, detail } = source;
  if (state === 'fresh') return events === 0 ? 'watching, no event' : `watching, ${counted(events, 'event')}`;
  if (state === 'warming') return `waiting for the first answer of the metadata service (${detail})`;
  const blind = reasons.includes('source-stale') ? 'not ready' : 'watching';
  return `${blind}, the metadata service is ${state} since ${since} (${detail})`;
}

const outboxWords = ({ outbox, sinks }: Readiness): string[] =>
  outbox.fault === null && sinks !== null
    ? []
    : [`not ready, the outbox cannot be written (${outbox.fault ?? 'unavailable'})`];

function queueWords(sinks: Readonly<Record<string, SinkStanding>>): string[] {
  const standings = Object.entries(sinks);
  const sum = (key: 'pending' | 'dead'): number => standings.reduce((all, [, sink]) => all + sink[key], 0);
  const resting = standings.filter(([, { state }]) => state !== 'active');
  return [
    ...(sum('pending') > 0 ? [`${counted(sum('pending'), 'delivery', 'deliveries')} queued`] : []),
    ...resting.map(([name, { state, reason }]) => `${name} ${state} (${reason})`),
    ...(sum('dead') > 0 ? [`${counted(sum('dead'), 'delivery', 'deliveries')} given up`] : []),
  ];
}

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
