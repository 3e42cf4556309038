// Outboxes for tests: on a real file, with a clock that the test turns.

import type { Clock } from '../../src/clock.ts';
import { dataPolicy, judge, type Outcome } from '../../src/core/delivery.ts';
import { type BridgeRecord, eventRecord, factId } from '../../src/core/record.ts';
import { emptyWatch, observe, type Watch } from '../../src/core/watch.ts';
import type { Draft } from '../../src/delivery/outbox/draft.ts';
import type { DueDelivery, QueueRules } from '../../src/delivery/outbox/next.ts';
import { Outbox, type OutboxOptions } from '../../src/delivery/outbox/outbox.ts';
import { streamFilter } from '../../src/sinks/sink.ts';
import { recordingLog } from './recording-log.ts';
import { sampleEvent, sampleObserver } from './records.ts';

/** A clock that stands still until the test moves it. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
  /** Sets the wall clock forward or back, while no time passes. */
  set(byMs: number): void;
}

export function manualClock(start = Date.UTC(2026, 10, 20)): ManualClock {
  let [now, elapsedMs] = [start, 0];
  return {
    now: () => now,
    monotonic: () => elapsedMs,
    sleep: async () => undefined,
    advance(ms) {
      now += ms;
      elapsedMs += ms;
    },
    set(byMs) {
      now += byMs;
    },
  };
}

export const day = 86_400_000;

/** An outbox in `directory` for the sinks named. */
export function openOutbox(directory: string, sinks: readonly string[], change: Partial<OutboxOptions> = {}) {
  const clock = manualClock();
  const log = recordingLog();
  const outbox = new Outbox({
    directory,
    routes: sinks.map((name) => ({ name, filter: streamFilter })),
    limits: { sizeMax: 100 * 1024 * 1024, keepDeliveredMs: day, keepDeadMs: 30 * day },
    clock,
    log,
    ...change,
  });
  return { outbox, clock, log, [Symbol.dispose]: () => outbox[Symbol.dispose]() };
}

const now = Date.UTC(2026, 10, 20);

/** What is seen when an event is announced: the state to remember, and the record to make. */
export function announcement(
  change: Parameters<typeof sampleEvent>[0] = {},
  before: Watch = emptyWatch('boot'),
  urgent = false,
): { readonly watch: Watch; readonly draft: Draft } {
  const document = { incarnation: '2', events: [sampleEvent(change)], partial: false };
  const moment = { now, pollGapMs: 1_000, bootId: 'boot', firstSinceStart: false };
  const { watch, observations } = observe(before, document, moment);
  const [observation] = observations;
  if (observation === undefined) throw new Error('an event that is new gives a record');
  const provenance = { incarnation: '2', apiVersion: '2020-07-01', bootId: 'boot', pollGapMs: 1_000 };
  const stamped = (stamp: { instanceId: string; sequence: number }, id: string): BridgeRecord =>
    eventRecord(observation, id, { observer: sampleObserver, agent: { version: '0', ...stamp } }, provenance);
  return { watch, draft: { factId: factId(observation.kind, observation.event), urgent, make: stamped } };
}

/** Commits so many announcements, one by one, and gives their records. */
export function announce(outbox: Outbox, count = 1, urgent = false): BridgeRecord[] {
  return Array.from({ length: count }, () => {
    const { watch, draft } = announcement({}, emptyWatch('boot'), urgent);
    const committed = outbox.commit(watch, [draft]);
    if (!committed.ok || committed.value[0] === undefined) throw new Error('the commit failed');
    return committed.value[0];
  });
}

/** What a test's sinks go by unless it says otherwise. */
export const dataRules: QueueRules = { policy: dataPolicy };

/** The delivery that is next at a sink; null when it waits, or when something ends without an attempt. */
export function nextOf(outbox: Outbox, sink: string, rules = dataRules): DueDelivery | null {
  const next = outbox.next(sink, rules);
  return next.status === 'due' ? (next.due[0] ?? null) : null;
}

/** Takes the next delivery of a sink and settles it by `outcome`; gives its sequence number, or null. */
export function attempt(outbox: Outbox, sink: string, outcome: Outcome, at: number): number | null {
  const next = nextOf(outbox, sink);
  if (next === null) return null;
  const history = { attempts: next.delivery.attempts + 1 };
  const verdict = judge(outcome, history, dataPolicy, { now: at, random: 0.5 });
  outbox.settle([{ delivery: next.delivery, verdict, attempted: true }]);
  return next.delivery.sequence;
}
