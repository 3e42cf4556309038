// A real proxy on this machine that makes connections for others (CONNECT), or refuses to, as the test says.
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** One wish for a connection. */
export interface ProxyRequest {
  /** Host and port, as they were asked for. */
  readonly authority: string;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined;
  /** Whether the client showed a certificate, over TLS. */
  readonly certified: boolean;
}

export interface Proxy extends AsyncDisposable {
  /** Such as `http://127.0.0.1:43121`. */
  readonly url: string;
  readonly port: number;
  /** Every wish, in order. */
  readonly requests: readonly ProxyRequest[];
  /** How many connections to the proxy are open now. */
  readonly connectionsOpen: number;
}

export interface ProxyOptions {
  /** Serves only who logs in with this `user:password`. */
  readonly login?: string;
  /** How every wish is answered: with a status, never, or by hanging up. */
  readonly refuses?: number | 'hang' | 'reset';
  /** Whether the proxy itself is spoken to over TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** The port on this machine that a host name leads to, as if the proxy's own name service said so. */
  readonly leads?: Readonly<Record<string, number>>;
}

// Takes any certificate, and none.
const asks = { requestCert: true, rejectUnauthorized: false };

/** Opens a proxy on a free port, which connects to this machine alone; disposing of it cuts all connections. */
export async function openProxy(options: ProxyOptions = {}): Promise<Proxy> {
  const requests: ProxyRequest[] = [];
  const sockets = new Set<Duplex>();
  const server = options.tls ? https.createServer({ ...options.tls, ...asks }) : http.createServer();
  server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.on('connect', ({ url: authority = '', headers }: IncomingMessage, socket: Duplex) => {
    const certified = socket instanceof TLSSocket && 'subject' in socket.getPeerCertificate();
    requests.push({ authority, authorization: headers['proxy-authorization'], certified });
    answer(options, requests.at(-1), socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    get connectionsOpen() {
      return sockets.size;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function answer(
  { login, refuses, leads = {} }: ProxyOptions,
  request: ProxyRequest | undefined,
  socket: Duplex,
) {
  const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  // What comes is read and dropped, so that the end of the connection is noticed.
  if (refuses === 'hang') return void socket.resume().once('end', () => socket.end());
  if (refuses === 'reset') return void socket.destroy();
  if (refuses !== undefined) return void socket.end(`HTTP/1.1 ${refuses} No\r\nContent-Length: 2\r\n\r\nno`);
  if (wanted !== request?.authorization) {
    return void socket.end('HTTP/1.1 407 Login\r\nProxy-Authenticate: Basic\r\n\r\n');
  }
  const [host = '', port = ''] = (request?.authority ?? '').split(/:(?=\d+$)/);
  const onward = connect(leads[host] ?? Number(port), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  onward.on('error', () => socket.destroy()).once('close', () => socket.destroy());
  socket.once('close', () => onward.destroy());
}
