// Carries one POST to a receiver and brings back its answer, and refuses to go where the bridge must not.
import { type LookupOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, buildConnector } from 'undici';
import { EgressBlocked, mayConnect } from './egress.ts';
import type { HttpAnswer } from './http-answer.ts';

export interface HttpClientOptions {
  readonly allowLoopback: boolean;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
}

export interface HttpRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface HttpClient extends AsyncDisposable {
  /**
   * One POST; redirects are not followed.
   * @throws what undici throws, and EgressBlocked: the caller knows what it means
   */
  post(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Connects, TLS included, and hangs up: the receiver sees no request. @throws as `post` does */
  connect(url: URL, signal: AbortSignal): Promise<void>;
  /** How many connections were opened so far: a request that opened none went over an old one. */
  readonly connections: number;
}

// Enough for every answer that a sink has to understand.
const answerBytesMax = 16 * 1024;
// An answer is judged by its status; its body is not worth more waiting than this.
const bodyTimeoutMs = 5_000;
// A VM sends in bursts, hours apart: a fleet must not hold its receivers' connections in between.
const keepAliveMs = 4_000;

/** Does no I/O, and does not load undici, before the first request. */
export function openHttpClient(options: HttpClientOptions): HttpClient {
  let agent: Agent | null = null;
  let connections = 0;

  const connector = async (): Promise<buildConnector.connector> => {
    const { buildConnector } = await import('undici');
    const { allowLoopback, connectTimeoutMs } = options;
    const base = buildConnector({
      allowH2: false,
      timeout: connectTimeoutMs,
      lookup: guardedLookup(allowLoopback),
    });
    return (target, callback) => {
      connections += 1;
      const host = target.hostname.replace(/^\[|\]$/g, '');
      // Resolvers are not asked about addresses, so the guard in the look-up alone would miss them.
      if (isIP(host) !== 0 && !mayConnect(host, allowLoopback)) {
        queueMicrotask(() => callback(new EgressBlocked(), null));
      } else base(target, callback);
    };
  };

  const openAgent = async (): Promise<Agent> => {
    const { Agent } = await import('undici');
    return new Agent({
      allowH2: false,
      headersTimeout: options.timeoutMs,
      bodyTimeout: bodyTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      connect: await connector(),
    });
  };

  const letGo = async () => {
    const closing = agent;
    agent = null;
    await closing?.close();
  };

  return {
    get connections() {
      return connections;
    },
    post: async ({ url, headers, body }, signal) => {
      const { request } = await import('undici');
      agent ??= await openAgent();
      const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body, signal });
      const { statusCode: status, headers: answered } = answer;
      const text = await firstBytes(answer.body);
      // 421: this receiver wants to be spoken to over another connection.
      if (status === 421) await letGo();
      return { status, headers: answered, body: text };
    },
    connect: async (url, signal) => {
      const connect = await connector();
      await new Promise<void>((resolve, reject) => {
        const { hostname, host, protocol, port } = url;
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        connect({ hostname, host, protocol, port }, (error, socket) => {
          socket?.destroy();
          if (error === null) resolve();
          else reject(error);
        });
      });
    },
    [Symbol.asyncDispose]: letGo,
  };
}

/** What came of the body until the limit; never throws, because the status has been said already. */
async function firstBytes(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= answerBytesMax) break;
    }
  } catch {
    // Cut off, or too slow: what is there is there.
  }
  return Buffer.concat(chunks).subarray(0, answerBytesMax).toString('utf8');
}

/** Resolves a name and keeps only the addresses that the bridge may connect to. */
const guardedLookup =
  (allowLoopback: boolean): LookupFunction =>
  (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const allowed = found.filter(({ address }) => mayConnect(address, allowLoopback));
      const [first] = allowed;
      if (first === undefined) return callback(new EgressBlocked(), []);
      if (options.all === true) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };
