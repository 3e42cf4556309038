// The emulator's port: plain or TLS, AMQP or AMQP in a websocket, told apart by the first bytes.
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { EmulatorError } from './emulator-error.ts';

export interface TlsIdentity {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly cert: string;
}

export interface ListenerOptions {
  readonly port: number;
  readonly tls: TlsIdentity | undefined;
  readonly websockets: boolean;
  readonly onConnection: (socket: Duplex) => void;
}

export interface Listener extends AsyncDisposable {
  readonly port: number;
}

/** Where clients look for AMQP in a websocket, and what they call it. */
const WEBSOCKET_PATH = '/$servicebus/websocket';
const WEBSOCKET_PROTOCOL = 'AMQPWSB10';

/** @returns a function that takes the sockets of HTTP clients */
function createWebsocketGate(onConnection: (socket: Duplex) => void): (socket: Socket) => void {
  const sockets = new WebSocketServer({
    noServer: true,
    path: WEBSOCKET_PATH,
    handleProtocols: (offered) => (offered.has(WEBSOCKET_PROTOCOL) ? WEBSOCKET_PROTOCOL : false),
  });
  const http = createHttpServer((_request, response) => response.writeHead(404).end());
  http.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (websocket) => {
      onConnection(createWebSocketStream(websocket));
    });
  });
  return (socket) => http.emit('connection', socket);
}

/** Clients speak first: one that says nothing for so long has no need of a connection. */
const SILENCE_MS_MAX = 30_000;

/** Looks at the first byte, puts it back and hands the socket on. */
function sort(socket: Socket, onAmqp: (socket: Duplex) => void, onHttp: (socket: Socket) => void): void {
  socket.setNoDelay(true);
  socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy());
  socket.once('readable', () => {
    socket.setTimeout(0);
    const first: Buffer | null = socket.read();
    if (first === null) return void socket.destroy();
    socket.unshift(first);
    if (first.toString('latin1', 0, 1) === 'A') onAmqp(socket);
    else onHttp(socket);
  });
}

async function listen(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host: '127.0.0.1' }, resolve);
  await promise;
  return (server.address() as AddressInfo).port;
}

/** Those under TLS, too: a client that never shakes hands must not keep the server from closing. */
function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return sockets;
}

function createSecureServer(tls: TlsIdentity, onSocket: (socket: Socket) => void): Server {
  try {
    return createTlsServer(tls, onSocket);
  } catch {
    throw new EmulatorError('the TLS key and certificate are no PEM, or do not belong together');
  }
}

/**
 * Listens on 127.0.0.1.
 * @throws EmulatorError for a key that is none, the system's error when the port cannot be had
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const onHttp = options.websockets
    ? createWebsocketGate(options.onConnection)
    : (socket: Socket) => void socket.destroy();
  const onSocket = (socket: Socket): void => {
    socket.on('error', () => socket.destroy());
    sort(socket, options.onConnection, onHttp);
  };
  const server = options.tls ? createSecureServer(options.tls, onSocket) : createServer(onSocket);
  const sockets = trackSockets(server);
  const port = await listen(server, options.port);
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
