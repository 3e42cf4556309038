// Asks the instance metadata service, in the manner it wants to be asked: never through a proxy, one at a time.
import http from 'node:http';
import pRetry, { AbortError } from 'p-retry';
import { readDocument, type ScheduledEventsDocument } from '../core/document.ts';
import { plainText } from '../core/notice/plain-text.ts';
import { type Observer, observerFrom } from '../core/observer.ts';
import type { PollOutcome } from '../core/source.ts';

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
}

export interface ImdsSettings {
  /** Without a trailing slash; a path prefix is kept. */
  readonly endpoint: string;
  readonly apiVersion: string;
}

// A document that names every VM of the largest placement group stays far below this.
const bodyBytesMax = 4 * 1024 * 1024;
// The first version with everything a record says about its observer, but the id of a Flexible set.
const instanceApiVersion = '2021-02-01';
const instanceTimeoutMs = 10_000;
const instanceRetryMsMax = 30_000;

interface Answer {
  readonly code: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** Opens a client; it connects at the first request. Close it to end its connection. */
export function openImds(settings: ImdsSettings): ImdsClient {
  // An agent of its own: the global one obeys NODE_USE_ENV_PROXY, and IMDS must bypass every proxy. Two
  // connections, so that a metadata request that hangs cannot hold up a poll; polls never overlap.
  const agent = new http.Agent({ keepAlive: true, maxSockets: 2, maxFreeSockets: 1 });
  const request = { agent, endpoint: settings.endpoint };
  return {
    async poll(timeoutMs, signal) {
      const path = `/metadata/scheduledevents?api-version=${settings.apiVersion}`;
      const answer = await get({ ...request, path, timeoutMs, signal });
      return 'reason' in answer ? { status: 'failed', reason: answer.reason } : pollFrom(answer);
    },
    observer: (signal) => pRetry(() => readObserver(request, signal), observerRetry(signal)),
    [Symbol.dispose]: () => agent.destroy(),
  };
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
  const answer = await get({ ...request, path, timeoutMs: instanceTimeoutMs, signal });
  if (signal.aborted) throw new AbortError('aborted');
  if ('reason' in answer) throw new Error(answer.reason);
  if (answer.code !== 200) throw new Error(`answers ${answer.code}`);
  const observer = observerFrom(parse(answer.body));
  // An answer without the VM's id is a service that is not up yet.
  if (observer.vmId === null) throw new Error('answers without a vmId');
  return observer;
}

interface Endpoint {
  readonly agent: http.Agent;
  readonly endpoint: string;
}

interface GetRequest extends Endpoint {
  readonly path: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** One GET; a transport fault is a value with one of a few reasons. */
async function get(request: GetRequest): Promise<Answer | { readonly reason: string }> {
  if (request.signal.aborted) return { reason: 'aborted' };
  const ending = new AbortController();
  const stop = () => ending.abort();
  const timer = setTimeout(stop, request.timeoutMs);
  request.signal.addEventListener('abort', stop);
  try {
    return await exchange(request, ending.signal);
  } catch (error) {
    if (request.signal.aborted) return { reason: 'aborted' };
    return { reason: ending.signal.aborted ? 'does not answer in time' : transportReason(error) };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', stop);
  }
}

function exchange({ agent, endpoint, path }: GetRequest, signal: AbortSignal): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const outgoing = http.get(`${endpoint}${path}`, { agent, signal, headers: { Metadata: 'true' } });
  outgoing.on('error', reject);
  outgoing.on('response', (incoming) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) incoming.destroy(new Error('too large'));
      else chunks.push(chunk);
    });
    incoming.on('error', reject);
    // A body cut short closes without an end.
    incoming.on('close', () => reject(new Error('cut short')));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      resolve({ code: incoming.statusCode ?? 0, headers: incoming.headers, body });
    });
  });
  return promise;
}

function pollFrom({ code, headers, body }: Answer): Poll {
  if (code === 200) return readDocument(body);
  if (code === 429 || code === 503) {
    return { status: 'throttled', code, retryAfterMs: retryAfterMs(headers['retry-after']) };
  }
  if (code === 410) return { status: 'updating' };
  if (code >= 500) return { status: 'failed', reason: `answers ${code}` };
  return { status: 'refused', code, detail: refusalDetail(code, body) };
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

function refusalDetail(code: number, body: string): string {
  const wire = parse(body);
  const said = typeof wire === 'object' && wire !== null ? (wire as { error?: unknown }).error : undefined;
  const help = refusalHelp[code] ?? 'is imds.endpoint right?';
  return typeof said === 'string' ? `${help} (it says: ${plainText(said.slice(0, 200))})` : help;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'breaks the connection',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ETIMEDOUT: 'does not answer in time',
};

const transportReason = (error: unknown): string =>
  reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? 'does not answer properly';
