// One loop per sink: takes what is due from the outbox, makes one attempt, and writes the verdict down.
import type { Clock } from '../clock.ts';
import { type DeliveryHistory, judge, type Outcome, type Verdict } from '../core/delivery.ts';
import type { BridgeRecord } from '../core/record.ts';
import type { Log } from '../log.ts';
import type { OpenSink } from '../sinks/index.ts';
import type { Meters } from './meters.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { StoredDelivery, StoredRecord } from './outbox/rows.ts';
import type { Wake } from './wake.ts';

export interface DeliverRuntime {
  readonly outbox: Outbox;
  readonly wake: Wake;
  readonly meters: Meters;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the loop after the attempt in hand. */
  readonly signal: AbortSignal;
  /** Ends the attempt in hand too: comes later than `signal`. */
  readonly attemptSignal: AbortSignal;
}

/** Delivers to one sink until `signal` aborts. A dead sink waits here, and holds up nobody else. */
export async function deliver(open: OpenSink, runtime: DeliverRuntime): Promise<void> {
  const { outbox, wake, clock, signal } = runtime;
  const say = teller(open.name, runtime.log);
  let staleSequence = -1;
  while (!signal.aborted) {
    const next = outbox.next(open.name);
    if (next.status === 'wait') {
      await wake.wait(next.until === null ? Number.POSITIVE_INFINITY : next.until - clock.now(), signal);
      continue;
    }
    if (next.status === 'damaged') {
      outbox.settle(next.delivery, { state: 'dead', reason: 'damaged' });
      say({ state: 'dead', reason: 'damaged' }, next.delivery);
      continue;
    }
    const { delivery, record } = next;
    const outcome = await attempt(open, record, runtime);
    // An attempt that we ended ourselves says nothing about the sink, and does not count.
    if (signal.aborted && outcome.status === 'retryable' && outcome.reason === 'aborted') break;
    const history = historyOf(delivery, record, staleSequence);
    staleSequence = outcome.status === 'retryable' && outcome.stale === true ? delivery.sequence : -1;
    const verdict = judge(outcome, history, open.policy, { now: clock.now(), random: Math.random() });
    outbox.settle(delivery, verdict);
    say(verdict, delivery);
  }
}

function historyOf(delivery: StoredDelivery, record: StoredRecord, staleSequence: number): DeliveryHistory {
  return {
    attempts: delivery.attempts + 1,
    committedAt: record.committedAt,
    retriedAtOnce: staleSequence === delivery.sequence,
  };
}

async function attempt(open: OpenSink, stored: StoredRecord, runtime: DeliverRuntime): Promise<Outcome> {
  const record = JSON.parse(stored.body.toString('utf8')) as BridgeRecord;
  try {
    return await open.sink.send({ record, bytes: stored.body }, runtime.attemptSignal);
  } catch (error) {
    // A sink never throws; one that does has a bug, and a bug must not cost a record. Its text may hold a secret.
    const name = error instanceof Error ? error.name : typeof error;
    runtime.log.error({ sink: open.name, error: name }, 'a sink threw: this is a bug in the bridge');
    return { status: 'retryable', reason: 'unexpected' };
  }
}

/** Logs what is new about a sink, not every repeat of it. */
function teller(sink: string, log: Log): (verdict: Verdict, delivery: StoredDelivery) => void {
  let last = 'delivered';
  return (verdict, delivery) => {
    const fields = { sink, sequence: delivery.sequence, attempts: delivery.attempts + 1 };
    const now = 'reason' in verdict ? `${verdict.state} ${verdict.reason}` : verdict.state;
    if (verdict.state === 'dead') log.error({ ...fields, reason: verdict.reason }, 'a delivery is dead');
    else if (verdict.state !== 'superseded' && now !== last) tellChange(verdict, fields, log);
    if (verdict.state !== 'superseded') last = now;
    log.debug({ ...fields, verdict: now }, 'attempt');
  };
}

function tellChange(
  verdict: Exclude<Verdict, { state: 'dead' | 'superseded' }>,
  fields: object,
  log: Log,
): void {
  if (verdict.state === 'delivered') log.info(fields, 'the sink takes records again');
  else if (verdict.state === 'pending')
    log.warn({ ...fields, reason: verdict.reason }, 'the sink does not take records now');
  else {
    const message =
      'the sink is suspended: its records stay queued; it is probed every 15 minutes, and at a restart';
    log.error({ ...fields, reason: verdict.reason }, message);
  }
}
