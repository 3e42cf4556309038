// What an HTTP answer, or the lack of one, means for a delivery.
import type { DeliveryReason, Outcome } from '../core/delivery.ts';
import { codesOf, networkReason } from './network-fault.ts';

/** What came back from one POST. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case, as undici gives them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The first 16 KiB, or less when the rest did not come in time. May quote secrets: never to be logged. */
  readonly body: string;
}

// The record is at fault: the same bytes would meet the same answer for ever.
const rejectedStatuses: readonly number[] = [501, 505];
// The sink is at fault, and every record would meet the same answer.
const unavailableStatuses: readonly number[] = [401, 403, 404, 410];
// 407 is a proxy's, 421 asks for another connection, 425 for another moment.
const retryableStatuses: readonly number[] = [407, 408, 421, 425, 429];

/**
 * What the answer of a plain webhook receiver means.
 * @param now epoch ms
 */
export function outcomeOfAnswer(answer: HttpAnswer, now: number): Outcome {
  const { status } = answer;
  const reason: DeliveryReason = `http-${status}`;
  if (status >= 200 && status < 300) return { status: 'delivered' };
  // Never followed: a redirected POST may arrive as an empty GET and still be answered with 200.
  if (status >= 300 && status < 400) return { status: 'unavailable', reason };
  if (unavailableStatuses.includes(status)) return { status: 'unavailable', reason };
  const isClientFault = status >= 400 && status < 500 && !retryableStatuses.includes(status);
  if (isClientFault || rejectedStatuses.includes(status)) return { status: 'rejected', reason };
  const asked = retryAfterMs(answer, now);
  return { status: 'retryable', reason, ...(asked === null ? {} : { retryAfterMs: asked }) };
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
const tlsPauseMs = 5 * 60_000;

const reasonsOfClient: Readonly<Record<string, DeliveryReason>> = {
  UND_ERR_SOCKET: 'connection-reset',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  HTTPParserError: 'protocol',
};

const reasonsOfSettings: Readonly<Record<string, DeliveryReason>> = {
  ERR_EGRESS_BLOCKED: 'egress-blocked',
  UND_ERR_INVALID_ARG: 'invalid-header',
};

/**
 * What the error of a request means.
 * @param reused whether the request went over a connection that had served another one before
 */
export function outcomeOfError(error: unknown, reused: boolean): Outcome {
  const codes = codesOf(error);
  const fault = first(codes, (code) => reasonsOfSettings[code]);
  if (fault !== undefined) return { status: 'unavailable', reason: fault };
  const reason = first(codes, reasonOfCode) ?? 'unexpected';
  if (reason === 'tls') return { status: 'retryable', reason, retryAfterMs: tlsPauseMs };
  const stale = reused && reason === 'connection-reset';
  return { status: 'retryable', reason, ...(stale ? { stale } : {}) };
}

const reasonOfCode = (code: string): DeliveryReason | undefined =>
  reasonsOfClient[code] ?? (code.startsWith('HPE_') ? 'protocol' : (networkReason(code) ?? undefined));

function first<Value>(codes: readonly string[], meaning: (code: string) => Value | undefined) {
  for (const code of codes) {
    const value = meaning(code);
    if (value !== undefined) return value;
  }
  return undefined;
}
