// What the notices add to the metrics page: how many came to which end, and what waits at each sink.
import type { MeasuredSettlement } from '../../delivery/meters.ts';
import { restNow } from '../../delivery/sink-standing.ts';
import { Counter, Gauge, type Registry } from '../../status/prometheus.ts';
import type { ConsumerProgress } from '../consumer.ts';
import type { NoticesRole, NoticesStanding } from './standing.ts';

// The compiler notices a name that is missing here.
const roles = Object.keys({
  opening: 0,
  leading: 0,
  following: 0,
  failing: 0,
} satisfies Record<NoticesRole, 0>);
const settlements = Object.keys({
  delivered: 0,
  dead: 0,
  superseded: 0,
} satisfies Record<MeasuredSettlement['state'], 0>);

export interface NoticeMetrics {
  take(progress: ConsumerProgress): void;
  /** @param standing null for a consumer that sends none */
  show(standing: NoticesStanding | null): void;
}

export function openNoticeMetrics(registers: Registry[]): NoticeMetrics {
  const { take, zero } = countNotices(registers);
  const [showRole, showQueues] = [roleGauges(registers), queueGauges(registers)];
  return {
    take,
    show: (standing) => {
      for (const sink of Object.keys(standing?.queues ?? {})) zero(sink);
      showRole(standing);
      showQueues(standing);
    },
  };
}

/** Every sink has its series before its first delivery. */
function countNotices(registers: Registry[]) {
  const attempts = new Counter({
    name: 'seb_consumer_notices_attempts_total',
    help: 'Attempts to deliver a notice, by what the sink answered.',
    labelNames: ['sink', 'outcome'],
    registers,
  });
  const deliveries = new Counter({
    name: 'seb_consumer_notices_deliveries_total',
    help: 'Notices whose way to a sink has come to its end, by what became of them.',
    labelNames: ['sink', 'state'],
    registers,
  });
  return {
    take: (progress: ConsumerProgress): void => {
      if (progress.kind === 'notice-attempt')
        attempts.inc({ sink: progress.sink, outcome: progress.outcome });
      if (progress.kind === 'notice-settled') deliveries.inc({ sink: progress.sink, state: progress.state });
    },
    zero: (sink: string): void => {
      attempts.inc({ sink, outcome: 'delivered' }, 0);
      for (const state of settlements) deliveries.inc({ sink, state }, 0);
    },
  };
}

type Show = (standing: NoticesStanding | null) => void;

function roleGauges(registers: Registry[]): Show {
  const role = new Gauge({
    name: 'seb_consumer_notices_role',
    help: 'Whether notices are sent from here: 1 for the role it has; none of them for a consumer that sends none.',
    labelNames: ['role'],
    registers,
  });
  const behind = new Gauge({
    name: 'seb_consumer_notices_behind_entries',
    help: 'Entries of the trail that were not looked at for notices.',
    registers,
  });
  return (standing) => {
    for (const each of roles) role.set({ role: each }, each === standing?.role ? 1 : 0);
    behind.set(standing?.behind ?? 0);
  };
}

function queueGauges(registers: Registry[]): Show {
  const gauge = (name: string, help: string): Gauge<'sink'> =>
    new Gauge({ name: `seb_consumer_notices_${name}`, help, labelNames: ['sink'], registers });
  const pending = gauge('queue_deliveries', 'Notices that wait for a sink.');
  const dead = gauge('queue_dead_deliveries', 'Notices that were given up and wait for a person.');
  const age = gauge('queue_oldest_age_seconds', 'Age of the oldest notice that waits for a sink; 0 = none.');
  const suspended = gauge('sink_suspended', '1 while a sink is suspended for a fault of its own.');
  const paused = gauge('sink_paused', '1 while a sink rests because it asked for it.');
  return (standing) => {
    for (const each of [pending, dead, age, suspended, paused]) each.reset();
    for (const [sink, queue] of Object.entries(standing?.queues ?? {})) {
      const { now } = standing ?? { now: 0 };
      const rest = restNow(queue.rest, now);
      pending.set({ sink }, queue.pending);
      dead.set({ sink }, queue.dead);
      age.set({ sink }, Math.max(now - (queue.oldestPendingAt ?? now), 0) / 1000);
      suspended.set({ sink }, rest?.state === 'suspended' ? 1 : 0);
      paused.set({ sink }, rest?.state === 'paused' ? 1 : 0);
    }
  };
}
