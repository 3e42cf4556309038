// The way to one sink, step by step: looks what is next there, makes one attempt, and writes the verdicts down.
import type { Clock } from '../clock.ts';
import { backoffMs, type Draw, judge, type Outcome, type Verdict } from '../core/delivery.ts';
import { hasOverslept } from '../core/delivery-time.ts';
import type { BridgeRecord } from '../core/record.ts';
import type { Log } from '../log.ts';
import type { OpenSink } from '../sinks/index.ts';
import type { OutgoingRecord, Sink } from '../sinks/sink.ts';
import type { Meters } from './meters.ts';
import type { DueDelivery, Foregone, Next } from './outbox/next.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { StoredDelivery } from './outbox/rows.ts';
import { openVerdictLog, type VerdictLog } from './verdict-log.ts';
import { waitMsMax } from './wake.ts';

export interface LaneRuntime {
  readonly outbox: Outbox;
  readonly meters: Meters;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the loop after the attempt in hand. */
  readonly signal: AbortSignal;
  /** Ends the attempt in hand too: comes later than `signal`. */
  readonly attemptSignal: AbortSignal;
  /** Uniform in [0, 1); chance itself unless given. */
  readonly random?: () => number;
}

/** What is to be done next. */
export type Sight =
  /** To be attempted now. */
  | { readonly status: 'due'; readonly due: readonly DueDelivery[] }
  /** Something came to its end without an attempt: look again. */
  | { readonly status: 'settled' }
  /** Look again after so long at the latest. */
  | { readonly status: 'wait'; readonly ms: number };

export interface Lane {
  /** Looks what is next, and writes down what needs no attempt. */
  look(): Sight;
  /** Makes one attempt with what `look` found due, and writes its verdicts down. */
  attempt(due: readonly DueDelivery[]): Promise<void>;
}

/** What the lane remembers from one step to the next, and no longer than the process lives. */
interface Memory {
  /** The deliveries whose last attempt met a stale connection. */
  stale: ReadonlySet<number>;
  /** Epoch ms since when the sink answers nothing but that it is unavailable. */
  unavailableSince: number | null;
  /** When the last attempt began, by the clock that never jumps. */
  attemptedMs: number;
  /** The wait that `look` asked for last. */
  wait: { readonly at: number; readonly ms: number } | null;
  /** The VM was frozen, and the head has not been looked at since. */
  thawed: boolean;
}

interface Tools extends LaneRuntime {
  readonly open: OpenSink;
  readonly memory: Memory;
  readonly verdicts: VerdictLog;
}

/** Opens the way to one sink. */
export function openLane(open: OpenSink, runtime: LaneRuntime): Lane {
  const memory: Memory = {
    stale: new Set(),
    unavailableSince: null,
    attemptedMs: Number.NEGATIVE_INFINITY,
    wait: null,
    thawed: false,
  };
  const tools = { ...runtime, open, memory, verdicts: openVerdictLog(open, runtime.log) };
  return { look: () => look(tools), attempt: (due) => attempt(due, tools) };
}

function look(tools: Tools): Sight {
  const { outbox, open, clock, memory } = tools;
  const { policy } = open;
  const { batchMax, spacingMs = 0 } = open.sink;
  noticeThaw(tools);
  const rules = { policy, spacingMs, ...(batchMax === undefined ? {} : { batchMax }) };
  const next = outbox.next(open.name, rules);
  if (next.status === 'foregone') return forgo(next.foregone, tools);
  if (next.status === 'wait') {
    return waiting(next.until === null ? Number.POSITIVE_INFINITY : next.until - clock.now(), tools);
  }
  if (next.urgent) return { status: 'due', due: next.due };
  if (drawAnew(next, tools)) return { status: 'settled' };
  const spacingLeftMs = memory.attemptedMs + spacingMs - clock.monotonic();
  return spacingLeftMs > 0 ? waiting(spacingLeftMs, tools) : { status: 'due', due: next.due };
}

function waiting(neededMs: number, { clock, memory }: Tools): Sight {
  const ms = Math.min(Math.max(neededMs, 0), waitMsMax);
  memory.wait = { at: clock.now(), ms };
  return { status: 'wait', ms };
}

function noticeThaw({ memory, clock, open }: Tools): void {
  const { wait } = memory;
  memory.wait = null;
  if (wait !== null && hasOverslept(wait.ms, clock.now() - wait.at, open.policy)) memory.thawed = true;
}

/** After a freeze, what waited for a backoff or a probe waits a little longer, so that a fleet does not march in step. */
function drawAnew({ due: [head], probe }: Extract<Next, { status: 'due' }>, tools: Tools): boolean {
  const { memory, open, outbox, clock } = tools;
  const { thawed } = memory;
  memory.thawed = false;
  if (!thawed || head === undefined || head.record.urgent) return false;
  if (head.delivery.attempts === 0 && !probe) return false;
  outbox.postpone(head.delivery, clock.now() + backoffMs(head.delivery.attempts, open.policy, drawOf(tools)));
  return true;
}

