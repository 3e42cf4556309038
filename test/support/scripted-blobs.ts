// A server that answers as blob storage would, by a script: for what Azurite does not do.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Certificate } from './certificate.ts';

export interface BlobAnswer {
  readonly status: number;
  /** `x-ms-error-code`, and the code in the body. */
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ScriptedBlobs extends AsyncDisposable {
  readonly port: number;
  /** `METHOD path` of what was asked, with its authorization. */
  readonly asked: readonly { readonly line: string; readonly authorization: string | undefined }[];
}

/** @param script gives the answer; null never answers */
export async function startScriptedBlobs(
  script: (request: IncomingMessage) => BlobAnswer | null,
  certificate?: Certificate,
): Promise<ScriptedBlobs> {
  const asked: { line: string; authorization: string | undefined }[] = [];
  const listener: Parameters<typeof createServer>[1] = (incoming, outgoing) => {
    incoming.resume();
    const { method, url, headers } = incoming;
    asked.push({ line: `${method} ${url}`, authorization: headers.authorization });
    const answer = script(incoming);
    if (answer === null) return;
    const { status, code, headers: more = {} } = answer;
    const error = code === undefined ? {} : { 'x-ms-error-code': code };
    outgoing.writeHead(status, { 'content-type': 'application/xml', ...error, ...more });
    const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>marker-of-the-service</Message></Error>`;
    outgoing.end(code === undefined || method === 'HEAD' ? '' : text);
  };
  const server: Server =
    certificate === undefined ? createServer(listener) : createSecureServer(certificate, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
