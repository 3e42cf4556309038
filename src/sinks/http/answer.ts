// What an HTTP answer, or the lack of one, means for a delivery.
import { type Fault, type Meaning, meaningOfStatus, type Receiver } from '../../core/answer-table.ts';
import type { DeliveryReason, Outcome } from '../../core/delivery.ts';
import { faultOf } from './network-fault.ts';

/** What came back from one POST. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case, as undici gives them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The first 16 KiB, or less when the rest did not come in time. May quote secrets: never to be logged. */
  readonly body: string;
  /** The body ended before its end: cut off, or too slow. Its first 16 KiB being enough is no such end. */
  readonly cut?: true;
}

/**
 * What an answer means, by its status alone.
 * @param now epoch ms
 * @param receiver whose column of the table counts
 */
export function outcomeOfAnswer(answer: HttpAnswer, now: number, receiver: Receiver = 'webhook'): Outcome {
  const { status } = answer;
  return outcomeOf(meaningOfStatus(status, receiver), `http-${status}`, retryAfterMs(answer, now));
}

/**
 * The outcome that a meaning stands for.
 * @param askedMs how long the receiver asked to be left alone; null when it did not
 */
export function outcomeOf(meaning: Meaning, reason: DeliveryReason, askedMs: number | null): Outcome {
  if (meaning === 'delivered') return { status: 'delivered' };
  if (meaning === 'dead') return { status: 'rejected', reason };
  const asked = askedMs === null ? {} : { retryAfterMs: askedMs };
  if (meaning === 'retry') return { status: 'retryable', reason, ...asked };
  return { status: 'unavailable', reason, ...asked, ...(meaning === 'passing' ? { passing: true } : {}) };
}

const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The wait that `Retry-After` asks for, in ms; null when it asks for none or cannot be read.
 * @param now epoch ms, used when the answer does not tell the receiver's own time
 */
export function retryAfterMs({ headers }: Pick<HttpAnswer, 'headers'>, now: number): number | null {
  const value = textOf(headers['retry-after']).trim();
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  const at = dateOf(value);
  // The receiver's clock wrote the date, so the receiver's clock says how far away it is.
  return at === null ? null : Math.max(0, at - (dateOf(textOf(headers['date'])) ?? now));
}

// V8 reads almost anything as a date, even "-5": the shape comes first.
const dateOf = (text: string): number | null => (httpDate.test(text) ? Date.parse(text) : null);

const textOf = (value: string | string[] | undefined): string =>
  (Array.isArray(value) ? value[0] : value) ?? '';

// Certificates get renewed and clocks get set, but neither within seconds.
const laterMs = 5 * 60_000;

const unforeseen: Fault = ['retry', 'unexpected'];

/**
 * What the error of a request means.
 * @param reused whether the request went over a connection that had served another one before
 */
export function outcomeOfError(error: unknown, reused: boolean): Outcome {
  const [meaning, reason] = faultOf(error) ?? unforeseen;
  if (meaning === 'suspend') return { status: 'unavailable', reason };
  if (meaning === 'later') return { status: 'retryable', reason, delayMsMin: laterMs };
  return { status: 'retryable', reason, ...(meaning === 'again' && reused ? { stale: true } : {}) };
}
