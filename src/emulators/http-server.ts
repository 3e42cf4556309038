// A plain HTTP server on this machine only, which its owner can end at any moment.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
}

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Listens on 127.0.0.1.
 * @param port 0 = any free one
 * @returns once it listens; disposing ends every connection, answered or not
 * @throws the system's error, such as EADDRINUSE
 */
export async function startHttpServer(handle: HttpHandler, port = 0): Promise<HttpServer> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${actual}`, [Symbol.asyncDispose]: close };
}

/**
 * Reads a request's body.
 * @returns null when it is longer than `bytesMax`
 */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
