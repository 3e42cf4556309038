// A sink of the tests: it keeps what it was given, and answers what the test says.
import type { DeliveryPolicy, Outcome } from '../../src/core/delivery.ts';
import { dataPolicy } from '../../src/core/delivery.ts';
import type { OpenSink } from '../../src/sinks/index.ts';
import { type OutgoingRecord, type Sink, streamFilter } from '../../src/sinks/sink.ts';

export const delivered: Outcome = { status: 'delivered' };

export interface ScriptedSink {
  readonly open: OpenSink;
  /** The numbers of the records of each attempt. */
  readonly attempts: readonly (readonly number[])[];
  /** From now on it answers this to each record, or what a function makes of its number. */
  answer(outcome: Outcome | ((sequence: number) => Outcome)): void;
}

/** @param also for example `batchMax`, which makes it take several records at once, or `spacingMs` */
export function scriptedSink(
  name: string,
  { policy = dataPolicy, ...also }: Pick<Sink, 'batchMax' | 'spacingMs'> & { policy?: DeliveryPolicy } = {},
): ScriptedSink {
  const attempts: number[][] = [];
  let answer: (sequence: number) => Outcome = () => delivered;
  const take = (batch: readonly OutgoingRecord[]): Outcome[] => {
    const numbers = batch.map(({ record }) => Number(record.sequence));
    attempts.push(numbers);
    return numbers.map(answer);
  };
  const sink: Sink = {
    ...also,
    send: async (outgoing) => take([outgoing])[0] ?? delivered,
    ...(also.batchMax === undefined ? {} : { sendMany: async (batch) => take(batch) }),
    check: async () => ({ ok: true, detail: '' }),
    [Symbol.asyncDispose]: async () => undefined,
  };
  return {
    open: { name, type: 'scripted', filter: streamFilter, policy, sink },
    attempts,
    answer(outcome) {
      answer = typeof outcome === 'function' ? outcome : () => outcome;
    },
  };
}
