// A small HTTP server for probes and Prometheus: a few pages to read, and nothing that could be changed or exhausted.
import { once } from 'node:events';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../clock.ts';
import { isLoopback, type ListenAddress, listenText } from '../config/listen.ts';
import type { Log } from '../log.ts';

/** What a path answers. */
export interface StatusPage {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A page for a probe: 200 when all is well, else 503, and in JSON why. */
export const verdictPage = (isGood: boolean, body: object): StatusPage => ({
  status: isGood ? 200 : 503,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(body)}\n`,
});

/** By path, such as `/healthz`. */
export type StatusPages = Readonly<Record<string, () => StatusPage | Promise<StatusPage>>>;

export interface StatusServerRuntime {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the server, and what it is answering. */
  readonly signal: AbortSignal;
}

const retryIntervalMs = 30_000;
// A probe sends a few lines and goes; whoever is slower than this is not a probe.
const requestMsMax = 3_000;
const headerBytesMax = 8 * 1024;
const connectionsMax = 32;

/**
 * Serves the pages until `signal` aborts. An address that is taken is tried again every 30 s: the program has more
 * important work than its status.
 */
export async function serveStatus(
  listen: ListenAddress,
  pages: StatusPages,
  { clock, log, signal }: StatusServerRuntime,
): Promise<void> {
  const address = listenText(listen);
  if (!isLoopback(listen)) {
    log.warn(
      { address },
      'status.listen is open to others: whoever reaches it can read how this program stands',
    );
  }
  let told = '';
  while (!signal.aborted) {
    const server = openServer(pages, log);
    const fault = await listening(server, listen);
    if (fault === null) {
      log.info({ address: addressOf(server) }, 'the status is served');
      await ended(server, signal);
      return;
    }
    if (fault !== told) {
      const message =
        'status.listen cannot be listened on: the program works without it, and tries every 30 s';
      log.error({ address, fault }, message);
    }
    told = fault;
    await clock.sleep(retryIntervalMs, signal);
  }
}

function openServer(pages: StatusPages, log: Log): Server {
  const limits = {
    requestTimeout: requestMsMax,
    headersTimeout: requestMsMax,
    keepAliveTimeout: requestMsMax,
    connectionsCheckingInterval: requestMsMax,
    maxHeaderSize: headerBytesMax,
  };
  const server = http.createServer(limits, (request, response) => void answer(request, response, pages, log));
  server.maxConnections = connectionsMax;
  // Whoever does not take his answer is let go as well.
  server.setTimeout(2 * requestMsMax);
  return server;
}

/** @returns null when it listens, else the system's word for why not, such as `EADDRINUSE` */
async function listening(server: Server, { host, port }: ListenAddress): Promise<string | null> {
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    // What may go wrong from now on costs a connection, and whoever opened it tries again.
    server.on('error', () => undefined);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error';
  }
}

function addressOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return listenText({ host: address, port });
}

async function ended(server: Server, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  pages: StatusPages,
  log: Log,
): Promise<void> {
  // A reader that goes away in the middle is no news.
  response.on('error', () => undefined);
  const path = (request.url ?? '').split('?')[0] ?? '';
  const page = pages[path];
  if (page === undefined) return send(request, response, plain(404, 'There is no such page.'));
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return send(request, response, plain(405, 'This page can only be read.'));
  }
  try {
    send(request, response, await page());
  } catch (error) {
    // The text of an error that nobody foresaw may quote anything.
    const name = error instanceof Error ? error.name : typeof error;
    log.error({ path, error: name }, 'a status page failed: this is a bug in the bridge');
    send(request, response, plain(500, 'This page failed.'));
  }
}

const plain = (status: number, text: string): StatusPage => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${text}\n`,
});

function send({ method }: IncomingMessage, response: ServerResponse, page: StatusPage): void {
  response.writeHead(page.status, {
    'content-type': page.contentType,
    'content-length': Buffer.byteLength(page.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(method === 'HEAD' ? undefined : page.body);
}
