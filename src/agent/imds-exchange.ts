// One request to the instance metadata service, and its whole answer: in time, of bounded length, past every proxy.
import http from 'node:http';

export interface Endpoint {
  readonly agent: http.Agent;
  readonly endpoint: string;
}

export interface ImdsRequest extends Endpoint {
  readonly path: string;
  /** JSON to POST; a GET unless given. */
  readonly body?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly code: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

// A document that names every VM of the largest placement group stays far below this.
const bodyBytesMax = 4 * 1024 * 1024;

/** One request; a transport fault is a value with one of a few reasons. */
export async function exchange(request: ImdsRequest): Promise<Answer | { readonly reason: string }> {
  if (request.signal.aborted) return { reason: 'aborted' };
  const ending = new AbortController();
  const stop = () => ending.abort();
  const timer = setTimeout(stop, request.timeoutMs);
  request.signal.addEventListener('abort', stop);
  try {
    return await send(request, ending.signal);
  } catch (error) {
    if (request.signal.aborted) return { reason: 'aborted' };
    return { reason: ending.signal.aborted ? 'does not answer in time' : transportReason(error) };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', stop);
  }
}

function send({ agent, endpoint, path, body }: ImdsRequest, signal: AbortSignal): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const method = body === undefined ? 'GET' : 'POST';
  const outgoing = http.request(`${endpoint}${path}`, {
    ...{ agent, signal, method },
    headers: { Metadata: 'true', ...contentHeaders(body) },
  });
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
      const text = Buffer.concat(chunks).toString('utf8');
      resolve({ code: incoming.statusCode ?? 0, headers: incoming.headers, body: text });
    });
  });
  outgoing.end(body);
  return promise;
}

const contentHeaders = (body: string | undefined) =>
  body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'breaks the connection',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ETIMEDOUT: 'does not answer in time',
};

const transportReason = (error: unknown): string =>
  reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? 'does not answer properly';
