// A small world for properties of delivery: a real outbox, the real steps, a clock that jumps, and a sink that checks
// each attempt against what may happen, worked out apart from the code that decides it.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DeliveryPolicy, Outcome } from '../../src/core/delivery.ts';
import { emptyWatch } from '../../src/core/watch.ts';
import { type Lane, openLane } from '../../src/delivery/lane.ts';
import { silentMeters } from '../../src/delivery/meters.ts';
import { outboxFile } from '../../src/delivery/outbox/outbox.ts';
import { readDelivery, type StoredDelivery } from '../../src/delivery/outbox/rows.ts';
import type { OutgoingRecord, Sink } from '../../src/sinks/sink.ts';
import { streamFilter } from '../../src/sinks/sink.ts';
import { statement } from '../../src/sqlite.ts';
import { announcement, manualClock, openOutbox } from './outboxes.ts';

export interface WorldOptions {
  readonly policy: DeliveryPolicy;
  readonly batch: number;
  readonly spacingMs: number;
  /** What the sink answers, again and again in this order. */
  readonly outcomes: readonly Outcome[];
  /** What chance gives, again and again in this order. */
  readonly chances: readonly number[];
}

/** A record as the world knows it. */
export interface Known {
  readonly event: string;
  readonly urgent: boolean;
  readonly queuedAt: number;
  attempts: number;
  /** The sink's last word on it. */
  answer: Outcome['status'] | null;
  /** Not before this time, because what the answer to it said takes so long to mend. */
  notBefore: number;
}

export interface World extends Disposable {
  readonly known: ReadonlyMap<number, Known>;
  /** All deliveries, as a reader of the file sees them. */
  rows(): StoredDelivery[];
  /** By the clock that never jumps. */
  elapsedMs(): number;
  commit(event: string, urgent: boolean): void;
  /** Takes up to so many steps. @returns how long the lane wants to wait, ms; 0 when it has more to do */
  run(steps: number): Promise<number>;
  pass(ms: number): void;
  setClock(byMs: number): void;
  restart(): void;
  /** From now on everything is delivered. */
  mend(): void;
}

const [halfAnHour, day, backoffMsMax] = [1_800_000, 24 * 3_600_000, 5 * 60_000];

/**
 * Whether a time lies ahead, and not so far that only a wrong clock can have set it.
 * @param pausedUntil what the receiver asked for
 */
const isAhead = (until: number, now: number, pausedUntil: number): boolean =>
  until > now &&
  (until - now <= halfAnHour || (until - pausedUntil <= backoffMsMax && pausedUntil - now <= day));

function check(holds: boolean, claim: string, facts: object): void {
  if (!holds) throw new Error(`${claim}: ${JSON.stringify(facts)}`);
}

