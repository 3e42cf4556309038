// Shows on the metrics page how the agent stands at the moment it is asked.
import type { SourceState } from '../core/source.ts';
import type { StorageFault } from '../delivery/outbox/storage.ts';
import { restNow } from '../delivery/sink-standing.ts';
import { Counter, Gauge, type Registry } from '../status/prometheus.ts';
import type { Standing } from './readiness.ts';

// The compiler notices a name that is missing here.
const sourceStates = Object.keys({
  warming: 0,
  fresh: 0,
  silent: 0,
  failing: 0,
  refused: 0,
} satisfies Record<SourceState, 0>);
const storageFaults = Object.keys({ full: 0, damaged: 0, unavailable: 0 } satisfies Record<StorageFault, 0>);

/** @returns what brings the gauges up to date */
export function standingGauges(registry: Registry): (standing: Standing) => void {
  const shows = [sourceGauges([registry]), queueGauges([registry]), outboxGauges([registry])];
  return (standing) => {
    for (const show of shows) show(standing);
  };
}

function sourceGauges(registers: Registry[]): (standing: Standing) => void {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const state = new Gauge({
    name: 'seb_source_state',
    help: 'State of the source of events: 1 for the one it is in.',
    labelNames: ['state'],
    registers,
  });
  const age = gauge(
    'seb_document_age_seconds',
    'Time since the last good document; without one, since the agent began to ask.',
  );
  const events = gauge('seb_document_events', 'Events in the last document.');
  const late = gauge('seb_poll_late_seconds', 'By how much the poll loop is behind its own plan.');
  return ({ view }) => {
    for (const each of sourceStates) state.set({ state: each }, each === view.source.state ? 1 : 0);
    age.set(view.documentAgeMs / 1000);
    events.set(view.events);
    late.set(view.lateMs / 1000);
  };
}

function queueGauges(registers: Registry[]): (standing: Standing) => void {
  const gauge = (name: string, help: string): Gauge<'sink'> =>
    new Gauge({ name, help, labelNames: ['sink'], registers });
  const pending = gauge('seb_queue_deliveries', 'Deliveries that wait for a sink.');
  const dead = gauge('seb_queue_dead_deliveries', 'Deliveries that were given up and wait for a person.');
  const age = gauge(
    'seb_queue_oldest_age_seconds',
    'Age of the oldest record that waits for a sink; 0 = none.',
  );
  const suspended = gauge('seb_sink_suspended', '1 while a sink is suspended for a fault of its own.');
  const paused = gauge('seb_sink_paused', '1 while a sink rests because it asked for it.');
  return ({ queues, now }) => {
    for (const each of [pending, dead, age, suspended, paused]) each.reset();
    for (const [sink, queue] of Object.entries(queues ?? {})) {
      const rest = restNow(queue.rest, now);
      pending.set({ sink }, queue.pending);
      dead.set({ sink }, queue.dead);
      age.set({ sink }, Math.max(now - (queue.oldestPendingAt ?? now), 0) / 1000);
      suspended.set({ sink }, rest?.state === 'suspended' ? 1 : 0);
      paused.set({ sink }, rest?.state === 'paused' ? 1 : 0);
    }
  };
}

function outboxGauges(registers: Registry[]): (standing: Standing) => void {
  const fault = new Gauge({
    name: 'seb_outbox_fault',
    help: 'What is wrong with the outbox: 1 for the fault it has.',
    labelNames: ['fault'],
    registers,
  });
  const discarded = new Counter({
    name: 'seb_outbox_discarded_total',
    help: 'Deliveries that gave way because the outbox was full: lost.',
    registers,
  });
  const size = new Gauge({
    name: 'seb_outbox_size_bytes',
    help: 'Room that the outbox takes of outbox.sizeMax.',
    registers,
  });
  const sizeMax = new Gauge({
    name: 'seb_outbox_size_max_bytes',
    help: 'The setting outbox.sizeMax.',
    registers,
  });
  return ({ health, outboxBytes, outboxBytesMax }) => {
    for (const each of storageFaults) fault.set({ fault: each }, each === health.fault ? 1 : 0);
    discarded.reset();
    discarded.inc(health.discarded);
    if (outboxBytes === null) size.remove();
    else size.set(outboxBytes);
    sizeMax.set(outboxBytesMax);
  };
}
