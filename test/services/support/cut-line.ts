// A line to a server on this machine that can be cut or go silent at a chosen moment.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the next request that holds the word; both directions are dead afterwards. */
export type Cut = 'before the server hears it' | 'after the server answered' | 'silence';

export interface CutLine extends AsyncDisposable {
  readonly port: number;
  /** How often a line was cut. */
  readonly cuts: () => number;
  /** Arms one cut: the next request that holds `word` suffers it. */
  cutAt(word: string, how: Cut): void;
}

/** @param target the server's port */
export async function openCutLine(target: number): Promise<CutLine> {
  const sockets = new Set<Socket>();
  let armed: { readonly word: string; readonly how: Cut } | null = null;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    let suffers: Cut | null = null;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (bytes: Buffer) => {
      if (suffers === null && armed !== null && bytes.includes(armed.word)) {
        suffers = armed.how;
        armed = null;
        cuts += 1;
      }
      if (suffers === 'before the server hears it') end();
      else if (suffers !== 'silence') upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      if (suffers === null) client.write(bytes);
      else if (suffers === 'after the server answered') end();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cuts: () => cuts,
    cutAt: (word, how) => {
      armed = { word, how };
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