export function openWorld(directory: string, options: WorldOptions): World {
  const clock = manualClock();
  const known = new Map<number, Known>();
  const rest = { pausedUntil: 0, suspendedUntil: 0, suspended: false };
  let [answered, drawn, mended, attemptedMs] = [0, 0, false, Number.NEGATIVE_INFINITY];
  let reader: DatabaseSync | null = null;
  const rows = (): StoredDelivery[] => {
    reader ??= new DatabaseSync(join(directory, outboxFile));
    return statement(reader, 'SELECT * FROM delivery ORDER BY sequence').all().map(readDelivery);
  };

  const checkAttempt = (sequences: readonly number[]): void => {
    const now = clock.now();
    const waiting = rows().filter(({ state }) => state === 'pending');
    const ofAttempt = sequences.map((sequence) => known.get(sequence));
    const [head] = ofAttempt;
    const bypass = sequences.length === 1 && head?.urgent === true && head.attempts === 0;
    const facts = { sequences, now, rest, waiting, ofAttempt };
    const first = waiting.slice(0, sequences.length).map(({ sequence }) => sequence);
    check(bypass || String(first) === String(sequences), 'an attempt out of order', facts);
    check(!rest.suspended || sequences.length === 1, 'a probe with more than one record', facts);
    check(!isAhead(rest.pausedUntil, now, rest.pausedUntil), 'an attempt before Retry-After', facts);
    check(
      bypass || !isAhead(rest.suspendedUntil, now, rest.pausedUntil),
      'an attempt before the next probe',
      facts,
    );
    check(
      bypass || clock.monotonic() - attemptedMs >= options.spacingMs,
      'an attempt too soon after another',
      facts,
    );
    for (const [index, record] of ofAttempt.entries()) {
      const row = waiting.find(({ sequence }) => sequence === sequences[index]);
      if (record === undefined || row === undefined) throw new Error(`not waiting: ${JSON.stringify(facts)}`);
      const isTried = record.attempts > 0;
      check(!(isTried && isAhead(row.dueAt, now, rest.pausedUntil)), 'an attempt before its due time', facts);
      check(
        !isAhead(record.notBefore, now, rest.pausedUntil),
        'an attempt before its fault can be mended',
        facts,
      );
      const isLimited = isTried || rest.suspended;
      check(
        !(isLimited && now - record.queuedAt >= options.policy.ageMsMax),
        'an attempt beyond its age',
        facts,
      );
    }
    attemptedMs = clock.monotonic();
  };

  const answerTo = (sequence: number): Outcome => {
    const next = options.outcomes[answered % options.outcomes.length];
    answered += 1;
    const outcome: Outcome = mended || next === undefined ? { status: 'delivered' } : next;
    const record = known.get(sequence);
    if (record === undefined) throw new Error(`a record from nowhere: ${sequence}`);
    const now = clock.now();
    record.attempts += 1;
    record.answer = outcome.status;
    const asked = 'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0;
    if (asked > 0) Object.assign(rest, { pausedUntil: now + asked, suspendedUntil: 0, suspended: false });
    const floorMs = outcome.status === 'retryable' ? (outcome.delayMsMin ?? 0) : 0;
    record.notBefore = floorMs > 0 ? now + floorMs : 0;
    if (outcome.status === 'unavailable') {
      const probeMs = outcome.passing === true ? asked : options.policy.probeIntervalMs;
      const pausedUntil = asked > 0 ? now + asked : 0;
      Object.assign(rest, { pausedUntil, suspendedUntil: now + Math.max(probeMs, asked), suspended: true });
    }
    if (outcome.status === 'delivered' || outcome.status === 'rejected') {
      Object.assign(rest, { pausedUntil: 0, suspendedUntil: 0, suspended: false });
    }
    return outcome;
  };

  // The lane takes what a sink throws for a bug of the sink, and goes on.
  let violation: unknown = null;
  const take = (batch: readonly OutgoingRecord[]): Outcome[] => {
    const sequences = batch.map(({ record }) => Number(record.sequence));
    try {
      checkAttempt(sequences);
      return sequences.map(answerTo);
    } catch (error) {
      violation ??= error;
      return [{ status: 'delivered' }];
    }
  };
  const sink: Sink = {
    send: async (outgoing) => take([outgoing])[0] ?? { status: 'delivered' },
    ...(options.batch > 1
      ? { sendMany: async (batch) => take(batch), batchMax: { records: options.batch, bytes: 1_000_000 } }
      : {}),
    spacingMs: options.spacingMs,
    check: async () => ({ ok: true, detail: '' }),
    [Symbol.asyncDispose]: async () => undefined,
  };
  const begin = (): { outbox: ReturnType<typeof openOutbox>['outbox']; lane: Lane } => {
    const { outbox, log } = openOutbox(directory, ['a'], { clock });
    const { signal } = new AbortController();
    const random = (): number => options.chances[drawn++ % options.chances.length] ?? 0;
    const open = { name: 'a', type: 'world', filter: streamFilter, policy: options.policy, sink };
    const runtime = { outbox, log, clock, meters: silentMeters, signal, attemptSignal: signal, random };
    return { outbox, lane: openLane(open, runtime) };
  };
  let agent = begin();
  return {
    known,
    rows,
    elapsedMs: () => clock.monotonic(),
    commit(event, urgent) {
      const { watch, draft } = announcement({ eventId: event }, emptyWatch('boot'), urgent);
      const committed = agent.outbox.commit(watch, [draft]);
      const sequence = committed.ok ? Number(committed.value[0]?.sequence) : Number.NaN;
      const queuedAt = clock.now();
      known.set(sequence, { event, urgent, queuedAt, attempts: 0, answer: null, notBefore: 0 });
    },
    async run(steps) {
      for (let step = 0; step < steps; step += 1) {
        const sight = agent.lane.look();
        if (sight.status === 'wait') return sight.ms;
        if (sight.status === 'due') await agent.lane.attempt(sight.due);
        if (violation !== null) throw violation;
      }
      return 0;
    },
    pass: (ms) => clock.advance(ms),
    setClock(byMs) {
      clock.set(byMs);
      if (byMs > 0) return;
      // What was over by the clock that ran ahead does not come back, and nobody can say what was.
      Object.assign(rest, { pausedUntil: 0, suspendedUntil: 0 });
      for (const record of known.values()) record.notBefore = 0;
    },
    restart() {
      agent.outbox[Symbol.dispose]();
      agent = begin();
      // A start wakes a suspended sink: it may stand for a mended configuration.
      if (rest.suspended) for (const record of known.values()) record.notBefore = 0;
      Object.assign(rest, { suspendedUntil: 0, suspended: false });
      attemptedMs = Number.NEGATIVE_INFINITY;
    },
    mend() {
      mended = true;
    },
    [Symbol.dispose]() {
      reader?.close();
      agent.outbox[Symbol.dispose]();
    },
  };
}
