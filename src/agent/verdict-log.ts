// What the log says about a sink: what is new about it, not every repeat.
import type { Verdict } from '../core/delivery.ts';
import type { Log } from '../log.ts';
import type { StoredDelivery } from './outbox/rows.ts';

export interface VerdictLog {
  /** @param delivery as it is with the verdict, as far as its number and its attempts go */
  tell(verdict: Verdict, delivery: StoredDelivery): void;
}

/** Opens the log of one sink. */
export function openVerdictLog(sink: string, log: Log): VerdictLog {
  let last = 'delivered';
  return {
    tell(verdict, delivery) {
      const fields = { sink, sequence: delivery.sequence, attempts: delivery.attempts };
      const now = nameOf(verdict);
      log.debug({ ...fields, verdict: now }, 'verdict');
      // What ends alone says nothing about the sink.
      if (verdict.state === 'superseded') return;
      if (verdict.state === 'dead') log.error({ ...fields, reason: verdict.reason }, 'a delivery is dead');
      else if (now !== last) tellChange(verdict, fields, log);
      if (verdict.state !== 'dead') last = now;
    },
  };
}

function nameOf(verdict: Verdict): string {
  const passing = verdict.state === 'suspended' && verdict.passing === true ? ' in passing' : '';
  return 'reason' in verdict ? `${verdict.state}${passing} ${verdict.reason}` : verdict.state;
}

type Change = Exclude<Verdict, { state: 'dead' | 'superseded' }>;

function tellChange(verdict: Change, fields: object, log: Log): void {
  if (verdict.state === 'delivered') {
    log.info(fields, 'the sink takes records again');
  } else if (verdict.state === 'pending') {
    log.warn({ ...fields, reason: verdict.reason }, 'the sink does not take records now');
  } else if (verdict.passing === true) {
    const message =
      'the sink is suspended: its records stay queued; such a fault is often over soon, so it is probed often for 15 minutes';
    log.warn({ ...fields, reason: verdict.reason }, message);
  } else {
    const message =
      'the sink is suspended: its records stay queued; it is probed every 15 minutes, and at a restart';
    log.error({ ...fields, reason: verdict.reason }, message);
  }
}
