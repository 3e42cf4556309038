// A line to a server on this machine that can be switched off and on again, as when the server is gone for a while.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface SwitchedLine extends AsyncDisposable {
  readonly port: number;
  /** Breaks what is open, and refuses what comes. */
  off(): Promise<void>;
  /** Takes what comes, on the same port. */
  on(): Promise<void>;
}

/** @param target the server's port */
export async function openSwitchedLine(target: number): Promise<SwitchedLine> {
  const sockets = new Set<Socket>();
  const accept = (client: Socket): void => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  };
  const listen = async (port: number): Promise<Server> => {
    const opened = createServer(accept).listen(port, '127.0.0.1');
    await once(opened, 'listening');
    return opened;
  };
  let server: Server | null = await listen(0);
  const { port } = server.address() as AddressInfo;
  const off = async (): Promise<void> => {
    const closing = server;
    server = null;
    for (const socket of sockets) socket.destroy();
    closing?.close();
    if (closing !== null) await once(closing, 'close');
  };
  return {
    ...{ port, off },
    on: async () => {
      server ??= await listen(port);
    },
    [Symbol.asyncDispose]: off,
  };
}
