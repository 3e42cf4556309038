// Asks the instance metadata service, in the manner it wants to be asked: never through a proxy, one at a time.
import http from 'node:http';
import pRetry, { AbortError } from 'p-retry';
import { type ApprovalAnswer, approvalAnswer } from '../core/approval-attempt.ts';
import { readDocument, type ScheduledEventsDocument } from '../core/document.ts';
import { plainText } from '../core/notice/plain-text.ts';
import { type Observer, observerFrom } from '../core/observer.ts';
import type { PollOutcome } from '../core/source.ts';
import { type Answer, type Endpoint, exchange } from './imds-exchange.ts';

/** The outcome of a poll, with the document when there is one. */
export type Poll =
  | Exclude<PollOutcome, { status: 'document' }>
  | {
      readonly status: 'document';
      readonly document: ScheduledEventsDocument;
      readonly oddities: readonly string[];
    };

export interface ImdsClient extends Disposable {
  /** One GET of the Scheduled Events document. Expected failures are outcomes; aborting gives `failed`. */
  poll(timeoutMs: number, signal: AbortSignal): Promise<Poll>;
  /**
   * Reads instance metadata, and tries again until it comes or `signal` aborts.
   * @throws only the reason of `signal`
   */
  observer(signal: AbortSignal): Promise<Observer>;
  /**
   * One POST that lets an event start: for every VM that it names, and without a way back. One at a time.
   * @param eventId as the document spells it
   */
  approve(eventId: string, signal: AbortSignal): Promise<ApprovalAnswer>;
}

export interface ImdsSettings {
  /** Without a trailing slash; a path prefix is kept. */
  readonly endpoint: string;
  readonly apiVersion: string;
}

// The first version with everything a record says about its observer, but the id of a Flexible set.
const instanceApiVersion = '2021-02-01';
const instanceTimeoutMs = 10_000;
const instanceRetryMsMax = 30_000;
const approvalTimeoutMs = 10_000;

/** Opens a client; it connects at the first request. Close it to end its connection. */
export function openImds(settings: ImdsSettings): ImdsClient {
  // An agent of its own: the global one obeys NODE_USE_ENV_PROXY, and IMDS must bypass every proxy. Two
  // connections, so that a metadata request that hangs cannot hold up a poll; polls never overlap.
  const agent = new http.Agent({ keepAlive: true, maxSockets: 2, maxFreeSockets: 1 });
  const request = { agent, endpoint: settings.endpoint };
  const path = `/metadata/scheduledevents?api-version=${settings.apiVersion}`;
  // Approvals are rare: a connection of their own each time is never stale, and never in the way of a poll.
  const approving = new http.Agent({ keepAlive: false });
  // One after the other, each with its own time-out from its own beginning.
  let before: Promise<unknown> = Promise.resolve();
  return {
    async poll(timeoutMs, signal) {
      const answer = await exchange({ ...request, path, timeoutMs, signal });
      return 'reason' in answer ? { status: 'failed', reason: answer.reason } : pollFrom(answer);
    },
    observer: (signal) => pRetry(() => readObserver(request, signal), observerRetry(signal)),
    approve(eventId, signal) {
      const answer = before.then(() => approve({ ...request, agent: approving, path, signal }, eventId));
      before = answer;
      return answer;
    },
    [Symbol.dispose]: () => {
      agent.destroy();
      approving.destroy();
    },
  };
}

async function approve(
  place: Endpoint & { readonly path: string; readonly signal: AbortSignal },
  eventId: string,
): Promise<ApprovalAnswer> {
  const body = JSON.stringify({ StartRequests: [{ EventId: eventId }] });
  const answer = await exchange({ ...place, body, timeoutMs: approvalTimeoutMs });
  if ('reason' in answer) return { status: 'failed', code: null, reason: answer.reason };
  const detail = refusalDetail(answer.code, answer.body, approvalHelp);
  return approvalAnswer(answer.code, detail, retryAfterMs(answer.headers['retry-after']));
}

const observerRetry = (signal: AbortSignal) => ({
  retries: Number.POSITIVE_INFINITY,
  minTimeout: 1_000,
  maxTimeout: instanceRetryMsMax,
  factor: 2,
  randomize: true,
  signal,
});

async function readObserver(request: Endpoint, signal: AbortSignal): Promise<Observer> {
  const path = `/metadata/instance?api-version=${instanceApiVersion}`;
  const answer = await exchange({ ...request, path, timeoutMs: instanceTimeoutMs, signal });
  if (signal.aborted) throw new AbortError('aborted');
  if ('reason' in answer) throw new Error(answer.reason);
  if (answer.code !== 200) throw new Error(`answers ${answer.code}`);
  const observer = observerFrom(parse(answer.body));
  // An answer without the VM's id is a service that is not up yet.
  if (observer.vmId === null) throw new Error('answers without a vmId');
  return observer;
}

function pollFrom({ code, headers, body }: Answer): Poll {
  if (code === 200) return readDocument(body);
  if (code === 429 || code === 503) {
    return { status: 'throttled', code, retryAfterMs: retryAfterMs(headers['retry-after']) };
  }
  if (code === 410) return { status: 'updating' };
  if (code >= 500) return { status: 'failed', reason: `answers ${code}` };
  return { status: 'refused', code, detail: refusalDetail(code, body, refusalHelp) };
}

/** `Retry-After` in seconds or as a date; null when there is none that can be read. */
function retryAfterMs(value: string | undefined): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(date - Date.now(), 0);
}

const refusalHelp: Readonly<Record<number, string>> = {
  400: 'the request is not accepted; is imds.apiVersion one that Scheduled Events knows?',
  401: 'this process may not read metadata; look at the Metadata Security Protocol rules of the VM',
  403: 'this process may not read metadata; look at the Metadata Security Protocol rules of the VM',
  404: 'there are no Scheduled Events here; is imds.endpoint right, and is this an Azure VM?',
  405: 'the request is not accepted; is imds.endpoint right?',
};

const approvalHelp: Readonly<Record<number, string>> = {
  400: 'the request is not accepted; the event may be over',
  401: 'this process may not approve; look at the Metadata Security Protocol rules of the VM',
  403: 'this process may not approve; look at the Metadata Security Protocol rules of the VM',
};

function refusalDetail(code: number, body: string, help: Readonly<Record<number, string>>): string {
  const wire = parse(body);
  const said = typeof wire === 'object' && wire !== null ? (wire as { error?: unknown }).error : undefined;
  const what = help[code] ?? 'is imds.endpoint right?';
  return typeof said === 'string' ? `${what} (it says: ${plainText(said.slice(0, 200))})` : what;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