function forgo(foregone: readonly Foregone[], tools: Tools): Sight {
  tools.outbox.settle(foregone.map(({ delivery, verdict }) => ({ delivery, verdict, attempted: false })));
  for (const { delivery, verdict, committedAt } of foregone) {
    tell(verdict, delivery, committedAt ?? delivery.queuedAt, tools);
  }
  return { status: 'settled' };
}

/** A delivery with what the sink answered to it. */
interface Answer extends DueDelivery {
  readonly outcome: Outcome;
}

async function attempt(due: readonly DueDelivery[], tools: Tools): Promise<void> {
  const { outbox, clock, memory, meters, open } = tools;
  memory.attemptedMs = clock.monotonic();
  const answers = await ask(due, tools);
  const durationMs = clock.monotonic() - memory.attemptedMs;
  const draw = { now: clock.now(), random: drawOf(tools) };
  const judged = answers.map((answer) => ({ ...answer, verdict: verdictOn(answer, draw, tools) }));
  memory.stale = new Set(answers.filter(isStale).map(({ delivery }) => delivery.sequence));
  outbox.settle(judged.map(({ delivery, verdict }) => ({ delivery, verdict, attempted: true })));
  for (const { delivery, record, outcome, verdict } of judged) {
    const reason = outcome.status === 'delivered' ? null : outcome.reason;
    meters.attempt({ sink: open.name, outcome: outcome.status, reason, durationMs });
    tell(verdict, { ...delivery, attempts: delivery.attempts + 1 }, record.committedAt, tools);
  }
}

/** What the sink answers; an attempt that we ended ourselves says nothing about it, and does not count. */
async function ask(due: readonly DueDelivery[], tools: Tools): Promise<Answer[]> {
  const outcomes = await outcomesOf(due, tools);
  const answers = due.flatMap((one, index) => {
    const outcome = outcomes[index];
    return outcome === undefined ? [] : [{ ...one, outcome }];
  });
  const isOurs = ({ outcome }: Answer): boolean =>
    tools.signal.aborted && outcome.status === 'retryable' && outcome.reason === 'aborted';
  return answers.filter((answer) => !isOurs(answer));
}

async function outcomesOf(due: readonly DueDelivery[], tools: Tools): Promise<readonly Outcome[]> {
  const { open, attemptSignal } = tools;
  const batch = due.map(({ record }): OutgoingRecord => {
    return { record: JSON.parse(record.body.toString('utf8')) as BridgeRecord, bytes: record.body };
  });
  try {
    const outcomes = await send(open.sink, batch, attemptSignal);
    if (outcomes.length > 0) return outcomes;
    throw new RangeError();
  } catch (error) {
    // A sink never throws; one that does has a bug, and a bug must not cost a record. Its text may hold a secret.
    const name = error instanceof Error ? error.name : typeof error;
    tools.log.error({ sink: open.name, error: name }, 'a sink threw: this is a bug in the bridge');
    return [{ status: 'retryable', reason: 'unexpected' }];
  }
}

async function send(
  sink: Sink,
  batch: readonly OutgoingRecord[],
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  if (batch.length > 1 && sink.sendMany !== undefined) return await sink.sendMany(batch, signal);
  return batch[0] === undefined ? [] : [await sink.send(batch[0], signal)];
}

function verdictOn({ delivery, outcome }: Answer, draw: Draw, { memory, open }: Tools): Verdict {
  memory.unavailableSince = outcome.status === 'unavailable' ? (memory.unavailableSince ?? draw.now) : null;
  const history = {
    attempts: delivery.attempts + 1,
    retriedAtOnce: memory.stale.has(delivery.sequence),
    ...(memory.unavailableSince === null ? {} : { unavailableSince: memory.unavailableSince }),
  };
  return judge(outcome, history, open.policy, draw);
}

const isStale = ({ outcome }: Answer): boolean => outcome.status === 'retryable' && outcome.stale === true;

/** Says what became of a delivery, to the log and to whoever measures. */
function tell(verdict: Verdict, delivery: StoredDelivery, committedAt: number, tools: Tools): void {
  tools.verdicts.tell(verdict, delivery);
  if (verdict.state === 'pending' || verdict.state === 'suspended') return;
  const endToEndMs = Math.max(tools.clock.now() - committedAt, 0);
  tools.meters.settled({ sink: delivery.sink, state: verdict.state, endToEndMs });
}

const drawOf = ({ random }: Tools): number => (random ?? Math.random)();
