// The demo's webhook receiver: takes every record that is POSTed to it and keeps it.

import { readRecord, type TrailRecord } from '../../core/read-record.ts';
import { type HttpServer, readBody, startHttpServer } from '../../emulators/http-server.ts';

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** In the order in which they came, repeats included. */
  readonly records: readonly TrailRecord[];
}

const bodyBytesMax = 1024 * 1024;

export async function startReceiver(): Promise<Receiver> {
  const records: TrailRecord[] = [];
  const server: HttpServer = await startHttpServer(async (request, response) => {
    const body = await readBody(request, bodyBytesMax);
    const reading = body === null ? null : readRecord(body);
    if (reading?.status === 'record') records.push(reading.record);
    response.writeHead(reading?.status === 'record' ? 204 : 400).end();
  });
  return {
    url: `${server.url}/hook`,
    records,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
