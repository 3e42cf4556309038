// Watches the plain TCP connections that this process makes to a port of its own machine.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

export interface ClientSockets extends Disposable {
  /** How many came to be connected. */
  readonly opened: number;
  /** How many are connected now, as far as this side knows. */
  readonly open: number;
  /** How many were connected at the same time at most. */
  readonly openMax: number;
}

export function watchClientSockets(port: number): ClientSockets {
  const sockets = new Set<Socket>();
  let opened = 0;
  let openMax = 0;
  const countOpen = () => [...sockets].filter(({ destroyed }) => !destroyed).length;
  const onSocket = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    socket.once('connect', () => {
      if (socket.remotePort !== port) return;
      opened += 1;
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      openMax = Math.max(openMax, countOpen());
    });
  };
  subscribe('net.client.socket', onSocket);
  return {
    get opened() {
      return opened;
    },
    get open() {
      return sockets.size;
    },
    get openMax() {
      return openMax;
    },
    [Symbol.dispose]: () => void unsubscribe('net.client.socket', onSocket),
  };
}
