// A real HTTP server on this machine that records what it is sent and answers, or fails, as the test says.
import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** One request, whole. */
export interface InboxRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** From 1: which connection it came over. */
  readonly connection: number;
  /** Epoch ms at which its last byte came. */
  readonly at: number;
}

/** How a request is answered. Nothing given = an empty 200. */
export interface InboxAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /**
   * What goes wrong: `reset` cuts the connection before the answer, `hang` never answers, `drip` begins the
   * body and never ends it, `flood` sends a body without end, `cut` cuts the connection in the middle of the
   * body, `garbage` answers with what is not HTTP, `interim` says "processing" and never more, `upgrade` goes over to
   * another protocol.
   */
  readonly fault?: 'reset' | 'hang' | 'drip' | 'flood' | 'cut' | 'garbage' | 'interim' | 'upgrade';
}

export interface Inbox extends AsyncDisposable {
  /** Such as `http://127.0.0.1:43121`. */
  readonly url: string;
  readonly port: number;
  /** Every request that came whole, in order. */
  readonly requests: readonly InboxRequest[];
  /** How many connections were made, with or without a request. */
  readonly connections: number;
  /** How many of them are open now. */
  readonly connectionsOpen: number;
  /** How to answer from now on: one answer for each request, the last one for all that follow. */
  answer(...answers: readonly InboxAnswer[]): void;
  /** Resolves when so many requests have come; rejects after 10 s. */
  received(count: number): Promise<void>;
}

export interface InboxTls {
  readonly key: string;
  readonly cert: string;
  /** Who may vouch for clients: then only a client with a certificate gets in. */
  readonly clientAuthorities?: readonly string[];
  /** The newest version of TLS that is spoken; older ones are then spoken too. */
  readonly maxVersion?: 'TLSv1.1';
}

export interface InboxOptions {
  readonly answer?: InboxAnswer;
  /** Serves HTTPS. */
  readonly tls?: InboxTls;
  /** A port to listen on again after another inbox left it. */
  readonly port?: number;
}

/** Opens an inbox on a free port; disposing of it cuts all connections. */
export async function openInbox(options: InboxOptions = {}): Promise<Inbox> {
  const requests: InboxRequest[] = [];
  const open = new Set<Socket>();
  const numbers = new WeakMap<Socket, number>();
  const waiting = new Set<() => void>();
  let answers: readonly InboxAnswer[] = [options.answer ?? {}];
  let connections = 0;

  const handle: http.RequestListener = async (request, response) => {
    const body = await wholeBody(request);
    if (body === null) return;
    const { method = '', url: path = '', headers, socket } = request;
    requests.push({ method, path, headers, body, connection: numbers.get(socket) ?? 0, at: Date.now() });
    const [first = {}, ...rest] = answers;
    if (rest.length > 0) answers = rest;
    for (const notice of waiting) notice();
    answerWith(first, response);
  };

  const { tls } = options;
  const server = tls ? https.createServer(serverOptionsOf(tls), handle) : http.createServer(handle);
  // Never the first to hang up: that is for the sink to do.
  server.keepAliveTimeout = 600_000;
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    numbers.set(socket, connections);
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    get connectionsOpen() {
      return open.size;
    },
    answer: (...given) => {
      answers = given;
    },
    received: (count) => arrival(requests, count, waiting),
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function serverOptionsOf({ key, cert, clientAuthorities, maxVersion }: InboxTls): https.ServerOptions {
  const asks = clientAuthorities === undefined ? {} : { requestCert: true, ca: [...clientAuthorities] };
  // OpenSSL speaks versions this old only where nothing is asked of the strength of signatures.
  const old = maxVersion && { maxVersion, minVersion: 'TLSv1' as const, ciphers: 'DEFAULT:@SECLEVEL=0' };
  return { key, cert, ...asks, ...old };
}

async function wholeBody(request: http.IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}

function arrival(requests: readonly unknown[], count: number, waiting: Set<() => void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const notice = () => {
    if (requests.length >= count) resolve();
  };
  const timer = setTimeout(
    () => reject(new Error(`${requests.length} of ${count} requests came within 10 s`)),
    10_000,
  );
  waiting.add(notice);
  notice();
  return promise.finally(() => {
    clearTimeout(timer);
    waiting.delete(notice);
  });
}

type Faults = Readonly<Record<NonNullable<InboxAnswer['fault']>, (response: ServerResponse) => void>>;

const faults: Faults = {
  reset: (response) => response.socket?.resetAndDestroy(),
  hang: () => undefined,
  drip: (response) => response.write('a'),
  flood: (response) => flood(response),
  cut: (response) => response.write('a', () => response.destroy()),
  garbage: (response) => response.socket?.end('220 smtp.example.org ESMTP\r\n'),
  interim: (response) => response.writeProcessing(),
  upgrade: (response) =>
    response.socket?.write('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
};

function answerWith({ status = 200, headers = {}, body = '', fault }: InboxAnswer, response: ServerResponse) {
  if (fault === undefined) return response.writeHead(status, { ...headers }).end(body);
  if (fault === 'drip' || fault === 'flood' || fault === 'cut') response.writeHead(status, { ...headers });
  faults[fault](response);
}

function flood(response: ServerResponse): void {
  while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 'x')));
  if (!response.destroyed) response.once('drain', () => flood(response));
}
