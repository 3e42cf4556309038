// A server that accepts connections and never says a word.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface SilentServer extends AsyncDisposable {
  readonly port: number;
  /** Connections that are open now. */
  readonly connections: number;
}

export async function listenSilently(): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // What comes is read and dropped, so that the end of the connection is noticed.
    socket.resume().on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
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
