// Where in a partition a reader begins: the selector filter of its link.
import type { AmqpError } from './amqp.ts';
import * as errors from './errors.ts';
import type { LoggedEvent, PartitionLog } from './partition-log.ts';

const FILTER = 'apache.org:selector-filter:string';
const selector = /^amqp\.annotation\.x-opt-(offset|sequence-number|enqueued-time) *(>=?) *'([^']*)'$/;

export type StartPosition =
  | { readonly ok: true; readonly sequenceNumber: number }
  | { readonly ok: false; readonly error: AmqpError };

const at = (sequenceNumber: number): StartPosition => ({ ok: true, sequenceNumber });

/** The described value of a filter: JavaScript clients number its descriptor, Python ones name it. */
function filterText(filter: Readonly<Record<string, unknown>> | null | undefined): string | undefined {
  const value = filter?.[FILTER];
  if (value === undefined || value === null) return undefined;
  return String((value as { readonly value?: unknown }).value ?? value);
}

const firstAfter = (log: PartitionLog, isBefore: (event: LoggedEvent) => boolean): StartPosition => {
  const index = log.events.findIndex((event) => !isBefore(event));
  return at(log.events[index]?.sequenceNumber ?? log.state.lastSequenceNumber + 1);
};

function bySequenceNumber(log: PartitionLog, value: number, inclusive: boolean): StartPosition {
  const { lastSequenceNumber } = log.state;
  if (value > lastSequenceNumber + (inclusive ? 1 : 0))
    return { ok: false, error: errors.positionBeyondEnd('sequence number', value, lastSequenceNumber) };
  return at(inclusive ? value : value + 1);
}

function byOffset(log: PartitionLog, value: number, inclusive: boolean): StartPosition {
  const { lastOffset } = log.state;
  if (value > lastOffset) return { ok: false, error: errors.positionBeyondEnd('offset', value, lastOffset) };
  return firstAfter(log, ({ offset }) => (inclusive ? offset < value : offset <= value));
}

/**
 * @param filter the filter of the link's source; without one a reader begins with the oldest event
 * @returns the sequence number to begin with, which may be trimmed or yet to come
 */
export function startPosition(
  filter: Readonly<Record<string, unknown>> | null | undefined,
  log: PartitionLog,
): StartPosition {
  const text = filterText(filter);
  if (text === undefined) return at(0);
  const [, field, operator, value = ''] = selector.exec(text.trim()) ?? [];
  const inclusive = operator === '>=';
  if (field === 'offset' && value === '-1') return at(0);
  if (field === 'offset' && value === '@latest')
    return at(log.state.lastSequenceNumber + (inclusive ? 0 : 1));
  const number = Number(value);
  if (field === undefined || value === '' || !Number.isSafeInteger(number))
    return { ok: false, error: errors.badFilter(text) };
  if (field === 'offset') return byOffset(log, number, inclusive);
  if (field === 'sequence-number') return bySequenceNumber(log, number, inclusive);
  return firstAfter(log, ({ enqueuedAt }) => (inclusive ? enqueuedAt < number : enqueuedAt <= number));
}
