// What the log says about a sink: what is new about it, not every repeat.
import { adviceOf } from '../core/advice.ts';
import type { DeliveryReason, Verdict } from '../core/delivery.ts';
import type { Log } from '../log.ts';
import type { OpenSink } from '../sinks/index.ts';
import type { StoredDelivery } from './outbox/rows.ts';

export interface VerdictLog {
  /** @param delivery as it is with the verdict, as far as its number and its attempts go */
  tell(verdict: Verdict, delivery: StoredDelivery): void;
}

/** Opens the log of one sink. */
export function openVerdictLog({ name: sink, type }: Pick<OpenSink, 'name' | 'type'>, log: Log): VerdictLog {
  let last = 'delivered';
  return {
    tell(verdict, delivery) {
      const fields = { sink, sequence: delivery.sequence, attempts: delivery.attempts };
      const now = nameOf(verdict);
      log.debug({ ...fields, verdict: now }, 'verdict');
      // What ends alone says nothing about the sink.
      if (verdict.state === 'superseded') return;
      const why = 'reason' in verdict ? explained(verdict.reason, type) : {};
      if (verdict.state === 'dead') log.error({ ...fields, ...why }, 'a delivery is dead');
      else if (now !== last) tellChange(verdict, { ...fields, ...why }, log);
      if (verdict.state !== 'dead') last = now;
    },
  };
}

const explained = (reason: DeliveryReason, type: string) => ({ reason, advice: adviceOf(reason, type) });

function nameOf(verdict: Verdict): string {
  const passing = verdict.state === 'suspended' && verdict.passing === true ? ' in passing' : '';
  return 'reason' in verdict ? `${verdict.state}${passing} ${verdict.reason}` : verdict.state;
}

type Change = Exclude<Verdict, { state: 'dead' | 'superseded' }>;

function tellChange(verdict: Change, fields: object, log: Log): void {
  if (verdict.state === 'delivered') {
    log.info(fields, 'the sink takes records again');
  } else if (verdict.state === 'pending') {
    log.warn(fields, 'the sink does not take records now');
  } else if (verdict.passing === true) {
    const message =
      'the sink is suspended: its records stay queued; such a fault is often over soon, so it is probed often for 15 minutes';
    log.warn(fields, message);
  } else {
    const message =
      'the sink is suspended: its records stay queued; it is probed every 15 minutes, and at once when its configuration or a secret changes';
    log.error(fields, message);
  }
}
