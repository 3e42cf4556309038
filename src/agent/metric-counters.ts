// Counts what happens in the loops of the agent, for the metrics page.
import type { DeliveryReason, Outcome } from '../core/delivery.ts';
import type { TransitionKind } from '../core/diff.ts';
import { type BridgeRecord, familyOf } from '../core/record.ts';
import type { PollOutcome } from '../core/source.ts';
import type { MeasuredSettlement, Meters } from '../delivery/meters.ts';
import { Counter, Histogram, type Registry } from '../status/prometheus.ts';
import { deedMeters } from './metric-deeds.ts';

// The compiler notices a name that is missing here.
const pollResults = Object.keys({
  document: 0,
  empty: 0,
  unreadable: 0,
  throttled: 0,
  updating: 0,
  refused: 0,
  failed: 0,
} satisfies Record<PollOutcome['status'], 0>);
const transitions: readonly string[] = Object.keys({
  scheduled: 0,
  updated: 0,
  started: 0,
  completed: 0,
  canceled: 0,
} satisfies Record<TransitionKind, 0>);
const settlements = Object.keys({
  delivered: 0,
  dead: 0,
  superseded: 0,
} satisfies Record<MeasuredSettlement['state'], 0>);
// What Azure documents; anything else is counted as `other`, because a label must not grow with what comes from outside.
const eventTypes: readonly string[] = ['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate'];

const agentTypes: readonly string[] = ['agent.started', 'agent.heartbeat'];

// An attempt ends at its time-out, usually 15 s; a record may wait for as long as a sink is patient: 7 days.
const attemptSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];
const delaySeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400, 604_800];

/** Meters that count into `registry`; every series whose labels are known begins at zero. */
export function countingMeters(registry: Registry, sinks: readonly string[]): Meters {
  const source = sourceMeters([registry]);
  const deeds = deedMeters(registry);
  return {
    ...deliveryMeters([registry], sinks),
    poll: source.poll,
    records: (committed) => {
      source.records(committed);
      deeds(committed);
    },
  };
}

function sourceMeters(registers: Registry[]): Pick<Meters, 'poll' | 'records'> {
  const polls = new Counter({
    name: 'seb_polls_total',
    help: 'Polls of the instance metadata service, by what they came to.',
    labelNames: ['result'],
    registers,
  });
  for (const result of pollResults) polls.inc({ result }, 0);
  const records = new Counter({
    name: 'seb_records_total',
    help: 'Records made durable, by kind; of events also by transition and type.',
    labelNames: ['type', 'transition', 'event_type'],
    registers,
  });
  return {
    poll: (result) => polls.inc({ result }),
    records: (committed) => {
      for (const record of committed) records.inc(recordLabels(record));
    },
  };
}

function recordLabels({ type, data }: BridgeRecord) {
  const family = familyOf(type);
  if (family !== 'event') {
    const known = agentTypes.find((name) => type.includes(`.${name}.`));
    return { type: known ?? family ?? 'other', transition: '', event_type: '' };
  }
  const { transition, event } = data as { transition: string; event: { eventType: string } };
  const known = eventTypes.find((name) => name.toLowerCase() === event.eventType.toLowerCase());
  return {
    type: family,
    transition: transitions.includes(transition) ? transition : 'other',
    event_type: known ?? 'other',
  };
}

function deliveryMeters(
  registers: Registry[],
  sinks: readonly string[],
): Pick<Meters, 'attempt' | 'settled'> {
  const attempts = new Counter({
    name: 'seb_delivery_attempts_total',
    help: 'Attempts to deliver a record, by what the sink answered and why.',
    labelNames: ['sink', 'outcome', 'reason'],
    registers,
  });
  const durations = new Histogram({
    name: 'seb_delivery_attempt_duration_seconds',
    help: 'How long one attempt took.',
    labelNames: ['sink'],
    buckets: attemptSeconds,
    registers,
  });
  const { settled, zero } = settlementMeters(registers);
  for (const sink of sinks) {
    attempts.inc({ sink, outcome: 'delivered' satisfies Outcome['status'], reason: '' }, 0);
    durations.zero({ sink });
    zero(sink);
  }
  return {
    attempt: ({ sink, outcome, reason, durationMs }) => {
      attempts.inc({ sink, outcome, reason: reason === null ? '' : reasonLabel(reason) });
      durations.observe({ sink }, Math.max(durationMs, 0) / 1000);
    },
    settled,
  };
}

function settlementMeters(registers: Registry[]) {
  const deliveries = new Counter({
    name: 'seb_deliveries_total',
    help: 'Deliveries that have come to their end, by what became of them.',
    labelNames: ['sink', 'state'],
    registers,
  });
  const delays = new Histogram({
    name: 'seb_delivery_delay_seconds',
    help: 'From the moment a record was durable to the moment a sink had it.',
    labelNames: ['sink'],
    buckets: delaySeconds,
    registers,
  });
  return {
    settled: ({ sink, state, endToEndMs }: MeasuredSettlement): void => {
      deliveries.inc({ sink, state });
      if (state === 'delivered') delays.observe({ sink }, endToEndMs / 1000);
    },
    zero(sink: string): void {
      for (const state of settlements) deliveries.inc({ sink, state }, 0);
      delays.zero({ sink });
    },
  };
}

/** A receiver may answer any number: those that HTTP does not know are counted as one. */
const reasonLabel = (reason: DeliveryReason): string =>
  !reason.startsWith('http-') || /^http-[1-5]\d\d$/.test(reason) ? reason : 'http-other';
