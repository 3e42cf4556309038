// Carries one POST to a receiver and brings back its answer; undici is loaded when the first one goes out.
import { isDeepStrictEqual } from 'node:util';
import type { Agent, request as undiciRequest } from 'undici';
import type { Secret } from '../../config/secret.ts';
import type { HttpAnswer } from './answer.ts';
import {
  type Connector,
  type ConnectorOptions,
  openGuardedConnector,
  tryConnecting,
} from './guarded-connector.ts';
import { readTlsFiles, type TlsSettings } from './tls-files.ts';

export interface HttpClientOptions {
  readonly allowLoopback: boolean;
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  readonly tls: TlsSettings;
  readonly proxy?: Secret | undefined;
}

export interface HttpRequest {
  readonly url: URL;
  /** POST unless given. */
  readonly method?: 'POST' | 'OPTIONS';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface HttpClient extends AsyncDisposable {
  /**
   * One request; redirects are not followed.
   * @throws what undici throws, EgressBlocked, ProxyFault, TlsFileFault, SecretUnreadable: the caller knows what they mean
   */
  post(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Connects and hangs up. @throws as `post` does */
  connect(url: URL, signal: AbortSignal): Promise<void>;
  /** Whether the last request went over a connection that had served another one before. */
  readonly reused: boolean;
}

// Enough for every answer that a sink has to understand.
const answerBytesMax = 16 * 1024;
// An answer is judged by its status; its body is not worth more waiting than this.
const bodyTimeoutMs = 5_000;
// A VM sends in bursts, hours apart: a fleet must not hold its receivers' connections in between.
const keepAliveMs = 4_000;

/** What undici gives, once it is loaded. */
interface Loaded {
  readonly agent: Agent;
  readonly request: typeof undiciRequest;
}

/** The texts that connections are made from, and what was made from them. */
interface Kept {
  readonly ground: ConnectorOptions;
  readonly loaded: Promise<Loaded>;
}

/** What a client remembers of its connections. */
interface Traces {
  /** How many were made. */
  connections: number;
  /** How many had been made when the last request began; -1 before the first. */
  connectionsBefore: number;
  /**
   * What went wrong with the connection of the last request. undici forgets it when the connection then ends, and with
   * it what the receiver says of our certificate, which it may say only after TLS stands.
   */
  broken: Error | null;
}

/** Does no I/O before the first request. */
export function openHttpClient(options: HttpClientOptions): HttpClient {
  const traces: Traces = { connections: 0, connectionsBefore: -1, broken: null };
  let kept: Kept | null = null;

  const letGo = async () => {
    const closing = kept;
    kept = null;
    // What could not be loaded has nothing to close.
    const client = await closing?.loaded.catch(() => null);
    await client?.agent.close();
  };

  const current = async (): Promise<Loaded> => {
    const ground = groundOf(options);
    // A renewed certificate, or another proxy: the connections that stand were made with the old one.
    if (kept !== null && !isDeepStrictEqual(kept.ground, ground)) await letGo();
    kept ??= { ground, loaded: load(ground, options.timeoutMs, traces) };
    return await kept.loaded;
  };

  return {
    get reused() {
      return traces.connections === traces.connectionsBefore;
    },
    post: async (request, signal) => {
      traces.connectionsBefore = traces.connections;
      traces.broken = null;
      const answer = await post(request, await current(), signal).catch((error: unknown) => {
        throw traces.broken ?? error;
      });
      // 421: this receiver wants to be spoken to over another connection.
      if (answer.status === 421) await letGo();
      return answer;
    },
    connect: async (url, signal) => {
      traces.connectionsBefore = -1;
      await tryConnecting(await openGuardedConnector(groundOf(options)), url, signal);
    },
    [Symbol.asyncDispose]: letGo,
  };
}

async function load(ground: ConnectorOptions, timeoutMs: number, traces: Traces): Promise<Loaded> {
  const connect = await openGuardedConnector(ground);
  return await loadUndici(timeoutMs, (target, callback) => {
    traces.connections += 1;
    connect(target, (...connected) => {
      connected[1]?.once('error', (error) => {
        traces.broken = error;
      });
      callback(...connected);
    });
  });
}

/** Reads the files and secrets anew. */
function groundOf({ allowLoopback, connectTimeoutMs, tls, proxy }: HttpClientOptions): ConnectorOptions {
  return {
    allowLoopback,
    connectTimeoutMs,
    tls: readTlsFiles(tls),
    serverName: tls.serverName,
    proxy: proxy?.reveal(),
  };
}

async function loadUndici(headersTimeout: number, connect: Connector): Promise<Loaded> {
  // By its default: a bundle knows no other name of a CommonJS package that is imported late.
  const { Agent, request } = (await import('undici')).default;
  const agent = new Agent({
    allowH2: false,
    // A second one would be opened whenever a record follows another at once.
    connections: 1,
    headersTimeout,
    bodyTimeout: bodyTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    connect,
  });
  return { agent, request };
}

async function post(
  { url, method = 'POST', headers, body }: HttpRequest,
  { agent: dispatcher, request }: Loaded,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const answer = await request(url, { dispatcher, method, headers, body, signal });
  return { status: answer.statusCode, headers: answer.headers, ...(await firstBytes(answer.body)) };
}

/** What came of the body until the limit; never throws, because the status has been said already. */
async function firstBytes(body: AsyncIterable<Buffer>): Promise<Pick<HttpAnswer, 'body' | 'cut'>> {
  const chunks: Buffer[] = [];
  let size = 0;
  let whole = true;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= answerBytesMax) break;
    }
  } catch {
    // What is there is there.
    whole = false;
  }
  const text = Buffer.concat(chunks).subarray(0, answerBytesMax).toString('utf8');
  return { body: text, ...(whole ? {} : { cut: true }) };
}
